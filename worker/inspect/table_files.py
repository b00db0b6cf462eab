"""Tables as files: Parquet, CSV, JSON lines, SQLite, DuckDB; some thousand rows in memory, whatever the size.

Parquet and DuckDB need the extra "export": their libraries are imported where they are used.
"""

import csv
import io
import json
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final, Protocol

from gregor.schemas.events import rfc3339
from gregor.worker.extract.writing import defused
from gregor.worker.inspect.shapes import ValueShape, arrow_type, shaped
from gregor.worker.inspect.tables import Column, RowValues, Table, plain

ROWS: Final = 20_000
"""Rows of a row group, or of a batch, at most."""
WEIGHT: Final = 16 << 20
"""Characters of text in it at most."""
_SQLITE: Final = {"int": "INTEGER", "bool": "INTEGER", "real": "REAL"}
"""The types of SQLite for shapes of values; for others it is text."""


class TableWriter(Protocol):
    """Takes the rows of a table."""

    def put(self, values: RowValues) -> None:
        """One more row."""

    def close(self) -> None:
        """No more come: what was taken is written."""


NewWriter = Callable[[Table, BinaryIO], TableWriter]


class Batches:
    """Rows in batches of bounded size, by column."""

    def __init__(self, table: Table, write: Callable[[list[list[Any]]], None]) -> None:
        self._table = table
        self._write = write
        self._begin()

    def _begin(self) -> None:
        self._columns: list[list[Any]] = [[] for _ in self._table.columns]
        self._weight = 0

    def put(self, values: RowValues) -> None:
        """One more row."""
        for column, value in zip(self._columns, values, strict=True):
            column.append(value)
            if isinstance(value, str):
                self._weight += len(value)
            elif isinstance(value, list | dict):
                self._weight += _weight(value)
        if len(self._columns[0]) >= ROWS or self._weight >= WEIGHT:
            self.flush()

    def flush(self) -> None:
        """Write what there is."""
        if self._columns[0]:
            self._write(self._columns)
            self._begin()


def _weight(value: Any) -> int:
    """Characters of the texts in a value, and one for each other."""
    if isinstance(value, list):
        return sum(map(_weight, value))
    if isinstance(value, dict):
        return sum(len(name) + _weight(below) for name, below in value.items())
    return len(value) if isinstance(value, str) else 1


def _shape_of(column: Column) -> ValueShape:
    if column.kind == "field":
        return column.shape
    return ("list", "text") if column.kind == "texts" else column.kind


def _schema(table: Table) -> Any:
    """The types of the columns for Arrow."""
    import pyarrow as pa

    return pa.schema([(column.name, arrow_type(_shape_of(column))) for column in table.columns])


def record_batch(table: Table, columns: Sequence[Sequence[Any]]) -> Any:
    """Columns as a batch of Arrow. Half a surrogate pair, which UTF-8 has no form for, is a question mark."""
    import pyarrow as pa

    schema = _schema(table)
    arrays = []
    for column, values, field in zip(table.columns, columns, schema, strict=True):
        if column.kind == "time":
            values = [None if value is None else int(value * 1_000_000) for value in values]
        elif column.kind == "field":
            values = [shaped(value, column.shape) for value in values]
        try:
            arrays.append(pa.array(values, field.type))
        except UnicodeEncodeError:
            arrays.append(pa.array([_encodable(value) for value in values], field.type))
    return pa.record_batch(arrays, schema=schema)


def _encodable(value: Any) -> Any:
    if isinstance(value, list):
        return [_encodable(member) for member in value]
    if isinstance(value, dict):
        return {name: _encodable(below) for name, below in value.items()}
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


class Parquet:
    """Parquet in row groups, compressed by zstd."""

    def __init__(self, table: Table, file: BinaryIO) -> None:
        import pyarrow.parquet as parquet

        self._writer = parquet.ParquetWriter(file, _schema(table), compression="zstd")
        self._batches = Batches(table, lambda columns: self._writer.write_batch(record_batch(table, columns)))
        self.put = self._batches.put

    def close(self) -> None:
        try:
            self._batches.flush()
            self._writer.close()
        finally:
            self._writer.is_open = False  # else it is tried again when nobody is there to hear of it


class Csv:
    """CSV in UTF-8; times as RFC 3339, lists as JSON; no cell is a formula."""

    def __init__(self, table: Table, file: BinaryIO) -> None:
        self._times = [column.kind == "time" for column in table.columns]
        self._text = io.TextIOWrapper(file, "utf-8", errors="replace", newline="")
        self._writer = csv.writer(self._text)
        self._writer.writerow([defused(column.name) for column in table.columns])

    def put(self, values: RowValues) -> None:
        self._writer.writerow(map(_cell, values, self._times))

    def close(self) -> None:
        self._text.detach()


