"""WARC files of bounded size: a record is never split, a warcinfo record begins each, an index says where they lie."""

import shutil
import tempfile
from collections.abc import Callable
from typing import Any, BinaryIO, Final, Protocol, cast

from warcio.warcwriter import WARCWriter

_SPOOLED: Final = 4 << 20
_INDEXED: Final = ("response", "revisit", "resource")


class Index(Protocol):
    """Hears where the records that tell of an answer lie."""

    def add(self, record: Any, file: str, offset: int, length: int) -> None:
        """One lies in a file, so many octets from its beginning, and takes so many, compressed."""


class Output(Protocol):
    """Takes the records of an export."""

    def write(self, record: Any, request: Any = None) -> None:
        """A record, with the request that it answers."""


class Segments:
    """`Output` into files of at most so many octets each, but for a record that is larger alone."""

    def __init__(
        self,
        begin: Callable[[int], tuple[str, BinaryIO]],
        warcinfo: Callable[[str], Any],
        *,
        size: int | None = None,
        index: Index | None = None,
    ) -> None:
        """``begin`` opens the file of a number, from 1 on, and says its name; ``warcinfo`` makes its first record."""
        self._begin = begin
        self._warcinfo = warcinfo
        self._size = size
        self._index = index
        self._spool = cast(BinaryIO, tempfile.SpooledTemporaryFile(_SPOOLED))  # noqa: SIM115 - closed by `close`
        self._writer = WARCWriter(self._spool, gzip=True, warc_version="WARC/1.1")
        self._number = 0
        self._next()

    def _next(self) -> None:
        self._number += 1
        self._name, self._file = self._begin(self._number)
        self._length = self._empty = 0
        self._put([self._warcinfo(self._name)])
        self._empty = self._length

    def write(self, record: Any, request: Any = None) -> None:
        """Both go into one file."""
        if request is not None:
            headers = record.rec_headers
            for name in ("WARC-Target-URI", "WARC-Date"):
                request.rec_headers.replace_header(name, headers.get_header(name))
            request.rec_headers.add_header("WARC-Concurrent-To", headers.get_header("WARC-Record-ID"))
        self._put([record, *([] if request is None else [request])])

    def _put(self, records: list[Any]) -> None:
        spool = self._spool
        spool.seek(0)
        spool.truncate()
        lengths = []
        for record in records:
            self._writer.write_record(record)
            lengths.append(spool.tell())
        if self._size is not None and self._length > self._empty and self._length + lengths[-1] > self._size:
            kept, self._spool = spool, cast(BinaryIO, tempfile.SpooledTemporaryFile(_SPOOLED))  # noqa: SIM115
            self._writer.out = self._spool
            self._next()
            self._spool.close()
            self._spool = self._writer.out = spool = kept
        if self._index is not None and records[0].rec_type in _INDEXED:
            self._index.add(records[0], self._name, self._length, lengths[0])
        spool.seek(0)
        shutil.copyfileobj(spool, self._file)
        self._length += lengths[-1]

    def close(self) -> None:
        """No more come."""
        self._spool.close()
