"""Reads recorded responses out of WARC files without holding their bodies.

The index keeps where each record's gzip member lies (one member a record, as WARC 1.1 annex D recommends); a body is
read and inflated when it is asked for, so a server of 500 MB of pages needs a few MB.
"""

import mmap
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

STEP = 16384
"""Bytes of a gzip member that are fed to zlib at once."""

NOT_SERVED = frozenset({b"content-length", b"content-encoding", b"transfer-encoding", b"connection", b"keep-alive"})
"""Headers that described the recorded connection; the body is recorded without its codings."""


@dataclass(frozen=True, slots=True)
class ResponsePlace:
    """Where one response lies: `offset` and `length` in bytes of its gzip member in `path`."""

    path: Path
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class RecordedResponse:
    """One recorded answer: status line, header lines without those of the connection, body without codings."""

    status_line: bytes
    headers: tuple[bytes, ...]
    body: bytes

    @property
    def status(self) -> int:
        return int(self.status_line.split(None, 2)[1])

    def head(self) -> bytes:
        """The head to send before the body, ending with the blank line."""
        return b"\r\n".join((self.status_line, *self.headers, b"Content-Length: %d\r\n\r\n" % len(self.body)))


def index(paths: Iterable[Path]) -> dict[str, ResponsePlace]:
    """URL (WARC-Target-URI) → record, over all response records of the files; the first capture of a URL wins.

    Raises OSError for a file that can't be read, ValueError for one that is cut or isn't a WARC.
    """
    records: dict[str, ResponsePlace] = {}
    for path in paths:
        for record, start in _members(path):
            fields = _fields(start)
            if fields.get(b"warc-type") == b"response":
                records.setdefault(fields[b"warc-target-uri"].decode(), record)
    return records


def load(record: ResponsePlace) -> RecordedResponse:
    """The response of one record. Raises OSError or ValueError, as `index`."""
    with record.path.open("rb") as file:
        file.seek(record.offset)
        data = zlib.decompress(file.read(record.length), wbits=31)
    head, _, rest = data.partition(b"\r\n\r\n")
    block = rest[: int(_fields(head)[b"content-length"])]
    lines, blank, body = block.partition(b"\r\n\r\n")
    if not blank:
        raise ValueError(f"{record.path}: no HTTP response at byte {record.offset}")
    status_line, *headers = lines.split(b"\r\n")
    kept = tuple(line for line in headers if line.partition(b":")[0].strip().lower() not in NOT_SERVED)
    return RecordedResponse(status_line, kept, body)


def _members(path: Path) -> Iterator[tuple[ResponsePlace, bytes]]:
    """Every gzip member of the file with the first bytes of what it holds."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        offset = 0
        while offset < len(data):
            length, start = _member(path, data, offset)
            yield ResponsePlace(path, offset, length), start
            offset += length


def _member(path: Path, data: mmap.mmap, offset: int) -> tuple[int, bytes]:
    inflater = zlib.decompressobj(wbits=31)
    position, start = offset, b""
    while not inflater.eof:
        chunk = data[position : position + STEP]
        if not chunk:
            raise ValueError(f"{path}: the record at byte {offset} is cut")
        try:
            out = inflater.decompress(chunk)
        except zlib.error as error:
            raise ValueError(f"{path}: no gzip member at byte {offset}: {error}") from error
        start = start or out
        position += len(chunk)
    return position - len(inflater.unused_data) - offset, start


def _fields(start: bytes) -> dict[bytes, bytes]:
    """The named fields of a WARC record's head, names in lower case."""
    head = start.partition(b"\r\n\r\n")[0]
    if not head.startswith(b"WARC/"):
        raise ValueError("not a WARC record")
    pairs = (line.partition(b":") for line in head.split(b"\r\n")[1:])
    return {name.strip().lower(): value.strip() for name, _, value in pairs}
