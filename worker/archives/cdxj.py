"""CDXJ: the index of archives by which players find a capture, a sorted text with a line for each record.

``urlkey timestamp {json}``, as pywb and ReplayWeb.page read it; sorted by octets, so that it can be searched by halves.
"""

import sqlite3
from collections.abc import Iterator
from typing import Final

import msgspec

from gregor.worker.archives.surt import surt
from gregor.worker.archives.warc import WarcRecord
from gregor.worker.web import heads

_AT_ONCE: Final = 10_000


class Cdxj:
    """The lines of an export; in a temporary file of SQLite's, so that memory stays bounded."""

    def __init__(self) -> None:
        self._database = sqlite3.connect("", isolation_level=None)
        self._database.execute("CREATE TABLE lines (line BLOB)")
        self._database.execute("BEGIN")
        self._lines: list[tuple[bytes]] = []

    def add(self, record: WarcRecord, file: str, offset: int, length: int) -> None:
        """See `segments.SegmentIndex`."""
        self._lines.append((line_of(record, file, offset, length),))
        if len(self._lines) == _AT_ONCE:
            self._flush()

    def _flush(self) -> None:
        self._database.executemany("INSERT INTO lines VALUES (?)", self._lines)
        self._lines.clear()

    def lines(self) -> Iterator[bytes]:
        """All, sorted, with their ends."""
        self._flush()
        for (line,) in self._database.execute("SELECT line FROM lines ORDER BY line"):
            yield line

    def close(self) -> None:
        """Forget them."""
        self._database.close()


def line_of(record: WarcRecord, file: str, offset: int, length: int) -> bytes:
    """The line of a record that was written."""
    mime, status = _told_by(record.http) if record.http else ("text/plain", "200")
    fields = {
        "url": record.url,
        "mime": "warc/revisit" if record.kind == "revisit" else mime.partition(";")[0].strip().lower() or "unk",
        "status": status,
        "digest": record.fields.get("WARC-Payload-Digest") or "-",
        "length": str(length),
        "offset": str(offset),
        "filename": file,
    }
    text = msgspec.json.encode(fields)
    return f"{surt(record.url)} {timestamp(record.fields['WARC-Date'])} ".encode() + text + b"\n"


def _told_by(head: bytes) -> tuple[str, str]:
    """The Content-Type of an answer, and its status."""
    line, headers = heads.parse(head)
    mime = next((value for name, value in headers if name.lower() == "content-type"), "")
    return mime, line.split(" ", 2)[1]


def timestamp(date: str) -> str:
    """A WARC-Date in 14 digits."""
    return "".join(filter(str.isdigit, date))[:14]
