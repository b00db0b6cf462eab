"""The tables of `gregor export`: where their rows go."""

import argparse
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from gregor.worker.archives import places
from gregor.worker.base.errors import BadInput, why
from gregor.worker.base.printable import one_line
from gregor.worker.borders.reader import Reader
from gregor.worker.commands.export import refused
from gregor.worker.commands.output import output
from gregor.worker.inspect import datasets, table_files
from gregor.worker.inspect.selection import Selection
from gregor.worker.inspect.table_files import NewWriter, TableWriter
from gregor.worker.inspect.tables import TABLES, Table

_FILES: dict[str, NewWriter] = {
    "csv": table_files.Csv,
    "jsonl": table_files.JsonLines,
    "parquet": table_files.Parquet,
}

_DATABASES: dict[str, Callable[..., TableWriter]] = {"sqlite": table_files.Sqlite, "duckdb": table_files.DuckDb}


async def rows(arguments: argparse.Namespace, reader: Reader, wanted: Selection, now: float) -> int:
    """Write a table; how many rows it has."""
    table = TABLES[arguments.what]
    count = 0
    with _writer(arguments, table, now) as writer:
        async for values in table.rows(reader, wanted, arguments.part):
            writer.put(values)
            count += 1
        writer.close()
    return count


@contextmanager
def _writer(arguments: argparse.Namespace, table: Table, now: float) -> Iterator[TableWriter]:
    """What takes the rows. Raises `BadInput` where they cannot be written."""
    form, place = arguments.form, arguments.output
    if form in _DATABASES:
        yield _database(arguments, table)
    elif arguments.by:
        number = f"{now:.0f}-{arguments.part.number}"
        if not places.is_remote(place) and Path(place).exists() and not Path(place).is_dir():
            raise BadInput(f"cannot write {one_line(place)}: it is no folder")
        with places.writing(place):
            folder = datasets.DatasetFolder(table, places.place_of(place), arguments.by, form, number, _FILES[form])
            try:
                yield folder
            except BaseException:
                folder.drop()
                raise
    else:
        with output(place, refused(form)) as file:
            writer = _FILES[form](table, file)
            try:
                yield writer
            except BaseException:
                with suppress(Exception):
                    writer.close()
                raise


def _database(arguments: argparse.Namespace, table: Table) -> TableWriter:
    """A table in a database that may be there. Raises `BadInput`."""
    opened = _DATABASES[arguments.form]
    try:
        return opened(table, Path(arguments.output), add=bool(arguments.cursor))
    except (sqlite3.Error, OSError, RuntimeError) as error:
        raise BadInput(f"cannot write {one_line(arguments.output)}: {why(error)}") from None
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in ("duckdb", "_duckdb"):
            raise
        raise BadInput(f"cannot write {one_line(arguments.output)}: {why(error)}") from None
