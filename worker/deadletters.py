"""URLs that were given up: which still are, and how they get another visit."""

from collections.abc import AsyncIterator

import msgspec
from msgspec import Struct

from gregor.partitioner.hashing import partition_of
from gregor.schemas.messages import DeadLetter, Row, Ticket, stamp
from gregor.worker.borders import Coordinator, Entry, Lease, PageStore, Reader
from gregor.worker.calendar import Calendar
from gregor.worker.config import Config
from gregor.worker.errors import BadInput

_BATCH = 500
_LAST_BUCKET = 2**53
_MOST_BUCKETS = 1_000_000


class Dead(Struct, frozen=True):
    """A letter that still holds; ``row`` is None where it is about a record that no URL could be read from."""

    letter: DeadLetter
    row: Row | None


async def dead(reader: Reader, cause: str | None = None) -> AsyncIterator[Dead]:
    """The letters, of a cause if one is given, whose URL has not become something else since, nor been given up once
    more with a letter of its own."""
    async for letter in reader.dead_letters():
        if cause not in (None, letter.cause):
            continue
        row = await reader.row(letter.key) if letter.key else None
        if not letter.key or (row is not None and row.state == "dead" and _is_last(letter, row)):
            yield Dead(letter, row)


def _is_last(letter: DeadLetter, row: Row) -> bool:
    return len(row.attempts) < 2 or letter.at > row.attempts[-2].at


async def retry(reader: Reader, store: PageStore, coordinator: Coordinator, config: Config, cause: str | None) -> int:
    """Give each URL that is dead an appointment now; how many there were. Raises BadInput where a worker is running.

    The ticket is a revisit: it is valid although the row is terminal, and the row stays until the visit is settled.
    """
    desk = _Appointments(store, coordinator, config)
    count = 0
    try:
        async for one in dead(reader, cause):
            if one.row is not None:
                await desk.add(_again(one.row))
                count += 1
        await desk.flush()
    finally:
        await desk.close()
    return count


def _again(row: Row) -> Ticket:
    return Ticket(
        row.href,
        row.key,
        row.host,
        visit=row.visits,
        kind="revisit",
        priority=row.priority,
        depth=row.depth,
        hops=row.hops,
        via=row.via,
        link=row.link,
        label=row.label,
    )


class _Owned:
    """A partition that is ours for the moment."""

    def __init__(self, lease: Lease, calendar: Calendar) -> None:
        self.lease = lease
        self.calendar = calendar
        self.entries: list[Entry] = []
        self._counter = 0

    def stamp(self) -> int:
        self._counter += 1
        return stamp(self.lease.epoch, self._counter)


class _Appointments:
    """Writes calendar entries in batches, each partition under a lease of its own."""

    def __init__(self, store: PageStore, coordinator: Coordinator, config: Config) -> None:
        self._store = store
        self._coordinator = coordinator
        self._config = config
        self._owned: dict[int, _Owned] = {}
        self._waiting = 0

    async def add(self, ticket: Ticket) -> None:
        number = partition_of(ticket.host, self._config.partitions)
        owned = self._owned.get(number) or await self._take(number)
        now = self._coordinator.now()
        owned.entries.append(Entry(owned.calendar.place(now, now), ticket))
        self._waiting += 1
        if self._waiting >= _BATCH:
            await self.flush()

    async def flush(self) -> None:
        for number, owned in self._owned.items():
            if owned.entries:
                await self._store.put_entries(number, owned.entries, owned.stamp())
                owned.entries = []
        self._waiting = 0

    async def close(self) -> None:
        for owned in self._owned.values():
            await self._coordinator.release(owned.lease)

    async def _take(self, number: int) -> _Owned:
        record = await self._store.partition(number)
        lease = await self._coordinator.acquire(number, record.epoch)
        if lease is None:
            raise BadInput(f"partition {number} is a running worker's: stop the workers first")
        known = await self._store.buckets(number, record.cursor + 1, _LAST_BUCKET, _MOST_BUCKETS)
        calendar = Calendar(record.cursor, known, self._config.bucket_width, self._config.bucket_size)
        owned = self._owned[number] = _Owned(lease, calendar)
        record = msgspec.structs.replace(record, partition=number, epoch=lease.epoch)
        await self._store.put_partition(record, owned.stamp())
        return owned
