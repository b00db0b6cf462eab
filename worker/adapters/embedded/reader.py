"""Reading a data folder, beside a running crawl or after it, a slice at a time.

No transaction stays open between two slices: an open one would make the write-ahead log grow.
"""

import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, Final, TypeVar

import msgspec

from gregor.partitioner.hashing import partition_of
from gregor.schemas.messages import (
    DeadLetter,
    HostRecord,
    Page,
    PartitionRecord,
    RobotsRecord,
    Row,
    Ticket,
    decode,
    decode_ticket,
    url_fingerprint,
)
from gregor.worker.adapters.compression import decoded
from gregor.worker.adapters.embedded import requisites
from gregor.worker.adapters.embedded.asking import ThreadedConnection
from gregor.worker.adapters.embedded.bodies import open_body, small_bodies
from gregor.worker.adapters.embedded.database import DatabaseWork
from gregor.worker.adapters.embedded.folder import connect_reading
from gregor.worker.adapters.embedded.log import read_committed, read_lag, read_records
from gregor.worker.adapters.embedded.queries import (
    HOST,
    ROBOTS,
    decode_page,
    read_one,
    read_page,
    read_rows,
    row_data,
)
from gregor.worker.adapters.embedded.sketches import are_kept, similar
from gregor.worker.adapters.embedded.slices import Salvage, SlicedTable, damage_told, read_slice
from gregor.worker.adapters.records import decode_row
from gregor.worker.base.crawl_folder import DATABASE
from gregor.worker.borders.errors import Damaged, TellDamage
from gregor.worker.borders.reader import WHOLE, Part, Similar, Waiting, refuse
from gregor.worker.frontier.tickets import is_stale

T = TypeVar("T")

NONE: Final[Mapping[str, object]] = MappingProxyType({})
_SLICE: Final = 1000
_PAGES: Final = 32

_ROWS: Final = SlicedTable("rows", ("key",), "(:state IS NULL OR state = :state) AND (:host IS NULL OR host = :host)")
# Asked of the key alone, so that nobody reads the pages of another's part.
_OF_PART: Final = "(:parts = 1 OR part_of(key, :parts) = :number)"
_NEWEST: Final = "visit = (SELECT max(visit) FROM pages WHERE key = page.key)"
_PAGE: Final = SlicedTable("pages AS page", ("key",), f"{_OF_PART} AND {_NEWEST}")
_VERSIONS: Final = SlicedTable("pages", ("key", "visit"), _OF_PART)
_ROBOTS: Final = SlicedTable("robots", ("origin",))
_LETTERS: Final = SlicedTable("dead_letters", ("number",))
_CALENDAR: Final = SlicedTable("calendar", ("partition", "bucket", "id"))
_BACKLOG: Final = SlicedTable("backlog", ("partition", "host", "chunk", "id"))
# The key is written in every ticket as it is: comparing bytes spares reading all of them.
_FIND_CALENDAR: Final = "SELECT bucket, data FROM calendar WHERE partition = ? AND instr(data, ?)"
_FIND_BACKLOG: Final = "SELECT data FROM backlog WHERE partition = ? AND host = ? AND instr(data, ?)"
_STATES: Final = "SELECT state, urls FROM states WHERE urls > 0"
_PARTITIONS: Final = "SELECT partition, data FROM partitions"