def _cell(value: Any, is_time: bool) -> Any:
    if is_time and value is not None:
        return rfc3339(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return defused(value) if isinstance(value, str) else plain(value)


_OF_JSON: Final[dict[str, Callable[[Any], Any]]] = {"time": rfc3339, "json": json.loads}
"""How values of a kind stand in JSON."""


class JsonLines:
    """An object a line."""

    def __init__(self, table: Table, file: BinaryIO) -> None:
        self._columns = table.columns
        self._file = file

    def put(self, values: RowValues) -> None:
        row = {
            column.name: _OF_JSON[column.kind](value) if column.kind in _OF_JSON and value is not None else value
            for column, value in zip(self._columns, values, strict=True)
        }
        self._file.write(json.dumps(row, ensure_ascii=False).encode("utf-8", "replace") + b"\n")

    def close(self) -> None:
        self._file.flush()


class Lines:
    """What stands in the last column, as it is."""

    def __init__(self, table: Table, file: BinaryIO) -> None:
        self._file = file

    def put(self, values: RowValues) -> None:
        self._file.write(values[-1])

    def close(self) -> None:
        self._file.flush()


class Sqlite:
    """A table of a SQLite database; it takes the place of one of its name, or with ``add`` its rows do, by their key.
    Nothing of it is seen before all is."""

    def __init__(self, table: Table, path: Path, *, add: bool) -> None:
        columns = ", ".join(
            f"{_quoted(column.name)} {_SQLITE.get(str(_shape_of(column)), 'TEXT')}" for column in table.columns
        )
        key = ", ".join(f'"{name}"' for name in table.key)
        self._table = table
        _look(path, "SQLite", b"SQLite format 3\0", at=0)
        self._database = sqlite3.connect(path.absolute(), isolation_level=None)
        self._database.execute("BEGIN IMMEDIATE")
        _check(table, [name for _, name, *_ in self._database.execute(f"PRAGMA table_info({table.name})")])
        if not add:
            self._database.execute(f"DROP TABLE IF EXISTS {table.name}")
        self._database.execute(f"CREATE TABLE IF NOT EXISTS {table.name} ({columns}, PRIMARY KEY ({key}))")
        places = ", ".join("?" * len(table.columns))
        self._insert = f"INSERT OR REPLACE INTO {table.name} VALUES ({places})"
        self._batches = Batches(table, self._write)
        self.put = self._batches.put

    def _write(self, columns: list[list[Any]]) -> None:
        cells = []
        for column, values in zip(self._table.columns, columns, strict=True):
            if column.kind == "time":
                cells.append([None if value is None else rfc3339(value) for value in values])
            else:
                cells.append([_sqlite_cell(value) for value in values])
        self._database.executemany(self._insert, zip(*cells, strict=True))

    def close(self) -> None:
        self._batches.flush()
        self._database.execute("COMMIT")
        self._database.close()


def _quoted(name: str) -> str:
    """A name of a column, as pages have written it: see `shapes.sound`."""
    return '"' + name.replace('"', '""') + '"'


def _sqlite_cell(value: Any) -> Any:
    """A value as SQLite takes it, whose numbers have 64 bits."""
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
        return str(value)
    return _encodable(plain(value))


def _check(table: Table, names: list[str]) -> None:
    """Raises OSError where a database has a table of this name that is none of ours, such as a crawl's own."""
    if names and names[: table.fixed] != [column.name for column in table.columns][: table.fixed]:
        raise OSError(f"it has a table {table.name} of another form: name another file")


def _look(path: Path, form: str, magic: bytes, at: int) -> None:
    """Raises OSError for a file that is there and is no database of this form: DuckDB would open tables of other forms
    as views, and write nothing."""
    if not path.exists():
        return
    if not path.is_file():
        raise OSError("it is no file")
    with path.open("rb") as file:
        beginning = file.read(at + len(magic))
    if beginning and beginning[at:] != magic:
        raise OSError(f"it is no {form} database: name another file")


_WITHOUT_EXTENSIONS: Final[Any] = {f"auto{how}_known_extensions": False for how in ("install", "load")}
"""What DuckDB is told so that it fetches nothing from the network."""


class DuckDb:
    """A table of a DuckDB database, as `Sqlite` has it."""

    def __init__(self, table: Table, path: Path, *, add: bool) -> None:
        import duckdb

        self._table = table
        self._add = add
        _look(path, "DuckDB", b"DUCK", at=8)
        self._database = duckdb.connect(str(path.absolute()), config=_WITHOUT_EXTENSIONS)
        self._database.execute("BEGIN")
        its_columns = (
            "SELECT column_name FROM information_schema.columns WHERE table_name = ? ORDER BY ordinal_position"
        )
        _check(table, [name for (name,) in self._database.execute(its_columns, [table.name]).fetchall()])
        self._database.register("batch", record_batch(table, [[] for _ in table.columns]))
        if not add:
            self._database.execute(f"DROP TABLE IF EXISTS {table.name}")
        self._database.execute(f"CREATE TABLE IF NOT EXISTS {table.name} AS SELECT * FROM batch")
        self._batches = Batches(table, self._write)
        self.put = self._batches.put

    def _write(self, columns: list[list[Any]]) -> None:
        self._database.register("batch", record_batch(self._table, columns))
        if self._add:
            same = " AND ".join(f"{self._table.name}.{name} = batch.{name}" for name in self._table.key)
            self._database.execute(f"DELETE FROM {self._table.name} USING batch WHERE {same}")
        self._database.execute(f"INSERT INTO {self._table.name} SELECT * FROM batch")

    def close(self) -> None:
        self._batches.flush()
        self._database.execute("COMMIT")
        self._database.close()
