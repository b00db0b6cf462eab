"""Bytes that come in pieces and are read again: in memory while they are few, in a temporary file beyond."""

import io
import tempfile
from pathlib import Path
from typing import BinaryIO

MEMORY_LIMIT = 256 * 1024


class Spool:
    """A `Body` that grows. Up to `memory_limit` bytes it opens no file."""

    def __init__(self, memory_limit: int = MEMORY_LIMIT) -> None:
        self._memory_limit = memory_limit
        self._chunks: list[bytes] = []
        self._file: tempfile._TemporaryFileWrapper[bytes] | None = None
        self._size = 0

    @property
    def size(self) -> int:
        return self._size

    def write(self, chunk: bytes) -> None:
        """Append; not to be called after `open`."""
        self._size += len(chunk)
        if self._file is None and self._size > self._memory_limit:
            self._file = tempfile.NamedTemporaryFile(prefix="gregor-body-")  # noqa: SIM115 - lives as long as the body
            self._file.writelines(self._chunks)
            self._chunks.clear()
        if self._file is None:
            self._chunks.append(chunk)
        else:
            self._file.write(chunk)

    def read(self) -> bytes:
        """All of it."""
        if self._file is not None:
            self._file.seek(0)
            return self._file.read()
        if len(self._chunks) > 1:
            self._chunks = [b"".join(self._chunks)]
        return self._chunks[0] if self._chunks else b""

    def open(self) -> BinaryIO:
        """A reader of its own, at the first byte."""
        if self._file is None:
            return io.BytesIO(self.read())
        self._file.flush()
        return Path(self._file.name).open("rb")

    def close(self) -> None:
        """Free the file and the memory. May be called twice."""
        self._chunks.clear()
        if self._file is not None:
            self._file.close()
