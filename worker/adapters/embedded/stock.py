"""All that a data folder holds, record by record, for whoever verifies it; beside a running crawl or not."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from gregor.schemas.messages import (
    PRIORITIES,
    DeadLetter,
    HostRecord,
    Page,
    PartitionRecord,
    RobotsRecord,
    Row,
    Ticket,
    decode_ticket,
)
from gregor.worker.adapters.compression import copy_whole, decompressed, intact
from gregor.worker.adapters.embedded.bodies import SMALL
from gregor.worker.adapters.embedded.dropping import loose_of
from gregor.worker.adapters.embedded.faults import faults_of
from gregor.worker.adapters.embedded.log import read_committed, read_records
from gregor.worker.adapters.embedded.queries import decode_page
from gregor.worker.adapters.embedded.reader import EmbeddedReader
from gregor.worker.adapters.embedded.seen import signed_json, unsigned
from gregor.worker.adapters.embedded.slices import SlicedTable
from gregor.worker.adapters.records import StockByReader, StoredFields, filed, filed_row, filed_ticket, kept
from gregor.worker.base.errors import why
from gregor.worker.base.replaced import is_part
from gregor.worker.borders.errors import Damaged
from gregor.worker.borders.stock import Fault, StockPlace, StoredRecord

T = TypeVar("T")

_SLICE: Final = 1000
_LARGE: Final = 64  # records of a slice that may be large
_UNFINISHED: Final = 3600.0  # seconds after which nobody writes a file any more

_ROWS: Final = SlicedTable("rows", ("key",), data="host, state, data")
_PAGES: Final = SlicedTable("pages", ("key", "visit"), data="status, size, data")
_BODIES: Final = SlicedTable("bodies", ("sha256",))
_CALENDAR: Final = SlicedTable("calendar", ("partition", "bucket", "id"))
_BACKLOG: Final = SlicedTable("backlog", ("partition", "host", "chunk", "id"))
_OTHERS: Final[tuple[tuple[SlicedTable, str | int, type[Any], str], ...]] = (
    (SlicedTable("hosts", ("host",)), "", HostRecord, "host"),
    (SlicedTable("robots", ("origin",)), "", RobotsRecord, "origin"),
    (SlicedTable("partitions", ("partition",)), -1, PartitionRecord, "partition"),
    (SlicedTable("dead_letters", ("number",)), 0, DeadLetter, ""),
)


class EmbeddedStock(StockByReader):
    """`Stock`."""

    def __init__(self, path: Path, partitions: int) -> None:
        """Raises `FolderError`."""
        self._path = path
        self._partitions = partitions
        self._reader = EmbeddedReader(path)
        super().__init__(self._reader)

    async def rows(self) -> AsyncIterator[list[StoredRecord[Row]]]:
        async for found in self._through(_ROWS, ("",), _SLICE, lambda record: ("rows", record[0]), filed_row):
            yield found

    async def pages(self) -> AsyncIterator[list[StoredRecord[Page]]]:
        async for found in self._through(_PAGES, ("", -1), _LARGE, lambda record: ("pages", *record[:2]), _page):
            yield found

    async def bodies(self) -> AsyncIterator[list[StoredRecord[str]]]:
        async for bodies in self._through(_BODIES, (b"",), _LARGE, lambda record: ("bodies", record[0].hex()), _small):
            yield bodies
        for folder in await asyncio.to_thread(_listed, self._path / "bodies"):
            for file in await asyncio.to_thread(_listed, folder):
                if (kept := await asyncio.to_thread(_large, self._path, file)) is not None:
                    yield [kept]

    async def waiting(self) -> AsyncIterator[list[StoredRecord[Ticket]]]:
        for partition in range(self._partitions):
            async for tickets in self._log(partition):
                yield tickets
        place: Callable[[StoredFields], StockPlace] = lambda record: ("calendar", *record[:3])  # noqa: E731
        async for tickets in self._through(_CALENDAR, (-1, 0, 0), _SLICE, place, self._entry):
            yield tickets
        place = lambda record: ("backlog", *record[:4])  # noqa: E731
        async for tickets in self._through(_BACKLOG, (-1, "", 0, 0), _SLICE, place, self._entry):
            yield tickets

    async def others(self) -> AsyncIterator[list[StoredRecord[object]]]:
        for table, first, kind, name in _OTHERS:
            read = partial(filed, kind=kind, name=name)
            place = partial(_named_place, table.name)
            async for records in self._through(table, (first,), _SLICE, place, read):
                yield records

    async def faults(self) -> AsyncIterator[Fault]:
        for fault in await self._reader.ask(lambda connection: faults_of(connection, self._partitions, time.time())):
            yield fault

    async def loose(self, names: Sequence[str]) -> set[str]:
        """See `Stock.loose`."""
        return await self._reader.ask(lambda connection: loose_of(connection, names))

    async def unseen(self, fingerprints: Sequence[int]) -> list[int]:
        """See `Stock.unseen`."""
        statement = "SELECT value FROM json_each(?) WHERE value NOT IN (SELECT fingerprint FROM seen)"
        asked = signed_json(fingerprints)
        numbers = await self._reader.ask(lambda connection: connection.execute(statement, (asked,)).fetchall())
        return [unsigned(number) for (number,) in numbers]

    async def sizes(self) -> dict[str, int]:
        """See `Stock.sizes`."""
        rows, pages = "SELECT coalesce(sum(urls), 0) FROM states", "SELECT pages FROM totals"
        found = await self._reader.ask(lambda c: (c.execute(rows).fetchone()[0], c.execute(pages).fetchone()[0]))
        return {"rows": found[0], "pages": found[1]}

    async def close(self) -> None:
        """See `Stock.close`."""
        await self._reader.close()

    async def _through(
        self,
        table: SlicedTable,
        first: StoredFields,
        limit: int,
        place: Callable[[StoredFields], StockPlace],
        read: Callable[[StoredFields], T],
    ) -> AsyncIterator[list[StoredRecord[T]]]:
        """All of a table; what the file cannot give is told at the end of the slice in which it was missed."""
        met: list[Damaged] = []
        self._reader.on_damage = met.append
        async for records in self._reader.slices(table, first, limit=limit):
            yield [kept(place(record), partial(read, record)) for record in records]
        if met:
            yield [StoredRecord(("file", "crawl.db"), None, str(damage)) for damage in met]

    async def _log(self, partition: int) -> AsyncIterator[list[StoredRecord[Ticket]]]:
        """The records above the watermarks; one that is no ticket is buried by the owner, and told here."""
        committed = await self._reader.ask(lambda connection: read_committed(connection, partition))
        for priority in PRIORITIES:
            offset = committed[priority]
            while records := await self._reader.ask(
                partial(read_records, partition=partition, priority=priority, offset=offset, limit=_SLICE)
            ):
                yield [kept(("log", partition, priority, at), partial(decode_ticket, data)) for at, data in records]
                offset = records[-1][0] + 1

    def _entry(self, record: StoredFields) -> Ticket:
        ticket = filed_ticket(record[-1], record[-2], record[0], self._partitions)
        if len(record) == 5 and ticket.host != record[1]:
            raise ValueError("it stands under another name")
        return ticket


def _page(record: StoredFields) -> Page:
    key, visit, status, size, data = record
    page = decode_page(key, data)
    if (page.visit, page.status, page.size) != (visit, status, size):
        raise ValueError("its visit, status or size is not what it is filed under")
    return page


def _small(record: StoredFields) -> str:
    name: str = record[0].hex()
    intact(name, decompressed(record[1], SMALL)).close()
    return name


def _listed(folder: Path) -> list[Path]:
    """What is in a folder, in order."""
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _large(path: Path, file: Path) -> StoredRecord[str] | None:
    """A body in a file; None for one that is being written."""
    name, where = file.name.removesuffix(".zst"), str(file.relative_to(path))
    if is_part(file.name):
        in_writing = time.time() - file.stat().st_mtime < _UNFINISHED
        return None if in_writing else StoredRecord(("file of a body", where), None, "its writing was cut short")
    if len(name) != 64 or set(name) - set("0123456789abcdef") or file.parent.name != name[:2]:
        return StoredRecord(("file of a body", where), None, "its name is none of a body")
    try:
        with file.open("rb") as source:
            copy_whole(name, source).close()
    except Damaged as damage:
        return StoredRecord(("bodies", name), None, damage.why)
    except OSError as error:
        return StoredRecord(("bodies", name), None, why(error))
    return StoredRecord(("bodies", name), name)


def _named_place(table: str, record: StoredFields) -> StockPlace:
    return (table, record[0])
