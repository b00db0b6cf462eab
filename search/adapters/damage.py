"""What is said of an index in a folder, or of its book (see `book`), that is damaged or has no room: which one it is,
and what to do."""

import errno
import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import quote

from gregor.search.borders import Unusable
from gregor.worker.borders.errors import DiskFull

_BROKEN: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CANTOPEN})
_FULL: Final = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_SHMSIZE})
_FULL_ERRNO: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_ERRNO: Final = re.compile(r"(?:\(os error |\bOs \{ code: )([0-9]+)")
"""How tantivy names what the system answered."""


def open_reading(file: Path) -> sqlite3.Connection:
    """A book, to read from it alone."""
    # On read-only media there is no room for the index of the write-ahead log, and no writer either.
    is_fixed = not os.access(file.parent, os.W_OK) and not file.with_name(f"{file.name}-wal").exists()
    return sqlite3.connect(f"file:{quote(str(file))}?mode=ro{'&immutable=1' * is_fixed}", uri=True)


@contextmanager
def usable(file: Path) -> Iterator[None]:
    """Name a book that turns out to be damaged while it is used, or that has no room. Raises `Unusable`, `DiskFull`.

    Errors of SQLite do not say of which file they are, and others are open beside it: it is looked at.
    """
    try:
        yield
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorcode", 0)
        if code in _FULL:
            raise DiskFull(f"no space is left for {file}") from error
        if code & 0xFF in _BROKEN and not os.access(file.parent, os.W_OK):
            raise Unusable(f"{file} cannot be written: its folder is read-only") from None
        if code & 0xFF in _BROKEN:
            check_whole(file)
        raise


@contextmanager
def usable_index(folder: Path) -> Iterator[None]:
    """Name an index that tantivy cannot open or write. Raises `DiskFull`, `Unusable`."""
    try:
        yield
    except (ValueError, OSError) as error:
        number = _number_of(error)
        if number in _FULL_ERRNO:
            raise DiskFull(f"no space is left for {folder}") from error
        if number not in (None, errno.ENOENT):  # it is not the index that has to be mended
            raise Unusable(f"{folder} cannot be used: {os.strerror(number)}") from None
        text = " ".join(str(error).split())
        raise Unusable(f"{folder} cannot be used: {text}; `gregor index --rebuild` makes the index anew") from None


def _number_of(error: ValueError | OSError) -> int | None:
    """What the system answered; None where the error is of another kind."""
    if isinstance(error, OSError):
        return error.errno
    said = _ERRNO.search(str(error))
    return int(said[1]) if said is not None else None


def check_whole(file: Path) -> None:
    """Raises `Unusable` for a book that is damaged."""
    try:
        with closing(open_reading(file)) as book:
            said = str(book.execute("PRAGMA quick_check(1)").fetchone()[0]).splitlines()
            why = next((line for line in said if not line.startswith("***")), said[0])  # those name the database
    except sqlite3.DatabaseError as error:
        why = str(error)
    if why != "ok":
        text = f"{file}, by which the index is made, is damaged: {why}; `gregor index --rebuild` makes "
        raise Unusable(f"{text}both anew, of what is stored")
