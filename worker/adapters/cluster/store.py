"""The page store in Cassandra. What is older than what is there, by its stamp, changes nothing.

Reads and writes are at quorum. Where order matters to whoever reads beside or after a crash, it is kept here: bodies
before pages, index entries before what they lead to.
"""

from collections.abc import Sequence
from functools import partial
from typing import BinaryIO, Final, TypeVar

import msgspec
import xxhash

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
from gregor.worker.adapters.cluster.cassandra_client import Cassandra
from gregor.worker.adapters.cluster.coalesce import Coalesced
from gregor.worker.adapters.cluster.dropping import VERSIONS, drop_url
from gregor.worker.adapters.cluster.store_backlogs import Backlogs
from gregor.worker.adapters.cluster.store_calendar import Calendars
from gregor.worker.adapters.cluster.store_pages import Pages
from gregor.worker.adapters.compression import decoded
from gregor.worker.adapters.records import decode_row
from gregor.worker.borders.store import Entry

T = TypeVar("T", bound=msgspec.Struct)

HOST: Final = "SELECT data FROM hosts WHERE host = ?"
ROBOTS: Final = "SELECT data FROM robots WHERE origin = ?"
ROW: Final = "SELECT data FROM rows WHERE key = ?"
_ROWS: Final = "SELECT key, data FROM rows WHERE key IN ?"
PARTITION: Final = "SELECT data FROM partitions WHERE partition = ?"
_SEED_HOSTS: Final = "SELECT host FROM seed_hosts"
_PUT_ROW: Final = "INSERT INTO rows (key, host, state, data) VALUES (?, ?, ?, ?) USING TIMESTAMP ?"
_PUT_HOST: Final = "INSERT INTO hosts (host, data) VALUES (?, ?) USING TIMESTAMP ?"
PUT_PARTITION: Final = "INSERT INTO partitions (partition, data) VALUES (?, ?) USING TIMESTAMP ?"
_PUT_ROBOTS: Final = "INSERT INTO robots (origin, data) VALUES (?, ?) USING TIMESTAMP ?"
_DROP_LETTER: Final = "DELETE FROM dead_letters WHERE day = ? AND shard = ? AND id = ?"
PUT_LETTER: Final = "INSERT INTO dead_letters (day, shard, id, data) VALUES (?, ?, ?, ?)"
_PUT_SEED_HOST: Final = "INSERT INTO seed_hosts (shard, host) VALUES (?, ?)"
_SHARDS: Final = 16
# What a request costs the worker is shared by so many keys; beyond it the node that is asked gathers for too long.
_KEYS: Final = 16
_DAY: Final = 86400


