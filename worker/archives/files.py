"""WARC files (ISO 28500:2017): where each record lies, and what it holds, read around what is damaged.

Compressed record by record, as Annex D recommends, or not at all. A block is read piece by piece: no record is held in
memory, whatever its size.
"""

import mmap
import re
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple, Protocol, cast

from isal import isal_zlib

from gregor.worker.archives.blocks import END, PIECE, stated_digest, up_to_end
from gregor.worker.base.errors import BadInput, why
from gregor.worker.base.printable import one_line

STEP: Final = 64 * 1024
"""Bytes of a file that are read at once."""
_MOST_HEAD: Final = 256 * 1024
"""Bytes of the named fields of a record: more is no record."""
_GZIP: Final = b"\x1f\x8b\x08"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_BEGIN: Final = b"WARC/"
_BLANK: Final = b"\r\n"
_LENGTH: Final = re.compile(rb"\d{1,15}")

HeadFields = dict[str, str]
"""The named fields of a record, names in lower case; the first of a name counts."""
ReportDamage = Callable[[int, str], None]
"""Hears of what cannot be read: the offset in the file, and why."""


class Solid(Exception):
    """Several records lie in one gzip member: none of them can be read alone."""


class FileRecord(NamedTuple):
    """A record: the offset of its first byte in the file, compressed or not, and its named fields."""

    offset: int
    fields: HeadFields


class Bytes(Protocol):
    """The bytes of a file, as far as they are asked for."""

    def __len__(self) -> int:
        """How many there are."""

    def __getitem__(self, part: slice, /) -> bytes:
        """Some of them."""

    def find(self, sought: bytes, start: int, /) -> int:
        """Where some are, from ``start`` on; -1 if nowhere."""


class WarcFile:
    """One file, or one within another. Raises `BadInput` where it is none."""

    def __init__(self, path: Path, data: Bytes | None = None) -> None:
        """``data``: its bytes, where ``path`` is only what it is called by."""
        self.path = path
        self._close = ExitStack()
        self._data: Bytes = self._mapped_file(path) if data is None else data
        start = self._data[: len(_BEGIN)]
        if not start:
            raise BadInput(f"{one_line(str(path))} is empty: it is no WARC file")
        if start.startswith(_ZSTD):
            raise BadInput(f"{one_line(str(path))} is compressed by zstd: decompress it first (`zstd -d`)")
        self._gzip = start.startswith(_GZIP)
        if not self._gzip and start != _BEGIN:
            raise BadInput(f"{one_line(str(path))} is no WARC file")

    def _mapped_file(self, path: Path) -> Bytes:
        try:
            with path.open("rb") as file:  # what is mapped stays so, and keeps a descriptor of its own
                if not path.stat().st_size:
                    raise BadInput(f"{one_line(str(path))} is empty: it is no WARC file")
                return self._mapped(file)
        except OSError as error:
            raise BadInput(f"cannot read {one_line(str(path))}: {why(error)}") from None

    def _mapped(self, file: BinaryIO) -> Bytes:
        return self._close.enter_context(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))

    def close(self) -> None:
        """Let it go."""
        self._close.close()

    def records(self, damaged: ReportDamage) -> Iterator[FileRecord]:
        """All records that are whole, in the order of the file; ``damaged`` hears of the others.

        A file that is compressed as one is decompressed into a temporary one first; then offsets are of that.
        """
        try:
            yield from (self._members if self._gzip else self._plain)(damaged)
        except Solid:
            self._unpack(damaged)
            yield from self._plain(damaged)

    def read(self, offset: int) -> tuple[HeadFields, Iterator[bytes]]:
        """The record at an offset that `records` told: its named fields, and its block, piece by piece.

        Raises ValueError, at its end too, where it is damaged: cut, or not of its WARC-Block-Digest.
        """
        pieces = _inflated(self._data, offset, []) if self._gzip else _pieces(self._data, offset)
        fields, rest, length = _head(pieces)
        return fields, _verified(_block(pieces, rest, length), fields.get("warc-block-digest", ""))

    def _members(self, damaged: ReportDamage) -> Iterator[FileRecord]:
        offset, end, alone = 0, len(self._data), False
        while offset < end:
            after: list[int] = []
            try:
                fields, behind = _read(_inflated(self._data, offset, after))
            except ValueError as error:
                damaged(offset, str(error))
                offset = self._next_member(offset + 1)
                continue
            if behind.startswith(_BEGIN) and not alone:
                raise Solid
            alone = True
            yield FileRecord(offset, fields)
            offset = after[0]

    def _next_member(self, offset: int) -> int:
        """Where a gzip member begins that holds a record; the end of the file if none does."""
        while (offset := self._data.find(_GZIP, offset)) >= 0:
            begun = zlib.decompressobj(31)
            try:
                if begun.decompress(self._data[offset : offset + 512], 16).startswith(_BEGIN):
                    return offset
            except zlib.error:
                pass
            offset += 1
        return len(self._data)

    def _plain(self, damaged: ReportDamage) -> Iterator[FileRecord]:
        data, offset = self._data, 0
        while offset < len(data):
            try:
                fields, start, length = _fields(data[offset : offset + _MOST_HEAD])
                if offset + start + length > len(data):
                    raise ValueError("the record is cut")
            except ValueError as error:
                damaged(offset, str(error))
                place = data.find(b"\n" + _BEGIN, offset + 1)
                offset = len(data) if place < 0 else place + 1
                continue
            yield FileRecord(offset, fields)
            offset += start + length
            while offset < len(data) and data[offset : offset + 1] in (b"\r", b"\n"):
                offset += 1

    def _unpack(self, damaged: ReportDamage) -> None:
        unpacked = cast(BinaryIO, self._close.enter_context(tempfile.TemporaryFile()))  # noqa: SIM115
        try:
            offset = 0
            while offset < len(self._data):
                after: list[int] = []
                for piece in _inflated(self._data, offset, after):
                    unpacked.write(piece)
                offset = after[0]
        except ValueError as error:
            damaged(offset, f"{error}; what comes behind it cannot be read, since the file is compressed as one")
        unpacked.flush()
        self._gzip = False
        self._data = self._mapped(unpacked)


