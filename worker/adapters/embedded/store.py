"""The page store in SQLite. What is older than what is there, by its stamp, changes nothing."""

import asyncio
import sqlite3
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import BinaryIO, Final, TypeVar

import msgspec

from gregor.schemas.messages import (
    DeadLetter,
    HostRecord,
    Page,
    PartitionRecord,
    RobotsRecord,
    Row,
    Ticket,
    decode_ticket,
    encode,
)
from gregor.worker.adapters.compression import Compressor, decoded
from gregor.worker.adapters.embedded import requisites, sketches
from gregor.worker.adapters.embedded.bodies import Bodies
from gregor.worker.adapters.embedded.database import Database
from gregor.worker.adapters.embedded.dropping import drop_url
from gregor.worker.adapters.embedded.queries import HOST, ROBOTS, read_one, read_page, read_rows
from gregor.worker.borders.store import Entry

T = TypeVar("T", bound=msgspec.Struct)
SmallBodies = list[tuple[str, bytes]]
"""Bodies, compressed, with their sha256 before them."""

_PUT_ROW: Final = """INSERT INTO rows VALUES (?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE
    SET stamp = excluded.stamp, host = excluded.host, state = excluded.state, data = excluded.data
    WHERE excluded.stamp >= stamp"""
_PUT_PAGE: Final = """INSERT INTO pages VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (key, visit) DO UPDATE
    SET stamp = excluded.stamp, status = excluded.status, size = excluded.size, data = excluded.data
    WHERE excluded.stamp >= stamp"""
_PUT_ENTRY: Final = """INSERT INTO calendar VALUES (?, ?, ?, ?, ?) ON CONFLICT (partition, bucket, id) DO UPDATE
    SET stamp = excluded.stamp, data = excluded.data WHERE excluded.stamp >= stamp"""
_PUT_BACKLOG: Final = """INSERT INTO backlog VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (partition, host, chunk, id)
    DO UPDATE SET stamp = excluded.stamp, data = excluded.data WHERE excluded.stamp >= stamp"""
_PUT_PARTITION: Final = """INSERT INTO partitions VALUES (?, ?, ?) ON CONFLICT (partition) DO UPDATE
    SET stamp = excluded.stamp, data = excluded.data WHERE excluded.stamp >= stamp"""
_PUT_HOST: Final = """INSERT INTO hosts VALUES (?, ?, ?) ON CONFLICT (host) DO UPDATE
    SET stamp = excluded.stamp, data = excluded.data WHERE excluded.stamp >= stamp"""
_PUT_ROBOTS: Final = """INSERT INTO robots VALUES (?, ?, ?) ON CONFLICT (origin) DO UPDATE
    SET fetched_at = excluded.fetched_at, data = excluded.data WHERE excluded.fetched_at >= fetched_at"""

# Each number is found by one search in the index, however many entries lie between two of them.
_BUCKETS: Final = """WITH RECURSIVE found (number) AS (
        SELECT min(bucket) FROM calendar WHERE partition = ?1 AND bucket >= ?2
        UNION ALL
        SELECT (SELECT min(bucket) FROM calendar WHERE partition = ?1 AND bucket > number) FROM found
        WHERE number IS NOT NULL)
    SELECT number FROM found WHERE number <= ?3 LIMIT ?4"""
_CHUNKS: Final = """WITH RECURSIVE found (number) AS (
        SELECT min(chunk) FROM backlog WHERE partition = ?1 AND host = ?2
        UNION ALL
        SELECT (SELECT min(chunk) FROM backlog WHERE partition = ?1 AND host = ?2 AND chunk > number) FROM found
        WHERE number IS NOT NULL)
    SELECT number FROM found WHERE number IS NOT NULL"""

LARGE: Final = 1 << 18
"""Bytes of a page's record from which on its compression would hold the event loop for milliseconds."""


