"""The frontier log in SQLite: a dense run of offsets for every partition and priority."""

import asyncio
import contextlib
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Final

import msgspec

from gregor.partitioner.hashing import partition_of
from gregor.schemas.messages import PRIORITIES, Changed, DeadLetter, Page, Ticket, decode_ticket, encode
from gregor.worker.adapters.embedded.database import Database
from gregor.worker.base.pieces import PIECE, InPieces, with_pauses
from gregor.worker.borders.errors import Unavailable
from gregor.worker.borders.log import FrontierRecord, Unreadable, Vanished

Topic = tuple[int, int]
Record = tuple[Topic, bytes]

# Finished records that one commit deletes of each topic: some 10 ms. What is left goes with the next commits.
_SLICE: Final = 5000
_HEAR_SECONDS: Final = 0.1
_LAST_RECORDS: Final = "SELECT {}".format(
    ", ".join(
        f"(SELECT max(offset) FROM records WHERE partition = ?1 AND priority = {priority})" for priority in PRIORITIES
    )
)
"""The last records of a partition."""


class EmbeddedLog:
    """`FrontierLog`. A commit of an older epoch than the one that is stored changes nothing."""

    def __init__(self, database: Database, partitions: int) -> None:
        self._database = database
        self._partitions = partitions
        self._ends: dict[Topic, int] = {}
        self._last_known: dict[Topic, int] = {}  # offsets behind which nothing is known to be: news come when there is
        self._listeners: list[Callable[[int], None]] = []
        database.when_rolled_back(self._ends.clear)

    async def publish(self, tickets: Sequence[Ticket]) -> None:
        if not tickets:
            return
        records = await with_pauses(self.records_of(tickets))
        await self._database.write_with_pauses(lambda connection: with_pauses(self.append(connection, records)))
        self.appended(records)

    def records_of(self, tickets: Sequence[Ticket]) -> InPieces[list[Record]]:
        """What is appended of tickets."""
        partitions, records = self._partitions, list[Record]()
        for start in range(0, len(tickets), PIECE):
            if start:
                yield
            for ticket in tickets[start : start + PIECE]:
                records.append(((partition_of(ticket.host, partitions), ticket.priority), encode(ticket)))
        return records

    def append(self, connection: sqlite3.Connection, records: Sequence[Record]) -> InPieces[None]:
        """Part of a transaction; `appended` is to be called once it is committed."""
        for start in range(0, len(records), PIECE):
            if start:
                yield
            rows = []
            for topic, data in records[start : start + PIECE]:
                offset = self._end(connection, topic)
                self._ends[topic] = offset + 1
                rows.append((*topic, offset, data))
            connection.executemany("INSERT INTO records VALUES (?, ?, ?, ?)", rows)

    def appended(self, records: Sequence[Record]) -> None:
        """Tell who listens of records that are durable."""
        for topic in {topic for topic, _ in records} if self._last_known else ():
            self._last_known.pop(topic, None)
        for partition in {topic[0] for topic, _ in records}:
            for call in self._listeners:
                call(partition)

    async def announce(self, news: Page | DeadLetter | Vanished | Changed) -> None:
        """Nobody listens on one machine."""

    async def read(self, partition: int, priority: int, offset: int, limit: int) -> list[FrontierRecord]:
        if offset >= self._last_known.get((partition, priority), offset + 1):
            return []
        rows = self._database.read(lambda connection: read_records(connection, partition, priority, offset, limit))
        return [_record(offset, data) for offset, data in rows]

    async def starts(self, partition: int) -> dict[int, int]:
        def starts(connection: sqlite3.Connection) -> dict[int, int]:
            return {priority: _watermark(connection, (partition, priority))[1] for priority in PRIORITIES}

        return self._database.read(starts)

    async def ends(self, partition: int) -> dict[int, int]:
        end = _read_end if self._database.shared else self._end

        def ends(connection: sqlite3.Connection) -> dict[int, int]:
            return {priority: end(connection, (partition, priority)) for priority in PRIORITIES}

        return self._database.read(ends)

    async def committed(self, partition: int) -> dict[int, int]:
        return self._database.read(lambda connection: read_committed(connection, partition))

    async def commit(self, partition: int, watermarks: Mapping[int, int], epoch: int) -> None:
        wanted = dict(watermarks)

        def commit(connection: sqlite3.Connection) -> None:
            for priority, watermark in wanted.items():
                topic = (partition, priority)
                if watermark > self._end(connection, topic):
                    raise ValueError(f"watermark {watermark} is beyond the end of topic {topic}")
                stored = _watermark(connection, topic)
                _, start, stored_epoch = stored
                kept = max(start, min(watermark, start + _SLICE))
                if epoch >= stored_epoch and stored != (watermark, kept, epoch):  # of four topics one or two moved
                    connection.execute(
                        "DELETE FROM records WHERE partition = ? AND priority = ? AND offset < ?", (*topic, kept)
                    )
                    connection.execute(
                        "INSERT OR REPLACE INTO watermarks VALUES (?, ?, ?, ?, ?)", (*topic, watermark, kept, epoch)
                    )

        await self._database.write(commit)

    def on_news(self, call: Callable[[int], None]) -> None:
        self._listeners.append(call)

    async def hear(self, partitions: Callable[[], Iterable[int]]) -> None:
        """For ever: tell who listens of records that other processes appended to these partitions."""
        lasts: dict[int, tuple[int | None, ...]] = {}
        while True:
            await asyncio.sleep(_HEAR_SECONDS)
            owned = list(partitions())
            with contextlib.suppress(Unavailable):  # the next look comes at once
                for partition, last in zip(owned, self._database.read(partial(_last_records, owned)), strict=True):
                    if last != lasts.get(partition):
                        lasts[partition] = last
                        for priority, offset in zip(PRIORITIES, last, strict=True):
                            self._last_known[partition, priority] = 0 if offset is None else offset + 1
                        for call in self._listeners:
                            call(partition)

    async def close(self) -> None:
        """Nothing to do: the engine closes what its parts share."""

    def _end(self, connection: sqlite3.Connection, topic: Topic) -> int:
        end = self._ends.get(topic)
        if end is None:
            end = self._ends[topic] = _read_end(connection, topic)
        return end


