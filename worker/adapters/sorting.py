"""Sorting more than fits into memory: in a database without a name, which is gone with its connection."""

import sqlite3
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Self


class Sorted:
    """Values by group and time. Nothing is added once they are read."""

    def __init__(self) -> None:
        self._database = sqlite3.connect("", isolation_level=None)
        self._database.execute("CREATE TABLE found (grouped TEXT NOT NULL, at REAL NOT NULL, data BLOB NOT NULL)")
        self._database.execute("BEGIN")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._database.close()

    def add(self, found: Iterable[tuple[str, float, bytes]]) -> None:
        """Add values, each with its group and time."""
        self._database.executemany("INSERT INTO found VALUES (?, ?, ?)", found)

    def values(self) -> Iterator[tuple[str, bytes]]:
        """Group and value: group by group, each in the order of time."""
        yield from self._database.execute("SELECT grouped, data FROM found ORDER BY grouped, at, data")
