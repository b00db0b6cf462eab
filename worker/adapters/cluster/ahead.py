"""Dates that ZooKeeper's clock wrote while it was ahead, brought back in Cassandra while no worker runs.

What it begins with stands in the crawl's facts, as does what is done: what is cut short goes on with the same shift.
Records go up by one stamp; entries that move to other buckets have the last stamp of their partition's epoch, which is
above all that was dropped there. A record that cannot be read stays as it is: the check names it.
"""

import asyncio
import math
from collections.abc import AsyncIterator, Sequence
from typing import Any, Final, TypeVar

import msgspec

from gregor.schemas.messages import (
    DeadLetter,
    HostRecord,
    PartitionRecord,
    RobotsRecord,
    Row,
    Ticket,
    encode,
    stamp,
)
from gregor.worker.adapters.cluster.cassandra_client import Cassandra, ResultRows
from gregor.worker.adapters.cluster.store import PUT_LETTER, PUT_PARTITION, place_of
from gregor.worker.adapters.cluster.store_backlogs import Backlogs
from gregor.worker.adapters.cluster.store_calendar import Calendars
from gregor.worker.adapters.cluster.store_pages import Pages
from gregor.worker.adapters.cluster.tokens import RANGES, bounds
from gregor.worker.adapters.records import readable
from gregor.worker.base.streams import in_order, merged
from gregor.worker.borders.errors import Damaged
from gregor.worker.borders.stock import Fault, TellMended
from gregor.worker.borders.store import Entry
from gregor.worker.frontier.ahead import CLOCK, MARGIN, Ahead, dated_back, in_words

S = TypeVar("S", bound=msgspec.Struct)
_LAST: Final = (1 << 32) - 1
_AT_ONCE: Final = 8
_FETCHED: Final = 500
_FEW: Final = 32
_DAY: Final = 86400.0

_NEWEST: Final = "SELECT data FROM rows WHERE token(key) > ? AND token(key) <= ?"
_PARTITIONS: Final = "SELECT data FROM partitions"
_PARTITION: Final = "SELECT data, writetime(data) FROM partitions WHERE partition = ?"
_ENTRIES: Final = "SELECT data FROM calendar WHERE partition = ? AND bucket = ?"
_OVERFLOW: Final = "SELECT data FROM backlog WHERE partition = ? AND host = ? AND chunk = ?"
_PAGES: Final = """SELECT key, data, overflow, writetime(status), ttl(status) FROM pages
    WHERE token(key) > ? AND token(key) <= ?"""
_LETTERS: Final = "SELECT day, shard, id, writetime(data), data FROM dead_letters"
_DROP_LETTER: Final = "DELETE FROM dead_letters USING TIMESTAMP ? WHERE day = ? AND shard = ? AND id = ?"
_TABLES: Final[tuple[tuple[str, str, type[Any]], ...]] = (
    ("hosts", "host", HostRecord),
    ("robots", "origin", RobotsRecord),
    ("rows", "key", Row),
)
_FACTS: Final = "SELECT name, value FROM facts"
_PUT_FACT: Final = "INSERT INTO facts (name, value) VALUES (?, ?)"
_FORGET: Final = "DELETE FROM facts WHERE name = ?"
_BEGUN: Final = "set back"
_ROBOTS_AHEAD: Final = "robots ahead"

WorkRange = tuple[str, int]
"""A table and the number of a range of its tokens, or of a partition."""


async def robots_ahead(cassandra: Cassandra) -> float:
    """Seconds by which the stamps of robots.txt files are ahead of their dates: what stands there from a clock that was
    ahead must not win over what is fetched now."""
    return float((await _facts(cassandra)).get(_ROBOTS_AHEAD, "0"))


async def newest_of_partitions(cassandra: Cassandra, bucket_width: float) -> float:
    """The latest time, unix seconds, that partitions were owned at or their calendars were read up to."""
    kept = [readable(data, PartitionRecord) for (data,) in await cassandra.read(_PARTITIONS)]
    records = [record for record in kept if record is not None]
    cursors = [record.cursor * bucket_width for record in records]
    return max([0.0, *cursors, *(taken.at for record in records for taken in record.takeovers)])


