"""All that a crawl has in Cassandra, record by record, for whoever verifies it beside its workers; and its mending.

What a mend writes has the stamp of what it takes the place of, and one more: what an owner writes later wins.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import partial
from typing import Any, Final, TypeAlias, TypeVar

from gregor.schemas.messages import (
    DeadLetter,
    HostRecord,
    Page,
    PartitionRecord,
    RobotsRecord,
    Row,
    Ticket,
    decode,
    encode,
)
from gregor.worker.adapters.cluster.ahead import DatesAhead
from gregor.worker.adapters.cluster.cassandra_client import Cassandra, ResultRows
from gregor.worker.adapters.cluster.dropping import loose_of
from gregor.worker.adapters.cluster.reader import ClusterReader
from gregor.worker.adapters.cluster.seen import RedisSeen
from gregor.worker.adapters.cluster.store_backlogs import Backlogs
from gregor.worker.adapters.cluster.store_calendar import Calendars
from gregor.worker.adapters.cluster.store_pages import Pages
from gregor.worker.adapters.cluster.tokens import scanned
from gregor.worker.adapters.records import StockByReader, awaited, filed, filed_row, filed_ticket, kept
from gregor.worker.base.streams import in_order
from gregor.worker.borders.errors import Damaged
from gregor.worker.borders.log import FrontierLog
from gregor.worker.borders.stock import Fault, StockPlace, StoredRecord, TellMended, unheard
from gregor.worker.frontier.ahead import CLOCK
from gregor.worker.links.tickets import again

T = TypeVar("T")
SetBack: TypeAlias = Callable[[TellMended], Awaitable[None]]
"""Sets the crawl's dates back, and says how many."""
_AT_ONCE: Final = 16
_STREAMS: Final = 4
"""Ranges of a table that are read at once: while one is waited for, what came of others is looked at."""
_FETCHED: Final = 1000

_ROWS: Final = "SELECT key, host, state, data FROM rows WHERE token(key) > ? AND token(key) <= ?"
_PAGES: Final = """SELECT key, visit, status, size, data, overflow FROM pages
    WHERE token(key) > ? AND token(key) <= ?"""
_BODIES: Final = "SELECT sha256, chunks, data FROM bodies WHERE token(sha256) > ? AND token(sha256) <= ?"
_ENTRIES: Final = "SELECT id, data FROM calendar WHERE partition = ? AND bucket = ?"
_OVERFLOW: Final = "SELECT id, data FROM backlog WHERE partition = ? AND host = ? AND chunk = ?"
_BUCKETS: Final = "SELECT DISTINCT partition, bucket FROM calendar"
_CHUNKS: Final = "SELECT DISTINCT partition, host, chunk FROM backlog"
_OTHERS: Final[tuple[tuple[str, str, type[Any]], ...]] = (
    ("hosts", "host", HostRecord),
    ("robots", "origin", RobotsRecord),
    ("partitions", "partition", PartitionRecord),
)
_LETTERS: Final = "SELECT day, shard, id, data FROM dead_letters"
_STAMP: Final = "SELECT writetime(data) FROM rows WHERE key = ?"
_PUT_ROW: Final = "INSERT INTO rows (key, host, state, data) VALUES (?, ?, ?, ?) USING TIMESTAMP ?"
_DROPS: Final = {
    "bodies": "DELETE FROM bodies WHERE sha256 = ?",
    "pages": "DELETE FROM pages USING TIMESTAMP ? WHERE key = ? AND visit = ?",
    "calendar": "DELETE FROM calendar USING TIMESTAMP ? WHERE partition = ? AND bucket = ? AND id = ?",
    "backlog": "DELETE FROM backlog USING TIMESTAMP ? WHERE partition = ? AND host = ? AND chunk = ? AND id = ?",
    "hosts": "DELETE FROM hosts USING TIMESTAMP ? WHERE host = ?",
    "robots": "DELETE FROM robots USING TIMESTAMP ? WHERE origin = ?",
    "partitions": "DELETE FROM partitions USING TIMESTAMP ? WHERE partition = ?",
    "dead_letters": "DELETE FROM dead_letters WHERE day = ? AND shard = ? AND id = ?",
}