class EmbeddedStore:
    """`PageStore`."""

    def __init__(self, database: Database, folder: Path) -> None:
        self._database = database
        self._bodies = Bodies(folder)
        self._compressor = Compressor()

    async def rows(self, keys: Sequence[str]) -> list[Row | None]:
        wanted = list(keys)
        found = self._database.read(lambda connection: read_rows(connection, wanted))
        return [found.get(key) for key in wanted]

    async def put_rows(self, rows: Sequence[Row], stamp: int) -> None:
        if rows:
            await self._database.write(lambda connection: insert_rows(connection, rows, stamp))

    async def page(self, key: str, visit: int) -> Page | None:
        return self._database.read(lambda connection: read_page(connection, key, visit))

    async def versions(self, key: str) -> list[int]:
        return await self._numbers("SELECT visit FROM pages WHERE key = ? ORDER BY visit", (key,))

    async def drop(self, key: str, stamp: int) -> None:
        await self._database.write(lambda connection: drop_url(connection, key, stamp))

    async def put_page(self, page: Page, body: BinaryIO | None, wire: BinaryIO | None, stamp: int) -> None:
        bodies, packed = await self.put_large(page, body, wire), await self.packed(page)
        await self._database.write(lambda connection: self.insert_page(connection, page, packed, bodies, stamp))

    async def packed(self, page: Page) -> bytes:
        """The record of a page as it is stored; that of a large one is compressed beside the event loop."""
        record = encode(page)
        if len(record) < LARGE:
            return self._compressor.compress(record)
        return await asyncio.to_thread(lambda: Compressor().compress(record))

    async def put_large(self, page: Page, body: BinaryIO | None, wire: BinaryIO | None) -> SmallBodies:
        """Store what is large of the bodies of a page; the others are given, for `insert_page`."""
        small: SmallBodies = []
        for sha256, stream in ((page.body, body), (page.wire, wire)):
            if stream is not None and (data := await self._bodies.put_large(sha256, stream)) is not None:
                small.append((sha256, data))
        return small

    def insert_page(
        self, connection: sqlite3.Connection, page: Page, packed: bytes, bodies: SmallBodies, stamp: int
    ) -> None:
        """Part of a transaction: a page, of which ``packed`` is the record, with its small bodies."""
        for sha256, data in bodies:
            self._bodies.put_small(connection, sha256, data)
        sketches.put(connection, page)
        values = (page.key, page.visit, stamp, page.status, page.size, packed)
        connection.execute(_PUT_PAGE, values)
        requisites.mark(connection, page, stamp)

    async def near(self, sketch: bytes, least: float) -> str | None:
        return self._database.read(lambda connection: sketches.near(connection, sketch, least))

    async def buckets(self, partition: int, first: int, last: int, limit: int) -> list[int]:
        return await self._numbers(_BUCKETS, (partition, first, last, limit))

    async def read_bucket(self, partition: int, bucket: int) -> list[Ticket]:
        return await self._tickets(
            "SELECT data FROM calendar WHERE partition = ? AND bucket = ? ORDER BY stamp, id", (partition, bucket)
        )

    async def put_entries(self, partition: int, entries: Sequence[Entry], stamp: int) -> None:
        if entries:
            await self._database.write(lambda connection: insert_entries(connection, partition, entries, stamp))

    async def drop_bucket(self, partition: int, bucket: int, stamp: int) -> None:
        await self._put(
            "DELETE FROM calendar WHERE partition = ? AND bucket = ? AND stamp < ?", [(partition, bucket, stamp)]
        )

    async def chunks(self, partition: int, host: str) -> list[int]:
        return await self._numbers(_CHUNKS, (partition, host))

    async def backlogs(self, partition: int) -> list[str]:
        statement = "SELECT DISTINCT host FROM backlog WHERE partition = ?"
        return [host for (host,) in self._database.read(lambda c: c.execute(statement, (partition,)).fetchall())]

    async def read_chunk(self, partition: int, host: str, chunk: int) -> list[Ticket]:
        return await self._tickets(
            "SELECT data FROM backlog WHERE partition = ? AND host = ? AND chunk = ? ORDER BY stamp, id",
            (partition, host, chunk),
        )

    async def put_chunk(self, partition: int, host: str, chunk: int, tickets: Sequence[Ticket], stamp: int) -> None:
        await self._put(
            _PUT_BACKLOG, [(partition, host, chunk, ticket.id, stamp, encode(ticket)) for ticket in tickets]
        )

    async def drop_chunk(self, partition: int, host: str, chunk: int, stamp: int) -> None:
        await self._put(
            "DELETE FROM backlog WHERE partition = ? AND host = ? AND chunk = ? AND stamp < ?",
            [(partition, host, chunk, stamp)],
        )

    async def waiting(self, partition: int) -> bool:
        def waiting(connection: sqlite3.Connection) -> bool:
            exists = connection.execute(
                "SELECT EXISTS (SELECT 1 FROM calendar WHERE partition = ?1)"
                " OR EXISTS (SELECT 1 FROM backlog WHERE partition = ?1)",
                (partition,),
            ).fetchone()
            return bool(exists[0])

        return self._database.read(waiting)

    async def partition(self, partition: int) -> PartitionRecord:
        found = await self._read_one("SELECT data FROM partitions WHERE partition = ?", partition, PartitionRecord)
        return found or PartitionRecord(partition)

    async def put_partition(self, record: PartitionRecord, stamp: int) -> None:
        await self._put(_PUT_PARTITION, [(record.partition, stamp, encode(record))])

    async def host(self, host: str) -> HostRecord | None:
        return await self._read_one(HOST, host, HostRecord)

    async def put_host(self, record: HostRecord, stamp: int) -> None:
        await self._put(_PUT_HOST, [(record.host, stamp, encode(record))])

    async def robots(self, origin: str) -> RobotsRecord | None:
        return await self._read_one(ROBOTS, origin, RobotsRecord)

    async def put_robots(self, record: RobotsRecord, stamp: int) -> None:
        await self._put(_PUT_ROBOTS, [(record.origin, record.fetched_at, encode(record))])

    async def put_dead_letter(self, letter: DeadLetter) -> None:
        await self._database.write(lambda connection: insert_letter(connection, letter))

    async def drop_dead_letter(self, letter: DeadLetter) -> None:
        await self._database.write(lambda c: c.execute("DELETE FROM dead_letters WHERE id = ?", (letter.id,)) and None)

    async def seed_hosts(self) -> list[str]:
        rows = self._database.read(lambda c: c.execute("SELECT host FROM seed_hosts").fetchall())
        return [host for (host,) in rows]

    async def add_seed_hosts(self, hosts: Sequence[str]) -> None:
        await self._put("INSERT OR IGNORE INTO seed_hosts VALUES (?)", [(host,) for host in hosts])

    async def close(self) -> None:
        """Nothing to do: the engine closes what its parts share."""

    async def _put(self, statement: str, rows: Sequence[tuple[object, ...]]) -> None:
        if rows:
            await self._database.write(lambda connection: _execute(connection, statement, rows))

    async def _read_one(self, statement: str, name: object, kind: type[T]) -> T | None:
        return self._database.read(lambda connection: read_one(connection, statement, name, kind))

    async def _numbers(self, statement: str, values: tuple[object, ...]) -> list[int]:
        def numbers(connection: sqlite3.Connection) -> list[int]:
            return [number for (number,) in connection.execute(statement, values)]

        return self._database.read(numbers)

    async def _tickets(self, statement: str, values: tuple[object, ...]) -> list[Ticket]:
        def tickets(connection: sqlite3.Connection) -> list[bytes]:
            return [data for (data,) in connection.execute(statement, values)]

        where = f"in {' '.join(map(str, values))}"
        return [decoded("entry", where, partial(decode_ticket, data)) for data in self._database.read(tickets)]


def insert_rows(connection: sqlite3.Connection, rows: Sequence[Row], stamp: int) -> None:
    """Part of a transaction."""
    connection.executemany(_PUT_ROW, [(row.key, stamp, row.host, row.state, encode(row)) for row in rows])
    requisites.unmark(connection, rows, stamp)


def insert_entries(connection: sqlite3.Connection, partition: int, entries: Sequence[Entry], stamp: int) -> None:
    """Part of a transaction."""
    records = [(partition, entry.bucket, entry.ticket.id, stamp, encode(entry.ticket)) for entry in entries]
    connection.executemany(_PUT_ENTRY, records)


def insert_letter(connection: sqlite3.Connection, letter: DeadLetter) -> None:
    """Part of a transaction. A repeated write adds nothing."""
    connection.execute("INSERT OR IGNORE INTO dead_letters (id, data) VALUES (?, ?)", (letter.id, encode(letter)))


def _execute(connection: sqlite3.Connection, statement: str, rows: Sequence[tuple[object, ...]]) -> None:
    connection.executemany(statement, rows)
