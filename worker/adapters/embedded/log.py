"""The frontier log in SQLite: a dense run of offsets for every partition and priority."""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec

from gregor.partitioner.hashing import partition_of
from gregor.schemas.messages import PRIORITIES, Changed, DeadLetter, Page, Ticket, decode_ticket, encode
from gregor.worker.adapters.embedded.database import Database
from gregor.worker.borders.log import FrontierRecord, Unreadable, Vanished

Topic = tuple[int, int]

# Finished records that one commit deletes of each topic: some 10 ms. What is left goes with the next commits.
_SLICE: Final = 5000


class EmbeddedLog:
    """`FrontierLog`. A commit of an older epoch than the one that is stored changes nothing."""

    def __init__(self, database: Database, partitions: int) -> None:
        self._database = database
        self._partitions = partitions
        self._ends: dict[Topic, int] = {}
        self._listeners: list[Callable[[int], None]] = []
        database.when_rolled_back(self._ends.clear)

    async def publish(self, tickets: Sequence[Ticket]) -> None:
        if not tickets:
            return
        records = [
            ((partition_of(ticket.host, self._partitions), ticket.priority), encode(ticket)) for ticket in tickets
        ]

        def append(connection: sqlite3.Connection) -> None:
            rows = []
            for topic, data in records:
                offset = self._end(connection, topic)
                self._ends[topic] = offset + 1
                rows.append((*topic, offset, data))
            connection.executemany("INSERT INTO records VALUES (?, ?, ?, ?)", rows)

        await self._database.write(append)
        for partition in {topic[0] for topic, _ in records}:
            for call in self._listeners:
                call(partition)

    async def announce(self, news: Page | DeadLetter | Vanished | Changed) -> None:
        """Nobody listens on one machine."""

    async def read(self, partition: int, priority: int, offset: int, limit: int) -> list[FrontierRecord]:
        rows = self._database.read(lambda connection: read_records(connection, partition, priority, offset, limit))
        return [_record(offset, data) for offset, data in rows]

    async def starts(self, partition: int) -> dict[int, int]:
        def starts(connection: sqlite3.Connection) -> dict[int, int]:
            return {priority: _watermark(connection, (partition, priority))[1] for priority in PRIORITIES}

        return self._database.read(starts)

    async def ends(self, partition: int) -> dict[int, int]:
        def ends(connection: sqlite3.Connection) -> dict[int, int]:
            return {priority: self._end(connection, (partition, priority)) for priority in PRIORITIES}

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
