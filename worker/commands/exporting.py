"""The tables of `gregor export`: where their rows go."""

import argparse
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from gregor.worker.archives import places
from gregor.worker.base.errors import BadInput, why
from gregor.worker.base.printable import one_line
from gregor.worker.borders.reader import Part, Reader
from gregor.worker.commands.export import refused
from gregor.worker.commands.output import output
from gregor.worker.inspect import datasets, export, table_files
from gregor.worker.inspect.item_tables import of_rule
from gregor.worker.inspect.selection import Selection
from gregor.worker.inspect.table_files import NewWriter, TableWriter
from gregor.worker.inspect.tables import TABLES, Column, RowValues, Table

_FILES: dict[str, NewWriter] = {
    "csv": table_files.Csv,
    "jsonl": table_files.JsonLines,
    "parquet": table_files.Parquet,
}

_DATABASES: dict[str, Callable[..., TableWriter]] = {"sqlite": table_files.Sqlite, "duckdb": table_files.DuckDb}


async def rows(arguments: argparse.Namespace, reader: Reader, wanted: Selection, now: float) -> int:
    """Write a table; how many rows it has."""
    table = TABLES[arguments.what] if arguments.rule is None else await of_rule(reader, wanted, arguments.rule)
    return await _write_rows(arguments, table, _FILES.get(arguments.form, table_files.Csv), reader, wanted, now)


async def page_lines(arguments: argparse.Namespace, reader: Reader, wanted: Selection, now: float) -> int:
    """Write pages as JSON lines into a folder by day or host; how many there are."""
    parts = {"body": arguments.bodies, "headers": arguments.headers, "markdown": arguments.markdown}

    async def lines(reader: Reader, wanted: Selection, part: Part) -> AsyncIterator[RowValues]:
        async for page, line in export.json_lines(reader, wanted, part, **parts):
            yield page.host, page.fetched_at, line

    columns = Column("host"), Column("fetched_at", "time"), Column("line")
    table = Table("pages", columns, ("line",), lines, "host", "fetched_at")
    return await _write_rows(arguments, table, table_files.Lines, reader, wanted, now)


async def _write_rows(
    arguments: argparse.Namespace, table: Table, form: NewWriter, reader: Reader, wanted: Selection, now: float
) -> int:
    count = 0
    with _writer(arguments, table, form, now) as writer:
        async for values in table.rows(reader, wanted, arguments.part):
            writer.put(values)
            count += 1
        writer.close()
    return count


@contextmanager
def _writer(arguments: argparse.Namespace, table: Table, new: NewWriter, now: float) -> Iterator[TableWriter]:
    """What takes the rows. Raises `BadInput` where they cannot be written."""
    form, place = arguments.form, arguments.output
    if form in _DATABASES:
        yield _database(arguments, table)
    elif arguments.by:
        number = f"{now:.0f}-{arguments.part.number}"
        if not places.is_remote(place) and Path(place).exists() and not Path(place).is_dir():
            raise BadInput(f"cannot write {one_line(place)}: it is no folder")
        with places.writing(place):
            folder = datasets.DatasetFolder(table, places.place_of(place), arguments.by, form, number, new)
            try:
                yield folder
            except BaseException:
                folder.drop()
                raise
    else:
        with output(place, refused(form)) as file:
            writer = new(table, file)
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