def _inflated(data: Bytes, offset: int, after: list[int]) -> Iterator[bytes]:
    """What a gzip member holds; at its end ``after`` gets where the next one begins. Raises ValueError."""
    inflater = isal_zlib.decompressobj(31)
    position, waiting = offset, b""
    try:
        while not inflater.eof:
            if not waiting:
                waiting = data[position : position + STEP]
                position += len(waiting)
                if not waiting:
                    raise ValueError("the record is cut")
            piece = inflater.decompress(waiting, PIECE)
            waiting = inflater.unconsumed_tail
            if piece:
                yield piece
    except isal_zlib.error as error:  # type: ignore[misc]  # its stub has it as an instance
        raise ValueError(f"it cannot be decompressed ({error})") from None
    after.append(position - len(inflater.unused_data))


def _pieces(data: Bytes, offset: int) -> Iterator[bytes]:
    while piece := data[offset : offset + PIECE]:
        yield piece
        offset += len(piece)


def _fields(start: bytes) -> tuple[HeadFields, int, int]:
    """The named fields of a record that begins here, how long its head is, and its block. Raises ValueError."""
    if not start.startswith(_BEGIN):
        raise ValueError("no record begins there")
    end = END.search(start)
    if end is None:
        raise ValueError("its head has no end")
    fields: HeadFields = {}
    last = ""
    for line in start[: end.start()].replace(b"\r\n", b"\n").split(b"\n")[1:]:
        if line[:1] in (b" ", b"\t") and last:
            fields[last] += " " + line.strip().decode("utf-8", "replace")
            continue
        name, _, value = line.partition(b":")
        last = name.strip().lower().decode("latin-1")
        fields.setdefault(last, value.strip().decode("utf-8", "replace"))
    length = fields.get("content-length", "")
    if not _LENGTH.fullmatch(length.encode()):
        raise ValueError("it has no Content-Length")
    return fields, end.end(), int(length)


def _head(pieces: Iterator[bytes]) -> tuple[HeadFields, bytes, int]:
    """The named fields, what of the block was read with them, and its length. Raises ValueError."""
    start = up_to_end(pieces, _MOST_HEAD)
    fields, begin, length = _fields(start)
    return fields, start[begin:], length


def _read(pieces: Iterator[bytes]) -> tuple[HeadFields, bytes]:
    """The named fields of a record, read to its end, and the first bytes of what comes after it. Raises ValueError."""
    fields, rest, length = _head(pieces)
    left, behind = length - len(rest), rest[length:]
    for piece in pieces:
        if left < len(piece) and len(behind) < STEP:
            behind += piece[max(left, 0) :]
        left -= len(piece)
    if left > 0:
        raise ValueError("the record is cut")
    return fields, behind.lstrip(_BLANK)


def _block(pieces: Iterator[bytes], rest: bytes, left: int) -> Iterator[bytes]:
    while rest and left:
        yield rest[:left]
        left -= min(left, len(rest))
        rest = next(pieces, b"") if left else b""
    if left:
        raise ValueError("the record is cut")


def _verified(block: Iterator[bytes], stated: str) -> Iterator[bytes]:
    """A block; at its end ValueError, if it is not of the digest that is stated of it."""
    digest = stated_digest(stated)
    if digest is None:
        yield from block
        return
    for piece in block:
        digest.update(piece)
        yield piece
    if not digest.holds():
        raise ValueError("its block is not what its WARC-Block-Digest says")
