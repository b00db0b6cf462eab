"""Bodies that stay in memory while they are small."""

import hashlib
import io
import tempfile
from typing import TYPE_CHECKING, BinaryIO, cast

from gregor.worker.base.errors import why

if TYPE_CHECKING:
    from typing_extensions import Buffer


THRESHOLD = 256 * 1024
"""Bytes of a body that stay in memory; a larger one goes to a file."""


_THRESHOLDS = (64 * 1024, 1024 * 1024)


class BodyTooLarge(Exception):
    """More bytes than the cap were written to a body."""


class SpooledBody:
    """Takes a body as it arrives: in memory up to ``threshold`` bytes, beyond that in a nameless temporary file."""

    def __init__(self, *, cap: int, threshold: int = THRESHOLD, folder: str | None = None) -> None:
        """``cap`` is the number of bytes that may be written at all; ``folder`` is where the file is made.

        Raises ValueError if ``threshold`` is not between 64 KiB and 1 MiB.
        """
        if not _THRESHOLDS[0] <= threshold <= _THRESHOLDS[1]:
            raise ValueError(f"threshold must be between {_THRESHOLDS[0]} and {_THRESHOLDS[1]} bytes, not {threshold}")
        self._cap = cap
        self._threshold = threshold
        self._folder = folder
        self._file: BinaryIO = io.BytesIO()
        self._digest = hashlib.sha256()
        self.size = 0

    def write(self, data: bytes) -> None:
        """Appends ``data``. Raises :class:`BodyTooLarge` before anything beyond the cap is kept, OSError with the name
        of the folder if its disk is full."""
        size = self.size + len(data)
        if size > self._cap:
            raise BodyTooLarge(f"more than {self._cap} bytes")
        try:
            if self.size <= self._threshold < size:
                memory, self._file = self._file, cast(BinaryIO, tempfile.TemporaryFile(dir=self._folder))  # noqa: SIM115
                self._file.write(cast(io.BytesIO, memory).getvalue())
            self._file.write(data)
        except OSError as error:  # a nameless file: say where it is
            raise OSError(error.errno, why(error), self._folder or tempfile.gettempdir()) from error
        self._digest.update(data)
        self.size = size

    @property
    def sha256(self) -> str:
        """Of what was written so far, in hexadecimal."""
        return self._digest.hexdigest()

    def read(self, limit: int = -1) -> bytes:
        """All that was written, or its first ``limit`` bytes. Writing goes on at the end."""
        return self.read_at(0, limit)

    def open(self) -> BinaryIO:
        """A reader of its own over the whole body, valid until :meth:`close`."""
        if isinstance(self._file, io.BytesIO):
            return io.BytesIO(self._file.getvalue())  # no copy: the two share it
        return cast(BinaryIO, io.BufferedReader(_Reader(self)))

    def close(self) -> None:
        """Frees the memory or deletes the file. May be called again."""
        self._file.close()

    def read_at(self, offset: int, size: int) -> bytes:
        """At most ``size`` bytes from ``offset`` on; all of them for -1."""
        self._file.seek(offset)
        data = self._file.read(size)
        self._file.seek(0, 2)
        return data


class _Reader(io.RawIOBase):
    def __init__(self, body: SpooledBody) -> None:
        self._body = body
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._body.size}[whence]
        self._at = max(0, start + offset)
        return self._at

    def readinto(self, buffer: "Buffer") -> int:
        view = memoryview(buffer)
        data = self._body.read_at(self._at, len(view))
        view[: len(data)] = data
        self._at += len(data)
        return len(data)
