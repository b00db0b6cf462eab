"""A file that is there whole or not at all: written beside its place, on the disk, then put there."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def replaced(path: Path, mode: int = 0o666) -> Iterator[BinaryIO]:
    """A new file for ``path``, to be written; it is put there when the block ends, and removed when it raises.

    After the block the file survives a power failure: it and its name are flushed to the disk. ``mode``: who may read
    it, less what the process's umask takes. Raises OSError.
    """
    part = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")  # in a folder of everybody's no one expects it
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
