"""What is said of a book (see `book`) whose file is damaged: which one it is, and how it is made anew."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import quote

from gregor.search.borders import Unusable

_BROKEN: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CANTOPEN})


def open_reading(file: Path) -> sqlite3.Connection:
    """A book, to read from it alone."""
    return sqlite3.connect(f"file:{quote(str(file))}?mode=ro", uri=True)


@contextmanager
def usable(file: Path) -> Iterator[None]:
    """Name a book that turns out to be damaged while it is used. Raises `Unusable` for that.

    Errors of SQLite do not say of which file they are, and others are open beside it: it is looked at.
    """
    try:
        yield
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in _BROKEN:
            check_whole(file)
        raise


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
