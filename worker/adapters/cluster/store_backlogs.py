"""Backlogs in Cassandra: chunks that are dropped whole, and an index of them as the calendar's (store_calendar.py)."""

from collections.abc import AsyncIterator, Sequence
from typing import Final

import xxhash

from gregor.schemas.messages import Ticket, encode
from gregor.worker.adapters.cluster.cassandra_client import Cassandra
from gregor.worker.adapters.cluster.store_calendar import tickets_of

# A billion waiting URLs are two million chunks; among 256 partitions that makes 2,000 of a shard.
_SHARDS: Final = 4

_PUT_CHUNK: Final = """INSERT INTO backlog_chunks (partition, shard, host, chunk) VALUES (?, ?, ?, ?)
    USING TIMESTAMP ?"""
_PUT_ENTRY: Final = "INSERT INTO backlog (partition, host, chunk, id, data) VALUES (?, ?, ?, ?, ?) USING TIMESTAMP ?"
_CHUNKS: Final = "SELECT chunk FROM backlog_chunks WHERE partition = ? AND shard = ? AND host = ?"
_ALL: Final = "SELECT host, chunk FROM backlog_chunks WHERE partition = ? AND shard = ?"
_ANY: Final = "SELECT chunk FROM backlog_chunks WHERE partition = ? AND shard = ? LIMIT 1"
_ENTRIES: Final = "SELECT id, data, writetime(data) FROM backlog WHERE partition = ? AND host = ? AND chunk = ?"
_DROP_ENTRIES: Final = "DELETE FROM backlog USING TIMESTAMP ? WHERE partition = ? AND host = ? AND chunk = ?"
_DROP_CHUNK: Final = """DELETE FROM backlog_chunks USING TIMESTAMP ?
    WHERE partition = ? AND shard = ? AND host = ? AND chunk = ?"""


class Backlogs:
    """The backlogs' part of `PageStore`."""

    def __init__(self, cassandra: Cassandra) -> None:
        self._cassandra = cassandra

    async def chunks(self, partition: int, host: str) -> list[int]:
        """See `PageStore.chunks`."""
        found = await self._cassandra.read(_CHUNKS, (partition, _shard(host), host))
        return [chunk for (chunk,) in found]

    async def all_chunks(self, partition: int) -> AsyncIterator[tuple[str, int]]:
        """Every chunk that is not empty: its host and number."""
        for shard in range(_SHARDS):
            async for page in self._cassandra.pages(_ALL, (partition, shard)):
                for host, chunk in page:
                    yield host, chunk

    async def all_chunks_together(self, partition: int, at_once: int) -> AsyncIterator[list[tuple[str, int]]]:
        """The same, so many at a time."""
        for shard in range(_SHARDS):
            async for page in self._cassandra.pages(_ALL, (partition, shard), size=at_once):
                yield list(page)

    async def read(self, partition: int, host: str, chunk: int) -> list[Ticket]:
        """The tickets of a chunk in the order of their stamps."""
        found = await self._cassandra.read(_ENTRIES, (partition, host, chunk))
        return tickets_of(found, f"of {host} in chunk {chunk} of partition {partition}")

    async def put(self, partition: int, host: str, chunk: int, tickets: Sequence[Ticket], stamp: int) -> None:
        """The index is there before the tickets."""
        if tickets:
            await self.index(partition, host, chunk, stamp)
            entries = [(partition, host, chunk, ticket.id, encode(ticket), stamp) for ticket in tickets]
            await self._cassandra.write_together(_PUT_ENTRY, entries)

    async def index(self, partition: int, host: str, chunk: int, stamp: int) -> None:
        """Let a chunk be found."""
        await self._cassandra.write(_PUT_CHUNK, (partition, _shard(host), host, chunk, stamp))

    async def drop(self, partition: int, host: str, chunk: int, stamp: int) -> None:
        """Delete what is older than ``stamp``; the index goes after the tickets."""
        await self._cassandra.write(_DROP_ENTRIES, (stamp - 1, partition, host, chunk))
        await self._cassandra.write(_DROP_CHUNK, (stamp - 1, partition, _shard(host), host, chunk))

    async def waiting(self, partition: int) -> bool:
        """Whether any host has a backlog."""
        return any(await self._cassandra.read_each(_ANY, [(partition, shard) for shard in range(_SHARDS)]))


def _shard(host: str) -> int:
    return xxhash.xxh3_64_intdigest(host.encode()) % _SHARDS
