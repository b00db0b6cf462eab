"""Tables as folders of files by day or host, which DuckDB, Arrow and Spark read as one."""

from collections import OrderedDict
from contextlib import suppress
from datetime import UTC, datetime
from typing import Final
from urllib.parse import quote

from gregor.worker.archives.places import NewFile, OutputPlace
from gregor.worker.inspect.table_files import NewWriter, TableWriter
from gregor.worker.inspect.tables import RowValues, Table


class DatasetFolder:
    """A folder with a folder in it for each day or host, as Hive, DuckDB and Arrow read them: ``date=2026-11-29/…``."""

    OPEN: Final = 32
    """Files that are written at a time: one that had to be closed is followed by another."""

    def __init__(self, table: Table, folder: OutputPlace, by: str, ending: str, run: str, write: NewWriter) -> None:
        """``by``: "date" or "host"; ``run`` names the files of this export, beside those of others."""
        self._folder = folder
        self._column = table.place_of(table.date if by == "date" else table.host)
        self._by_date = by == "date"
        self._named = "date" if self._by_date else table.host
        columns = table.columns
        if not self._by_date:  # the folder says it: a column of its name would contradict that
            columns = columns[: self._column] + columns[self._column + 1 :]
        self._table = table._replace(columns=columns)
        self._name = run
        self._ending = ending
        self._write = write
        self._open: OrderedDict[str, tuple[TableWriter, NewFile]] = OrderedDict()
        self._begun: list[NewFile] = []
        self._number = 0

    def put(self, values: RowValues) -> None:
        """To the file of its day or host."""
        value = values[self._column]
        share = day_of(value) if self._by_date else quote(str(value), safe="")
        if not self._by_date:
            values = values[: self._column] + values[self._column + 1 :]
        if share not in self._open:
            if len(self._open) == self.OPEN:
                self._end(self._open.popitem(last=False)[1])
            self._open[share] = self._begin(share)
        self._open.move_to_end(share)
        self._open[share][0].put(values)

    def _begin(self, share: str) -> tuple[TableWriter, NewFile]:
        self._number += 1
        new = self._folder.create(f"{self._named}={share}/{self._name}-{self._number}.{self._ending}")
        self._begun.append(new)
        return self._write(self._table, new.file), new

    @staticmethod
    def _end(opened: tuple[TableWriter, NewFile]) -> None:
        writer, new = opened
        writer.close()
        new.keep()

    def drop(self) -> None:
        """Leave nothing of this export."""
        while self._open:
            with suppress(Exception):
                self._open.popitem()[1][0].close()
        for new in self._begun:
            new.drop()

    def close(self) -> None:
        while self._open:
            self._end(self._open.popitem()[1])


def day_of(seconds: float | None) -> str:
    """The day of a time, UTC; "unknown" for none."""
    return "unknown" if seconds is None else datetime.fromtimestamp(seconds, UTC).date().isoformat()