def read_records(
    connection: sqlite3.Connection, partition: int, priority: int, offset: int, limit: int
) -> list[tuple[int, bytes]]:
    """Offsets and data of at most ``limit`` records from ``offset`` on."""
    return connection.execute(
        "SELECT offset, data FROM records WHERE partition = ? AND priority = ? AND offset >= ? ORDER BY offset LIMIT ?",
        (partition, priority, offset, limit),
    ).fetchall()


def read_committed(connection: sqlite3.Connection, partition: int) -> dict[int, int]:
    """The committed watermark of each priority."""
    return {priority: _watermark(connection, (partition, priority))[0] for priority in PRIORITIES}


def read_lag(connection: sqlite3.Connection, partition: int) -> int:
    """How many records lie beyond the watermarks: read off the ends, whatever their number."""
    topics = [(partition, priority) for priority in PRIORITIES]
    return sum(max(0, _read_end(connection, topic) - _watermark(connection, topic)[0]) for topic in topics)


def _read_end(connection: sqlite3.Connection, topic: Topic) -> int:
    """The offset after the last record."""
    (last,) = connection.execute(
        "SELECT max(offset) FROM records WHERE partition = ? AND priority = ?", topic
    ).fetchone()
    return _watermark(connection, topic)[1] if last is None else int(last) + 1


def _last_records(partitions: Sequence[int], connection: sqlite3.Connection) -> list[tuple[int | None, ...]]:
    """What `_LAST_RECORDS` gives of each."""
    return [connection.execute(_LAST_RECORDS, (partition,)).fetchone() for partition in partitions]


def _watermark(connection: sqlite3.Connection, topic: Topic) -> tuple[int, int, int]:
    """The committed watermark, the first offset that is not deleted, and the epoch of the last commit."""
    record = connection.execute(
        "SELECT committed, start, epoch FROM watermarks WHERE partition = ? AND priority = ?", topic
    ).fetchone()
    return record or (0, 0, 0)


def _record(offset: int, data: bytes) -> FrontierRecord:
    try:
        return FrontierRecord(offset, decode_ticket(data))
    except msgspec.MsgspecError as error:
        return FrontierRecord(offset, Unreadable(data, str(error)))