class ClusterStock(StockByReader):
    """`Stock`."""

    def __init__(
        self, cassandra: Cassandra, log: FrontierLog, seen: RedisSeen, partitions: int, bucket_width: float
    ) -> None:
        self._cassandra = cassandra
        self._log = log
        self._seen = seen
        self._partitions = partitions
        self._pages = Pages(cassandra)
        self._calendars = Calendars(cassandra)
        self._backlogs = Backlogs(cassandra)
        self._dates = DatesAhead(cassandra, partitions, bucket_width)
        reader = ClusterReader(cassandra, partitions, bucket_width, log)
        reader.on_damage = _passed_over
        super().__init__(reader)

    async def rows(self) -> AsyncIterator[list[StoredRecord[Row]]]:
        async for found in self._through(_ROWS, _FETCHED):
            yield [kept(("rows", record[0]), partial(filed_row, record)) for record in found]

    async def pages(self) -> AsyncIterator[list[StoredRecord[Page]]]:
        async for found in self._through(_PAGES, _AT_ONCE):
            pages = [awaited(("pages", one[0], one[1]), self._page(one)) for one in found]
            yield list(await asyncio.gather(*pages))

    async def bodies(self) -> AsyncIterator[list[StoredRecord[str]]]:
        async for found in self._through(_BODIES, _AT_ONCE):
            bodies = [awaited(("bodies", sha256.hex()), self._body(sha256, *first)) for sha256, *first in found]
            yield list(await asyncio.gather(*bodies))

    async def waiting(self) -> AsyncIterator[list[StoredRecord[Ticket]]]:
        for partition in range(self._partitions):
            async for tickets in self._in_log(partition):
                yield tickets
            async for tickets in in_order(self._places(partition), self._waiting_at):
                yield tickets

    async def others(self) -> AsyncIterator[list[StoredRecord[object]]]:
        for table, name, kind in _OTHERS:
            async for records in self._cassandra.pages(f"SELECT {name}, data FROM {table}"):
                yield [kept((table, record[0]), partial(filed, record, kind, name)) for record in records]
        async for records in self._cassandra.pages(_LETTERS):
            yield [kept(("dead_letters", *record[:3]), partial(decode, record[3], DeadLetter)) for record in records]

    async def faults(self) -> AsyncIterator[Fault]:
        """Dates ahead of this machine's clock; buckets and chunks that hold something and are in no index: nobody would
        ever read them."""
        async for fault in self._dates.faults(time.time()):
            yield fault
        for statement, table in ((_BUCKETS, "calendar"), (_CHUNKS, "backlog")):
            async for unindexed in in_order(self._stored_places(statement, table), self._unindexed):
                if unindexed is not None:
                    yield unindexed

    async def unseen(self, fingerprints: Sequence[int]) -> list[int]:
        """See `Stock.unseen`."""
        known = await self._seen.seen(fingerprints)
        return [number for number, is_known in zip(fingerprints, known, strict=True) if not is_known]

    async def loose(self, names: Sequence[str]) -> set[str]:
        """See `Stock.loose`."""
        return await loose_of(self._cassandra, names)

    async def sizes(self) -> dict[str, int]:
        """Cassandra counts nothing by itself."""
        return {}

    async def close(self) -> None:
        """End the connections."""
        for service in (self._log, self._seen, self._cassandra):
            await service.close()

    def _through(self, statement: str, size: int) -> AsyncIterator[ResultRows]:
        """All that a statement finds in ranges of tokens, so many records at a time."""
        return scanned(self._cassandra, statement, size, _STREAMS)

    async def _places(self, partition: int) -> AsyncIterator[StockPlace]:
        """The buckets and chunks of a partition that are in an index."""
        async for buckets in self._calendars.all_buckets(partition):
            for bucket in buckets:
                yield "calendar", partition, bucket
        async for host, chunk in self._backlogs.all_chunks(partition):
            yield "backlog", partition, host, chunk

    async def _waiting_at(self, place: StockPlace) -> list[StoredRecord[Ticket]]:
        return self._tickets(place, await self._entries(place))

    async def _entries(self, place: StockPlace) -> ResultRows:
        return await self._cassandra.read(_ENTRIES if place[0] == "calendar" else _OVERFLOW, place[1:])

    async def _stored_places(self, statement: str, table: str) -> AsyncIterator[StockPlace]:
        """Those that hold something, or did, whether an index has them or not."""
        async for places in self._cassandra.pages(statement):
            for names in places:
                yield table, *names

    async def _unindexed(self, place: StockPlace) -> Fault | None:
        """What is wrong with a bucket or chunk that no index has; None if nothing is."""
        partition, name = int(place[1]), place[-1]
        if place[0] == "calendar":
            indexed = await self._calendars.buckets(partition, int(name), int(name), 1)
        else:
            indexed = await self._backlogs.chunks(partition, str(place[2]))
        if name in indexed or not await self._entries(place):
            return None
        return Fault(place, "it is in no index, so that nobody reads it", "indexed")

    async def _page(self, record: tuple[Any, ...]) -> Page:
        key, visit, status, size, data, overflow = record
        page = await self._pages.unpack(key, data, overflow)
        if page is None:
            raise Damaged("page", key, "a part of it is missing")
        if (page.visit, page.status, page.size) != (visit, status, size):
            raise Damaged("page", key, "its visit, status or size is not what it is filed under")
        return page

    async def _body(self, sha256: bytes, chunks: int, data: bytes) -> str:
        body = await self._pages.whole_body(sha256, chunks, data)
        if body is None:
            raise Damaged("body", sha256.hex(), "a part of it is missing")
        body.close()
        return sha256.hex()

    async def _in_log(self, partition: int) -> AsyncIterator[list[StoredRecord[Ticket]]]:
        starts, committed = await self._log.starts(partition), await self._log.committed(partition)
        for priority, end in (await self._log.ends(partition)).items():
            offset = max(starts[priority], committed.get(priority, 0))
            while offset < end and (records := await self._log.read(partition, priority, offset, 1000)):
                yield [
                    StoredRecord(("log", partition, priority, record.offset), record.ticket)
                    if isinstance(record.ticket, Ticket)
                    else StoredRecord(("log", partition, priority, record.offset), None, record.ticket.error)
                    for record in records
                ]
                offset = records[-1].offset + 1

    def _tickets(self, place: StockPlace, found: ResultRows) -> list[StoredRecord[Ticket]]:
        partition = int(place[1])
        return [
            kept((*place, name), partial(filed_ticket, data, name, partition, self._partitions)) for name, data in found
        ]


