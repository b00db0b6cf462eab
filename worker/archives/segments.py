"""WARC files of bounded size: a record is never split, a warcinfo record begins each, an index says where they lie."""

from collections.abc import Callable
from typing import BinaryIO, Final, Protocol

from gregor.worker.archives.warc import WarcRecord, pack

_INDEXED: Final = ("response", "revisit", "resource")


class SegmentIndex(Protocol):
    """Hears where the records that tell of an answer lie."""

    def add(self, record: WarcRecord, file: str, offset: int, length: int) -> None:
        """One lies in a file, so many octets from its beginning, and takes so many, compressed."""


class Output(Protocol):
    """Takes the records of an export."""

    def write(self, record: WarcRecord, request: WarcRecord | None = None) -> None:
        """A record, with the request that it answers."""


class Segments:
    """`Output` into files of at most so many octets each, but for a record that is larger alone."""

    def __init__(
        self,
        begin: Callable[[int], tuple[str, BinaryIO]],
        warcinfo: Callable[[str], WarcRecord],
        *,
        size: int | None = None,
        index: SegmentIndex | None = None,
    ) -> None:
        """``begin`` opens the file of a number, from 1 on, and says its name; ``warcinfo`` makes its first record."""
        self._begin = begin
        self._warcinfo = warcinfo
        self._size = size
        self._index = index
        self._number = 0
        self._next()

    def _next(self) -> None:
        self._number += 1
        self._name, self._file = self._begin(self._number)
        self._length = self._empty = 0
        self._put([self._warcinfo(self._name)])
        self._empty = self._length

    def write(self, record: WarcRecord, request: WarcRecord | None = None) -> None:
        """Both go into one file."""
        self._put([record] if request is None else [record, request])

    def _put(self, records: list[WarcRecord]) -> None:
        packed = [pack(record) for record in records]
        length = sum(some.length for some in packed)
        if self._size is not None and self._length > self._empty and self._length + length > self._size:
            self._next()
        if self._index is not None and records[0].kind in _INDEXED:
            self._index.add(records[0], self._name, self._length, packed[0].length)
        for some in packed:
            some.write_to(self._file)
        self._length += length
