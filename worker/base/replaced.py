"""A file that is there whole or not at all: written beside its place, on the disk, then put there."""

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


class PartFile:
    """A new file for a path, which has that name from `keep` on: until then what was there stays.

    ``mode``: who may read it, less what the process's umask takes. Every method may raise OSError, but for `drop`.
    """

    def __init__(self, path: Path, mode: int = 0o666) -> None:
        self._path = path
        # Nobody can have expected the name in a folder where everybody writes.
        self._part = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
        self.file: BinaryIO = os.fdopen(os.open(self._part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb")

    def keep(self) -> None:
        """It is whole: it survives a power failure under its name from now on."""
        self.file.flush()
        os.fsync(self.file.fileno())
        self.file.close()
        self._part.replace(self._path)
        flush_names(self._path.parent)

    def drop(self) -> None:
        """Leave nothing of it, unless it was kept."""
        for leave in (self.file.close, self._part.unlink):
            with suppress(OSError):  # where nothing can be written there is nothing to remove
                leave()


@contextmanager
def replaced(path: Path, mode: int = 0o666) -> Iterator[BinaryIO]:
    """A new file for ``path``, to be written; it is kept when the block ends, and dropped when it raises: see
    `PartFile`. Raises OSError."""
    part = PartFile(path, mode)
    try:
        yield part.file
        part.keep()
    except BaseException:
        part.drop()
        raise


def is_part(name: str) -> bool:
    """Whether a file's name is that of one that is being written, or was when its process was killed."""
    return re.fullmatch(r".+\.[0-9a-f]{8}\.part", name) is not None


def flush_names(*folders: Path) -> None:
    """Make the names in these folders survive a power failure. Raises OSError."""
    for folder in folders:
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
