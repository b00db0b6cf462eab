"""Reading a table of a data folder slice by slice, around what is damaged of the file.

What SQLite cannot search it may still be able to walk over: a record whose value is broken is counted and passed by,
and where the tree itself is broken, what lies behind is read from the other end.
"""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from gregor.worker.borders.errors import Damaged, TellDamage

_BROKEN: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_AT_ONCE: Final = 256
_MOST_UNREADABLE: Final = 512  # records in a row that cannot be read, before the tree is taken for broken

SlicedRow = tuple[Any, ...]


class SlicedTable(NamedTuple):
    """A table that is read in the order of ``place``, its first columns, then ``data``; ``wanted``: a condition."""

    name: str
    place: tuple[str, ...]
    wanted: str = "TRUE"
    data: str = "data"

    def slice(self) -> str:
        """The statement for the records behind a place (:p0, …), :limit at most."""
        place, behind = ", ".join(self.place), ", ".join(f":p{number}" for number in range(len(self.place)))
        return (
            f"SELECT {place}, {self.data} FROM {self.name} WHERE ({place}) > ({behind}) AND {self.wanted}"
            f" ORDER BY {place} LIMIT :limit"
        )


def is_broken(error: sqlite3.Error) -> bool:
    """Whether the file itself cannot be read."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _BROKEN


@contextmanager
def damage_told(file: Path) -> Iterator[None]:
    """Name the database when it cannot be read. Raises `Damaged` for that."""
    try:
        yield
    except sqlite3.Error as error:
        if is_broken(error):
            raise Damaged("database", str(file), str(error)) from error
        raise


def read_slice(
    connection: sqlite3.Connection, table: SlicedTable, after: SlicedRow, filters: Mapping[str, object], limit: int
) -> list[SlicedRow]:
    """The next records behind a place, empty at the end."""
    places = {f"p{number}": value for number, value in enumerate(after)}
    return connection.execute(table.slice(), {**filters, **places, "limit": limit}).fetchall()


class Salvage:
    """Goes through the whole of a table that cannot be searched, without searching."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        table: SlicedTable,
        filters: Mapping[str, object],
        on_damage: TellDamage,
    ) -> None:
        self._connection = connection
        self._table = table
        self._filters = filters
        self._on_damage = on_damage
        self._last: SlicedRow | None = None

    def records(self, after: SlicedRow) -> Iterator[SlicedRow]:
        """What can be read behind a place; tells of what cannot."""
        for record in self._walk(""):
            self._last = record[: len(after)]
            if self._last > after and record[-1]:
                yield record[:-1]
        if self._complete:
            return
        lost = f"what lies behind {self._last} cannot be read, but for what is reached from the end"
        self._on_damage(Damaged("table", self._table.name, lost))
        for record in self._walk(" DESC"):
            place = record[: len(after)]
            if self._last is not None and place <= self._last:
                return
            if place > after and record[-1]:
                yield record[:-1]

    def _walk(self, order: str) -> Iterator[SlicedRow]:
        """All from one end, with whether they are wanted, until nothing more can be read."""
        self._complete, offset, failed = False, 0, 0
        while failed < _MOST_UNREADABLE:
            try:
                records = self._read(order, offset, _AT_ONCE)
            except sqlite3.DatabaseError:
                for number in range(offset, offset + _AT_ONCE):
                    alone = self._read_alone(order, number, tell=not failed)
                    if alone == []:
                        self._complete = True
                        return
                    failed = failed + 1 if alone is None else 0
                    yield from alone or ()
            else:
                failed = 0
                yield from records
                if len(records) < _AT_ONCE:
                    self._complete = True
                    return
            offset += _AT_ONCE

    def _read_alone(self, order: str, offset: int, *, tell: bool) -> list[SlicedRow] | None:
        try:
            return self._read(order, offset, 1)
        except sqlite3.DatabaseError as error:
            if tell:
                what = f"record of the table {self._table.name}"
                self._on_damage(Damaged(what, self._name(order, offset), str(error)))
            return None

    def _name(self, order: str, offset: int) -> str:
        """The place of a record that cannot be read, if that can."""
        by = ", ".join(f"{column}{order}" for column in self._table.place)
        statement = f"SELECT {', '.join(self._table.place)} FROM {self._table.name} ORDER BY {by} LIMIT 1 OFFSET ?"
        try:
            return " ".join(map(str, *self._connection.execute(statement, (offset,)).fetchall()))
        except sqlite3.DatabaseError:
            return f"number {offset + 1}{order and ' from the end'}"

    def _read(self, order: str, offset: int, limit: int) -> list[SlicedRow]:
        place, by = ", ".join(self._table.place), ", ".join(f"{column}{order}" for column in self._table.place)
        statement = (
            f"SELECT {place}, {self._table.data}, {self._table.wanted} FROM {self._table.name}"
            f" ORDER BY {by} LIMIT :limit OFFSET :offset"
        )
        values = {**self._filters, "limit": limit, "offset": offset}
        return self._connection.execute(statement, values).fetchall()