class ClusterStore:
    """`PageStore`. ``retention``: seconds that page versions and bodies are kept; 0: for ever. ``robots_ahead``:
    seconds by which the stamps of robots.txt files are ahead of their dates."""

    def __init__(self, cassandra: Cassandra, retention: int = 0, robots_ahead: float = 0.0) -> None:
        self._cassandra = cassandra
        self._robots_ahead = robots_ahead
        self._pages = Pages(cassandra, retention)
        self._calendars = Calendars(cassandra)
        self._backlogs = Backlogs(cassandra)
        self._row = Coalesced(partial(read_rows, cassandra), _KEYS)

    async def rows(self, keys: Sequence[str]) -> list[Row | None]:
        return [await self._row.ask(keys[0])] if len(keys) == 1 else await read_rows(self._cassandra, keys)

    async def put_rows(self, rows: Sequence[Row], stamp: int) -> None:
        changes = [(_PUT_ROW, (row.key, row.host, row.state, encode(row), stamp)) for row in rows]
        await self._cassandra.write_at_once(changes)

    async def page(self, key: str, visit: int) -> Page | None:
        return await self._pages.page(key, visit)

    async def versions(self, key: str) -> list[int]:
        return sorted(visit for (visit,) in await self._cassandra.read(VERSIONS, (key,)))

    async def drop(self, key: str, stamp: int) -> None:
        await drop_url(self._cassandra, self._pages, key, stamp)

    async def put_page(self, page: Page, body: BinaryIO | None, wire: BinaryIO | None, stamp: int) -> None:
        await self._pages.put(page, body, wire, stamp)

    async def near(self, sketch: bytes, least: float) -> str | None:
        return await self._pages.near(sketch, least)

    async def buckets(self, partition: int, first: int, last: int, limit: int) -> list[int]:
        return await self._calendars.buckets(partition, first, last, limit)

    async def read_bucket(self, partition: int, bucket: int) -> list[Ticket]:
        return await self._calendars.read(partition, bucket)

    async def put_entries(self, partition: int, entries: Sequence[Entry], stamp: int) -> None:
        await self._calendars.put(partition, entries, stamp)

    async def drop_bucket(self, partition: int, bucket: int, stamp: int) -> None:
        await self._calendars.drop(partition, bucket, stamp)

    async def chunks(self, partition: int, host: str) -> list[int]:
        return await self._backlogs.chunks(partition, host)

    async def backlogs(self, partition: int) -> list[str]:
        return sorted({host async for host, _ in self._backlogs.all_chunks(partition)})

    async def read_chunk(self, partition: int, host: str, chunk: int) -> list[Ticket]:
        return await self._backlogs.read(partition, host, chunk)

    async def put_chunk(self, partition: int, host: str, chunk: int, tickets: Sequence[Ticket], stamp: int) -> None:
        await self._backlogs.put(partition, host, chunk, tickets, stamp)

    async def drop_chunk(self, partition: int, host: str, chunk: int, stamp: int) -> None:
        await self._backlogs.drop(partition, host, chunk, stamp)

    async def waiting(self, partition: int) -> bool:
        # The calendar again: a ticket may have gone there from a backlog between the two looks.
        return (
            await self._calendars.waiting(partition)
            or await self._backlogs.waiting(partition)
            or await self._calendars.waiting(partition)
        )

    async def partition(self, partition: int) -> PartitionRecord:
        return await read_one(self._cassandra, PARTITION, partition, PartitionRecord) or PartitionRecord(partition)

    async def put_partition(self, record: PartitionRecord, stamp: int) -> None:
        await self._cassandra.write(PUT_PARTITION, (record.partition, encode(record), stamp))
        await self._calendars.passed(record.partition, record.cursor, stamp)

    async def host(self, host: str) -> HostRecord | None:
        return await read_one(self._cassandra, HOST, host, HostRecord)

    async def put_host(self, record: HostRecord, stamp: int) -> None:
        await self._cassandra.write(_PUT_HOST, (record.host, encode(record), stamp))

    async def robots(self, origin: str) -> RobotsRecord | None:
        return await read_one(self._cassandra, ROBOTS, origin, RobotsRecord)

    async def put_robots(self, record: RobotsRecord, stamp: int) -> None:
        stamped = int((record.fetched_at + self._robots_ahead) * 1e6)
        await self._cassandra.write(_PUT_ROBOTS, (record.origin, encode(record), stamped))

    async def put_dead_letter(self, letter: DeadLetter) -> None:
        await self._cassandra.write(PUT_LETTER, (*place_of(letter), encode(letter)))

    async def drop_dead_letter(self, letter: DeadLetter) -> None:
        await self._cassandra.write(_DROP_LETTER, place_of(letter))

    async def seed_hosts(self) -> list[str]:
        return await read_seed_hosts(self._cassandra)

    async def add_seed_hosts(self, hosts: Sequence[str]) -> None:
        values = [(xxhash.xxh3_64_intdigest(host.encode()) % _SHARDS, host) for host in hosts]
        await self._cassandra.write_each(_PUT_SEED_HOST, values)

    async def close(self) -> None:
        await self._cassandra.close()


async def read_rows(cassandra: Cassandra, keys: Sequence[str]) -> list[Row | None]:
    """The row of each key."""
    if len(keys) == 1:
        records = await cassandra.find(ROW, (keys[0],))
        return [decode_row(keys[0], records[0][0]) if records else None]
    asked = [(keys[start : start + _KEYS],) for start in range(0, len(keys), _KEYS)]
    data_by_key = {key: data for rows in await cassandra.read_each(_ROWS, asked) for key, data in rows}
    return [decode_row(key, data_by_key[key]) if key in data_by_key else None for key in keys]


async def read_one(cassandra: Cassandra, statement: str, name: object, kind: type[T]) -> T | None:
    """The record that a statement finds by its name."""
    found = await cassandra.find(statement, (name,))
    return decoded(kind.__name__, str(name), lambda: decode(found[0][0], kind)) if found else None


async def read_seed_hosts(cassandra: Cassandra) -> list[str]:
    """The hosts of all seeds."""
    return [host for (host,) in await cassandra.read(_SEED_HOSTS)]


def place_of(letter: DeadLetter) -> tuple[int, int, int]:
    """Day, shard and name."""
    name = letter.id
    return int(letter.at) // _DAY, name % _SHARDS, name
