"""Reading a crawl on the cluster, beside its workers or after them. Whole tables are read a page at a time.

What waits in the calendar and in backlogs is found through their indexes: the tables themselves hold what was dropped
for a day or longer, and reading over it takes time.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from functools import partial
from typing import BinaryIO, Final, TypeVar

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
)
from gregor.worker.adapters.cluster.cassandra_client import Cassandra
from gregor.worker.adapters.cluster.store import HOST, ROBOTS, read_one, read_rows, read_seed_hosts
from gregor.worker.adapters.cluster.store_backlogs import Backlogs
from gregor.worker.adapters.cluster.store_calendar import Calendars
from gregor.worker.adapters.cluster.store_pages import Pages
from gregor.worker.adapters.cluster.tokens import RANGES, scanned
from gregor.worker.adapters.compression import decoded
from gregor.worker.adapters.records import decode_row
from gregor.worker.base.streams import in_order, merged
from gregor.worker.borders.errors import Damaged, TellDamage
from gregor.worker.borders.log import FrontierLog
from gregor.worker.borders.reader import WHOLE, Part, Similar, Waiting, refuse
from gregor.worker.frontier.tickets import is_stale

T = TypeVar("T")

_READ_AT_ONCE: Final = 8
"""Token ranges, or partitions, of which one answer each is waited for at a time."""
_SLICE: Final = 1000
_PAGES: Final = 16

_ROWS: Final = "SELECT key, state, host, data FROM rows"
_ROWS_BEHIND: Final = f"{_ROWS} WHERE token(key) > token(?)"
_PARTITIONS: Final = "SELECT partition, data FROM partitions"
_NEWEST: Final = "SELECT key, data, overflow FROM pages WHERE token(key) > ? AND token(key) <= ? PER PARTITION LIMIT 1"
_VERSIONS: Final = "SELECT key, data, overflow FROM pages WHERE token(key) > ? AND token(key) <= ?"
_ALL_ROBOTS: Final = "SELECT origin, data FROM robots"
_LETTERS: Final = "SELECT id, data FROM dead_letters"


class ClusterReader:
    """`Reader`. Without a ``log`` what waits there is left out. ``bucket_width`` is the calendar's, in seconds."""

    def __init__(
        self, cassandra: Cassandra, partitions: int, bucket_width: float = 1.0, log: FrontierLog | None = None
    ) -> None:
        self._cassandra = cassandra
        self._partitions = partitions
        self._width = bucket_width
        self._log = log
        self._pages = Pages(cassandra)
        self.on_damage: TellDamage = refuse
        self._calendars = Calendars(cassandra)
        self._backlogs = Backlogs(cassandra)

    async def rows(self, state: str | None, host: str | None, after: str = "") -> AsyncIterator[Row]:
        async for page in self._cassandra.pages(*((_ROWS_BEHIND, (after,)) if after else (_ROWS,))):
            for key, its_state, its_host, data in page:
                if state in (None, its_state) and host in (None, its_host):
                    for row in self._undamaged(partial(decode_row, key, data)):
                        yield row

    async def partitions(self) -> AsyncIterator[PartitionRecord]:
        async for page in self._cassandra.pages(_PARTITIONS):
            for number, data in page:
                for record in self._undamaged(partial(_record, "record of partition", number, data, PartitionRecord)):
                    yield record

    async def pages(self, part: Part = WHOLE, *, versions: bool = False) -> AsyncIterator[Page]:
        statement = _VERSIONS if versions else _NEWEST
        async for records in scanned(self._cassandra, statement, _PAGES, _READ_AT_ONCE, part.of(RANGES)):
            for key, data, overflow in records:
                try:
                    page = await self._pages.unpack(key, data, overflow)
                except Damaged as damage:
                    self.on_damage(damage)
                else:
                    if page is not None:
                        yield page

    async def row(self, key: str) -> Row | None:
        return (await read_rows(self._cassandra, [key]))[0]

    async def rows_of(self, keys: Sequence[str]) -> dict[str, Row]:
        try:
            rows = await read_rows(self._cassandra, keys)
        except Damaged:  # each alone, so that the others are read
            rows = []
            for key in keys:
                try:
                    rows.append(await self.row(key))
                except Damaged as damage:
                    self.on_damage(damage)
        return {row.key: row for row in rows if row is not None}

    async def page(self, key: str, visit: int | None = None) -> Page | None:
        return await self._pages.page(key, visit)

    async def body(self, sha256: str) -> BinaryIO | None:
        return await self._pages.body(bytes.fromhex(sha256))

    async def small_bodies(self, names: Sequence[str]) -> dict[str, bytes]:
        bodies = await asyncio.gather(*(self._pages.small_body(bytes.fromhex(name)) for name in names))
        return {name: body for name, body in zip(names, bodies, strict=True) if body is not None}

    async def similar(self, sketch: bytes, least: float, limit: int) -> list[Similar]:
        return await self._pages.similar(sketch, least, limit)

    async def find(self, key: str, host: str) -> list[Waiting]:
        partition = partition_of(host, self._partitions)
        places = (self._in_log(partition), self._in_calendar(partition), self._in_backlog(partition, host))
        found = [one for place in places async for some in place for one in some if one.ticket.key == key]
        return [waiting for waiting, _ in await self._unfinished(found)]

    async def waiting(self) -> AsyncIterator[Waiting]:
        async for some in self._all_unfinished():
            for waiting, _ in some:
                yield waiting

    async def dead_letters(self) -> AsyncIterator[DeadLetter]:
        async for page in self._cassandra.pages(_LETTERS):
            for number, data in page:
                for letter in self._undamaged(partial(_record, "dead letter", number, data, DeadLetter)):
                    yield letter

    async def robots(self, origin: str) -> RobotsRecord | None:
        return await read_one(self._cassandra, ROBOTS, origin, RobotsRecord)

    async def all_robots(self) -> AsyncIterator[RobotsRecord]:
        async for page in self._cassandra.pages(_ALL_ROBOTS, (), _PAGES):
            for origin, data in page:
                for record in self._undamaged(partial(_record, "robots.txt of", origin, data, RobotsRecord)):
                    yield record

    async def host(self, host: str) -> HostRecord | None:
        return await read_one(self._cassandra, HOST, host, HostRecord)

    async def seed_hosts(self) -> list[str]:
        return await read_seed_hosts(self._cassandra)

    async def close(self) -> None:
        await self._cassandra.close()

    async def _all_unfinished(self) -> AsyncIterator[list[tuple[Waiting, Row | None]]]:
        """All unfinished tickets, with the rows of their URLs."""
        places = (self._in_log, self._in_calendar, self._in_backlogs)
        waiting = (place(partition) for partition in range(self._partitions) for place in places)
        async for some in in_order(merged(waiting, _READ_AT_ONCE), self._unfinished, _READ_AT_ONCE):
            yield some

    async def _unfinished(self, tickets: Sequence[Waiting]) -> list[tuple[Waiting, Row | None]]:
        asking = [waiting for waiting in tickets if waiting.ticket.kind not in ("wake", "robots")]
        rows = await self._rows([waiting.ticket.key for waiting in asking])
        paired = zip(asking, rows, strict=True)
        return [(waiting, row) for waiting, row in paired if not is_stale(waiting.ticket, row)]

    async def _in_log(self, partition: int) -> AsyncIterator[list[Waiting]]:
        """The records above the watermarks; what cannot be read is no URL.

        Where there are none nothing is read: to be told so by reading takes Kafka a quarter of a second each time.
        """
        if self._log is None:
            return
        starts, committed = await self._log.starts(partition), await self._log.committed(partition)
        for priority, end in (await self._log.ends(partition)).items():
            offset = max(starts[priority], committed.get(priority, 0))
            while offset < end and (records := await self._log.read(partition, priority, offset, _SLICE)):
                yield [Waiting(record.ticket, "log") for record in records if isinstance(record.ticket, Ticket)]
                offset = records[-1].offset + 1

    async def _in_calendar(self, partition: int) -> AsyncIterator[list[Waiting]]:
        async for buckets in self._calendars.all_buckets(partition):
            read = [self._undamaged_tickets(self._calendars.read(partition, bucket)) for bucket in buckets]
            for bucket, tickets in zip(buckets, await asyncio.gather(*read), strict=True):
                yield [Waiting(ticket, "calendar", bucket * self._width) for ticket in tickets]

    async def _in_backlogs(self, partition: int) -> AsyncIterator[list[Waiting]]:
        async for chunks in self._backlogs.all_chunks_together(partition, _READ_AT_ONCE):
            for some in await asyncio.gather(*(self._in_chunk(partition, host, chunk) for host, chunk in chunks)):
                yield some

    async def _in_backlog(self, partition: int, host: str) -> AsyncIterator[list[Waiting]]:
        chunks = await self._backlogs.chunks(partition, host)
        for at in range(0, len(chunks), _READ_AT_ONCE):
            some = chunks[at : at + _READ_AT_ONCE]
            for tickets in await asyncio.gather(*(self._in_chunk(partition, host, chunk) for chunk in some)):
                yield tickets

    async def _in_chunk(self, partition: int, host: str, chunk: int) -> list[Waiting]:
        return [
            Waiting(ticket, "backlog")
            for ticket in await self._undamaged_tickets(self._backlogs.read(partition, host, chunk))
        ]

    async def _rows(self, keys: Sequence[str]) -> list[Row | None]:
        """As `read_rows`; without those that are damaged, which whoever goes through the rows is told of."""
        try:
            return await read_rows(self._cassandra, keys)
        except Damaged:
            answers = await asyncio.gather(*(self.row(key) for key in keys), return_exceptions=True)
            for error in answers:
                if isinstance(error, BaseException) and not isinstance(error, Damaged):
                    raise error from None
            return [row if isinstance(row, Row) else None for row in answers]

    async def _undamaged_tickets(self, read: Awaitable[list[Ticket]]) -> list[Ticket]:
        """The tickets of a bucket or chunk; none when it is damaged."""
        try:
            return await read
        except Damaged as damage:
            self.on_damage(damage)
            return []

    def _undamaged(self, read: Callable[[], T]) -> Iterator[T]:
        """What is read, if it is whole."""
        try:
            yield read()
        except Damaged as damage:
            self.on_damage(damage)


def _record(what: str, where: object, data: bytes, kind: type[T]) -> T:
    return decoded(what, str(where), lambda: decode(data, kind))
