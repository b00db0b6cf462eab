"""The folder of an index: generations beside each other, of which one is in use; one process writes at a time.

lock       held with flock by who writes; names its process
current    the number of the generation that is searched, and its format
1/ 2/ …    a generation: tantivy/, the index; book.db, what it remembers
"""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from gregor.search.borders import Unusable
from gregor.worker.base.replaced import replaced

_CURRENT: Final = "current"
FORMAT: Final = 4
"""Of the fields, of the book, and of how texts become terms: an index of another one is made anew."""


class InUse(Unusable):
    """Another process writes this index."""


def current(folder: Path) -> Path | None:
    """The generation that is searched; None when there is none yet. Raises `Unusable` for one of another format."""
    in_use = _named(folder)
    if in_use is None:
        return None
    generation, made_as = in_use
    if made_as != FORMAT:
        reads = f"is of format {made_as}, this version reads format {FORMAT}"
        raise Unusable(f"{folder} {reads}: make it anew with `gregor index --rebuild`")
    return generation


def before(folder: Path) -> Path | None:
    """The generation in use, whatever its format; None when there is none."""
    in_use = _named(folder)
    return None if in_use is None else in_use[0]


def _named(folder: Path) -> tuple[Path, int] | None:
    """The generation in use, and its format."""
    with suppress(FileNotFoundError, NotADirectoryError, ValueError):
        number, made_as = map(int, (folder / _CURRENT).read_text().split())
        generation = folder / str(number)
        if generation.is_dir():
            return generation, made_as
    return None


def next_one(folder: Path, above: int = 0) -> Path:
    """A new generation beside those that are there, which were begun but not finished aside: they are deleted.

    Its number is higher than theirs, and than ``above``.
    """
    in_use = _named(folder)
    used = None if in_use is None else in_use[0]
    for begun in _numbered(folder):
        if begun != used:
            shutil.rmtree(begun)
    made = folder / str(max(int(used.name) if used else 0, above) + 1)
    made.mkdir()
    return made


def use(generation: Path) -> None:
    """Search this one from now on, durably; those before it are deleted."""
    folder = generation.parent
    with replaced(folder / _CURRENT) as file:
        file.write(f"{generation.name} {FORMAT}\n".encode())
    for other in _numbered(folder):
        if other != generation:
            shutil.rmtree(other, ignore_errors=True)  # who still searches it goes on with its open files


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Hold the index for writing. Raises `InUse`, `OSError`."""
    folder.mkdir(parents=True, exist_ok=True)
    lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(lock, 32, 0).strip()
            pid = int(holder) if holder.isdigit() else "(unknown)"
            raise InUse(f"{folder} is written by process {pid}: stop it first") from None
        os.ftruncate(lock, 0)
        os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(lock)


def _numbered(folder: Path) -> list[Path]:
    return [entry for entry in folder.iterdir() if entry.name.isdigit() and entry.is_dir()]