class ClusterMending:
    """`Mending`, beside workers."""

    def __init__(
        self,
        cassandra: Cassandra,
        log: FrontierLog,
        seen: RedisSeen,
        set_back: SetBack | None = None,
    ) -> None:
        self._cassandra = cassandra
        self._log = log
        self._seen = seen
        self._set_back = set_back
        self.tell: TellMended = unheard

    async def drop(self, place: StockPlace) -> None:
        """See `Mending.drop`; with the stamp of what is dropped, so that what came since stays."""
        table, *name = place
        if table == "bodies":
            await self._cassandra.write(_DROPS["bodies"], (bytes.fromhex(str(name[0])),))
            return
        if table == "dead_letters":
            await self._cassandra.write(_DROPS["dead_letters"], name)
            return
        statement = _DROPS[str(table)]
        where = statement.partition(" WHERE ")[2]
        for (stamp,) in await self._cassandra.read(f"SELECT writetime(data) FROM {table} WHERE {where}", name):
            await self._cassandra.write(statement, (stamp, *name))

    async def rebuild(self, row: Row) -> None:
        """See `Mending.rebuild`."""
        found = await self._cassandra.read(_STAMP, (row.key,))
        stamp = found[0][0] + 1 if found and found[0][0] is not None else 1
        await self._cassandra.write(_PUT_ROW, (row.key, row.host, row.state, encode(row), stamp))

    async def forget_validators(self, page: Page) -> None:
        """See `Mending.forget_validators`."""
        versions = await self._cassandra.read(
            "SELECT writetime(status), ttl(status) FROM pages WHERE key = ? AND visit = ?", (page.key, page.visit)
        )
        page.etag = page.last_modified = ""
        for stamp, left in versions:
            await Pages(self._cassandra, left or 0).put(page, None, None, stamp + 1)

    async def ask_again(self, row: Row) -> None:
        """See `Mending.ask_again`."""
        await self._log.publish([again(row)])

    async def mark(self, fingerprints: Sequence[int]) -> None:
        """See `Mending.mark`."""
        await self._seen.mark(fingerprints)

    async def right(self, fault: Fault) -> None:
        """Write the index of a bucket or chunk, with the stamp of its newest entry, as it should have been; or set the
        dates back. Raises `BadInput` while that cannot be done."""
        table, *place = fault.place
        if table == CLOCK and self._set_back is not None:
            await self._set_back(self.tell)
            return
        where = "partition = ? AND bucket = ?" if table == "calendar" else "partition = ? AND host = ? AND chunk = ?"
        stamps = await self._cassandra.read(f"SELECT writetime(data) FROM {table} WHERE {where}", place)
        stamp = max((stamp for (stamp,) in stamps), default=None)
        if stamp is None:
            return
        if table == "calendar":
            await Calendars(self._cassandra).index(int(place[0]), [int(place[1])], stamp)
        else:
            await Backlogs(self._cassandra).index(int(place[0]), str(place[1]), int(place[2]), stamp)

    async def close(self) -> None:
        """End the connections."""
        for service in (self._log, self._seen, self._cassandra):
            await service.close()


def _passed_over(damage: Damaged) -> None:
    """Who goes through the tables tells of it."""