class DatesAhead:
    """The dates of one crawl."""

    def __init__(self, cassandra: Cassandra, partitions: int, bucket_width: float) -> None:
        self._cassandra = cassandra
        self._partitions = partitions
        self._width = bucket_width
        self._pages = Pages(cassandra)
        self._calendars = Calendars(cassandra)
        self._backlogs = Backlogs(cassandra)

    async def faults(self, now: float) -> AsyncIterator[Fault]:
        """Whether the crawl is ahead of a time, unix seconds, or was not wholly set back."""
        begun = await self._begun()
        seconds = begun.seconds if begun is not None else await self._newest(now) - now
        if begun is not None:
            yield Fault((CLOCK,), f"{in_words(seconds)}, and were set back in part", "set back by as much")
        elif seconds > MARGIN:
            yield Fault((CLOCK,), in_words(seconds), "set back by as much, while no worker runs")

    async def set_back(self, now: float, tell: TellMended) -> None:
        """Bring all dates back. Nobody else writes meanwhile. Raises `Unavailable`: what was done by then stays so."""
        ahead = await self._begun()
        if ahead is None:
            ahead = Ahead(await self._newest(now) - now, now)
            if ahead.seconds <= MARGIN:
                return
            before = await robots_ahead(self._cassandra)
            await self._put_fact(_ROBOTS_AHEAD, f"{before + ahead.seconds + _DAY}")
            await self._put_fact(_BEGUN, f"{ahead.seconds} {ahead.now}")
        done = await _facts(self._cassandra)
        work = [share for share in self._work() if _name(share) not in done]
        set_back_records = 0
        async for records in in_order(_each(work), lambda share: self._share(share, ahead), _AT_ONCE):
            set_back_records += records
            tell("records set back", set_back_records)

    async def finish(self) -> None:
        """Forget that it was begun, once no worker can have come meanwhile."""
        await self.forget_done()
        await self._cassandra.write(_FORGET, (_BEGUN,))

    async def forget_done(self) -> None:
        """All of it is to be done again: somebody wrote meanwhile."""
        await self._cassandra.write_each(_FORGET, [(_name(share),) for share in self._work()])

    def _work(self) -> list[WorkRange]:
        partitions = [(table, number) for table in ("calendar", "backlog") for number in range(self._partitions)]
        tables = [(table, number) for table in ("hosts", "robots", "pages", "rows") for number in range(RANGES)]
        return [*partitions, ("dead_letters", 0), *tables]

    async def _share(self, share: WorkRange, ahead: Ahead) -> int:
        """Do a part of it; how many records were changed."""
        table, number = share
        match table:
            case "calendar":
                records = await self._calendar(number, ahead)
            case "backlog":
                records = await self._backlog(number, ahead)
            case "dead_letters":
                records = await self._letters(ahead)
            case "pages":
                records = await self._page_versions(number, ahead)
            case _:
                records = await self._table(table, number, ahead)
        await self._put_fact(_name(share), "done")
        return records

    async def _table(self, table: str, number: int, ahead: Ahead) -> int:
        ((name, kind),) = [(name, kind) for each, name, kind in _TABLES if each == table]
        columns = f"{name}, host, state, data" if table == "rows" else f"{name}, data"
        places = ", ".join("?" * (columns.count(",") + 1))
        read = f"SELECT {columns}, writetime(data) FROM {table} WHERE token({name}) > ? AND token({name}) <= ?"
        put = f"INSERT INTO {table} ({columns}) VALUES ({places}) USING TIMESTAMP ?"
        changed = 0
        async for records in self._cassandra.pages(read, bounds(number), _FETCHED):
            rewritten = [
                (*names, encode(value), stamped + 1)
                for *names, data, stamped in records
                if (value := _changed(data, kind, ahead)) is not None
            ]
            await self._cassandra.write_each(put, rewritten)
            changed += len(rewritten)
        return changed

    async def _page_versions(self, number: int, ahead: Ahead) -> int:
        changed = 0
        async for records in self._cassandra.pages(_PAGES, bounds(number), _FEW):
            changed += sum(await asyncio.gather(*(self._page_version(ahead, *record) for record in records)))
        return changed

    async def _page_version(
        self, ahead: Ahead, key: str, data: bytes, overflow: bytes, stamped: int, left: int | None
    ) -> bool:
        """Bring the dates of a version back; whether there were any to bring back."""
        try:
            page = await self._pages.unpack(key, data, overflow)
        except Damaged:
            return False
        if page is None or (value := dated_back(page, ahead)) is page:
            return False
        await Pages(self._cassandra, left or 0).put(value, None, None, stamped + 1)
        return True

    async def _letters(self, ahead: Ahead) -> int:
        changed = 0
        async for records in self._cassandra.pages(_LETTERS):
            for day, shard, name, stamped, data in records:
                letter = _changed(data, DeadLetter, ahead)
                if letter is not None:
                    await self._cassandra.write(PUT_LETTER, (*place_of(letter), encode(letter)))
                    await self._cassandra.write(_DROP_LETTER, (stamped, day, shard, name))
                    changed += 1
        return changed

    async def _calendar(self, partition: int, ahead: Ahead) -> int:
        """Bring a partition's buckets back, after a cursor below all of them: what is below a cursor is never read."""
        record, last = await self._owned(partition)
        if record is None:
            return 0
        shift, beyond = math.floor(ahead.seconds / self._width), math.floor(ahead.border / self._width)
        buckets = [bucket async for some in self._calendars.all_buckets(partition) for bucket in some]
        places = {bucket: bucket - shift if bucket > beyond else bucket for bucket in buckets}
        cursor = record.cursor - shift if record.cursor > beyond else record.cursor
        cursor = min([cursor, *(place - 1 for place in places.values())])
        record = msgspec.structs.replace(dated_back(record, ahead), cursor=cursor)
        await self._cassandra.write(PUT_PARTITION, (partition, encode(record), last))
        changed = 0
        for bucket, place in places.items():
            tickets, damaged = _tickets(await self._cassandra.read(_ENTRIES, (partition, bucket)))
            moved = [
                Entry(place, of_now)
                for ticket in tickets
                if (of_now := dated_back(ticket, ahead)) is not ticket or place != bucket
            ]
            await self._calendars.put(partition, moved, last)
            if place != bucket and not damaged:
                await self._calendars.drop(partition, bucket, last)
            changed += len(moved)
        return changed

    async def _backlog(self, partition: int, ahead: Ahead) -> int:
        record, last = await self._owned(partition)
        if record is None:
            return 0
        changed = 0
        async for host, chunk in self._backlogs.all_chunks(partition):
            tickets, _ = _tickets(await self._cassandra.read(_OVERFLOW, (partition, host, chunk)))
            moved = [of_now for ticket in tickets if (of_now := dated_back(ticket, ahead)) is not ticket]
            await self._backlogs.put(partition, host, chunk, moved, last)
            changed += len(moved)
        return changed

    async def _owned(self, partition: int) -> tuple[PartitionRecord | None, int]:
        """The record of a partition, None if it was never owned or cannot be read; and the last stamp of its epoch,
        above all that its owners wrote, below what comes."""
        for data, stamped in await self._cassandra.read(_PARTITION, (partition,)):
            if (record := readable(data, PartitionRecord)) is not None:
                return record, max(stamp(record.epoch, _LAST), stamped)
        return None, 0

    async def _newest(self, now: float) -> float:
        """The latest time that the crawl went by, unix seconds; rows are only read where partitions tell nothing."""
        newest = await newest_of_partitions(self._cassandra, self._width)
        if newest > now + MARGIN:
            return newest
        ranges = (self._cassandra.pages(_NEWEST, bounds(number)) for number in range(RANGES))
        async for records in merged(ranges, _AT_ONCE):
            for (data,) in records:
                if (row := readable(data, Row)) is not None and row.attempts:
                    newest = max(newest, row.attempts[-1].at)
        return newest

    async def _begun(self) -> Ahead | None:
        begun = (await _facts(self._cassandra)).get(_BEGUN)
        return Ahead(*map(float, begun.split())) if begun else None

    async def _put_fact(self, name: str, value: str) -> None:
        await self._cassandra.write(_PUT_FACT, (name, value))


async def _facts(cassandra: Cassandra) -> dict[str, str]:
    return dict(await cassandra.read(_FACTS))


def _name(share: WorkRange) -> str:
    return f"{_BEGUN} {share[0]} {share[1]}"


async def _each(work: Sequence[WorkRange]) -> AsyncIterator[WorkRange]:
    for share in work:
        yield share


def _changed(data: bytes, kind: type[S], ahead: Ahead) -> S | None:
    """A record with its dates brought back; None where there are none to bring back, or it cannot be read."""
    record = readable(data, kind)
    value = record if record is None else dated_back(record, ahead)
    return None if value is record else value


def _tickets(records: ResultRows) -> tuple[list[Ticket], int]:
    """Those that can be read, and how many cannot."""
    tickets = [ticket for (data,) in records if (ticket := readable(data, Ticket)) is not None]
    return tickets, len(records) - len(tickets)