class EmbeddedReader:
    """`Reader`, on a connection and a thread of its own."""

    def __init__(self, path: Path) -> None:
        """Raises `FolderError`."""
        self._path = path
        self._file = path / DATABASE  # made once: a path costs as much as a question
        self._connection, made_for = connect_reading(path)
        self._asked = ThreadedConnection(self._connection)
        self._connection.create_function("part_of", 2, _part_of, deterministic=True)
        self._partitions = int(made_for["partitions"])
        self._width = float(made_for["bucket_width"])
        self.on_damage: TellDamage = refuse

    async def rows(self, state: str | None, host: str | None, after: str = "") -> AsyncIterator[Row]:
        async for found in self.slices(_ROWS, (after,), {"state": state, "host": host}):
            for key, data in found:
                for row in self._undamaged(partial(decode_row, key, data)):
                    yield row

    async def partitions(self) -> AsyncIterator[PartitionRecord]:
        for number, data in await self._fetch(_PARTITIONS):
            for record in self._undamaged(partial(_record, "record of partition", number, data, PartitionRecord)):
                yield record

    async def pages(self, part: Part = WHOLE, *, versions: bool = False) -> AsyncIterator[Page]:
        after: tuple[Any, ...] = ("", 0) if versions else ("",)
        share = {"parts": part.parts, "number": part.number}
        async for records in self.slices(_VERSIONS if versions else _PAGE, after, share, _PAGES):
            for key, *_, data in records:
                for page in self._undamaged(partial(decode_page, key, data)):
                    yield page

    async def row(self, key: str) -> Row | None:
        return await self.ask(lambda connection: read_rows(connection, [key]).get(key))

    async def rows_of(self, keys: Sequence[str]) -> dict[str, Row]:
        records = await self.ask(lambda connection: row_data(connection, keys))
        return {key: row for key, data in records for row in self._undamaged(partial(decode_row, key, data))}

    async def page(self, key: str, visit: int | None = None) -> Page | None:
        return await self.ask(lambda connection: read_page(connection, key, visit))

    async def body(self, sha256: str) -> BinaryIO | None:
        return await self.ask(lambda connection: open_body(connection, self._path, sha256))

    async def small_bodies(self, names: Sequence[str]) -> dict[str, bytes]:
        return await self.ask(lambda connection: small_bodies(connection, names))

    async def similar(self, sketch: bytes, least: float, limit: int) -> list[Similar]:
        def looked_up(connection: sqlite3.Connection) -> list[Similar]:
            return similar(connection, sketch, least, limit) if are_kept(connection) else []

        return await self.ask(looked_up)

    async def find(self, key: str, host: str) -> list[Waiting]:
        partition = partition_of(host, self._partitions)
        candidates = [
            waiting async for records in self._log(partition) for waiting in records if waiting.ticket.key == key
        ]
        needle = key.encode()
        buckets = await self._fetch(_FIND_CALENDAR, (partition, needle))
        candidates += [waiting for bucket, data in buckets for waiting in self._entry(bucket, data)]
        chunks = await self._fetch(_FIND_BACKLOG, (partition, host, needle))
        candidates += [waiting for (data,) in chunks for waiting in self._overflow(f"of {host}", data)]
        unfinished = await self._unfinished([waiting for waiting in candidates if waiting.ticket.key == key])
        return [waiting for waiting, _ in unfinished]

    async def waiting(self) -> AsyncIterator[Waiting]:
        async for batch in self._batches():
            for waiting, _ in batch:
                yield waiting

    async def dead_letters(self) -> AsyncIterator[DeadLetter]:
        async for found in self.slices(_LETTERS, (0,)):
            for number, data in found:
                for letter in self._undamaged(partial(_record, "dead letter", number, data, DeadLetter)):
                    yield letter

    async def robots(self, origin: str) -> RobotsRecord | None:
        return await self.ask(lambda connection: read_one(connection, ROBOTS, origin, RobotsRecord))

    async def all_robots(self) -> AsyncIterator[RobotsRecord]:
        async for found in self.slices(_ROBOTS, ("",), limit=_PAGES):
            for origin, data in found:
                for record in self._undamaged(partial(_record, "robots.txt of", origin, data, RobotsRecord)):
                    yield record

    async def host(self, host: str) -> HostRecord | None:
        return await self.ask(lambda connection: read_one(connection, HOST, host, HostRecord))

    async def seed_hosts(self) -> list[str]:
        return [host for (host,) in await self._fetch("SELECT host FROM seed_hosts")]

    async def settled(self) -> dict[str, int]:
        """URLs by their final state, "pages", "pages_200" and "bytes", as they are kept counted; at once.

        Requisites are no pages: if there are any, they are counted by themselves.
        """
        counts: dict[str, int] = dict(await self._fetch(_STATES))
        counts.pop("waiting", None)
        pages, pages_200, size, shown = await self.ask(requisites.page_totals)
        counts |= {"pages": pages, "pages_200": pages_200, "bytes": size}
        return {**counts, "requisites": shown} if shown else counts

    async def lag(self) -> int:
        """Records of the log that are not finished: a URL as often as it was found, those put off for later not at all.

        The answer is immediate.
        """
        return await self.ask(
            lambda connection: sum(read_lag(connection, partition) for partition in range(self._partitions))
        )

    async def close(self) -> None:
        await self.ask(lambda connection: connection.close())
        self._asked.close()

    async def _batches(self) -> AsyncIterator[list[tuple[Waiting, Row | None]]]:
        """All unfinished tickets, with the rows of their URLs."""
        for partition in range(self._partitions):
            async for records in self._log(partition):
                yield await self._unfinished(records)
        async for entries in self.slices(_CALENDAR, (-1, 0, 0)):
            placed = [waiting for _, bucket, _, data in entries for waiting in self._entry(bucket, data)]
            yield await self._unfinished(placed)
        async for tickets in self.slices(_BACKLOG, (-1, "", 0, 0)):
            placed = [waiting for _, host, *_, data in tickets for waiting in self._overflow(f"of {host}", data)]
            yield await self._unfinished(placed)

    async def _unfinished(self, tickets: list[Waiting]) -> list[tuple[Waiting, Row | None]]:
        keys = list({waiting.ticket.key for waiting in tickets})
        rows = await self.ask(lambda connection: _rows(connection, keys))
        paired = [(waiting, rows.get(waiting.ticket.key)) for waiting in tickets]
        return [
            (waiting, row)
            for waiting, row in paired
            if waiting.ticket.kind not in ("wake", "robots") and not is_stale(waiting.ticket, row)
        ]

    async def _log(self, partition: int) -> AsyncIterator[list[Waiting]]:
        """The records above the watermarks; what cannot be read is no URL."""
        committed = await self.ask(lambda connection: read_committed(connection, partition))
        for priority, offset in committed.items():
            while records := await self._records(partition, priority, offset):
                yield [Waiting(ticket, "log") for _, data in records if (ticket := _ticket(data)) is not None]
                offset = records[-1][0] + 1

    async def _records(self, partition: int, priority: int, offset: int) -> list[tuple[int, bytes]]:
        return await self.ask(lambda connection: read_records(connection, partition, priority, offset, _SLICE))

    def _entry(self, bucket: int, data: bytes) -> Iterator[Waiting]:
        for ticket in self._undamaged(partial(_record, "calendar entry in bucket", bucket, data, Ticket)):
            yield Waiting(ticket, "calendar", bucket * self._width)

    def _overflow(self, where: str, data: bytes) -> Iterator[Waiting]:
        for ticket in self._undamaged(partial(_record, "backlog entry", where, data, Ticket)):
            yield Waiting(ticket, "backlog")

    def _undamaged(self, read: Callable[[], T]) -> Iterator[T]:
        """What is read, if it is whole."""
        try:
            yield read()
        except Damaged as damage:
            self.on_damage(damage)

    async def slices(
        self, table: SlicedTable, after: tuple[Any, ...], filters: Mapping[str, object] = NONE, limit: int = _SLICE
    ) -> AsyncIterator[list[tuple[Any, ...]]]:
        """All of a table behind a place, slice by slice."""
        try:
            while batch := await self.ask(partial(read_slice, table=table, after=after, filters=filters, limit=limit)):
                yield batch
                after = batch[-1][: len(after)]
        except Damaged:
            met: list[Damaged] = []
            records = Salvage(self._connection, table, filters, met.append).records(after)
            while batch := await self.ask(lambda _: list(islice(records, limit))):
                yield batch
            for damage in met:
                self.on_damage(damage)

    async def _fetch(self, statement: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        return await self.ask(lambda connection: connection.execute(statement, values).fetchall())

    async def ask(self, work: DatabaseWork[T]) -> T:
        """Do it with the connection, on its thread. Raises `Damaged` when the file cannot be read there."""
        with damage_told(self._file):
            return await self._asked.ask(work)


def _part_of(key: object, parts: int) -> int:
    """In which of so many parts a key is; SQLite asks."""
    return url_fingerprint(key) % parts if isinstance(key, str) else 0


def _rows(connection: sqlite3.Connection, keys: list[str]) -> dict[str, Row]:
    """As `read_rows`; without those that are damaged, which whoever goes through the rows is told of."""
    try:
        return read_rows(connection, keys)
    except Damaged:
        rows: dict[str, Row] = {}
        for key in keys:
            with suppress(Damaged):
                rows |= read_rows(connection, [key])
        return rows


def _record(what: str, where: object, data: bytes, kind: type[T]) -> T:
    return decoded(what, str(where), lambda: decode(data, kind))


def _ticket(data: bytes) -> Ticket | None:
    try:
        return decode_ticket(data)
    except msgspec.MsgspecError:
        return None
