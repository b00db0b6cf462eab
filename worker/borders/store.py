"""The four borders between the crawl and what remembers it: log, seen set, store, coordinator.

Two engines implement them (worker/adapters/embedded, worker/adapters/cluster). Every method may raise `Unavailable`
when the service behind it is away for now: each may then be called again with the same arguments, because every effect
is idempotent. `stamp` is the write timestamp of the owner (epoch, counter): a write or delete with an older stamp than
what is there loses silently.
"""

from collections.abc import Sequence
from typing import BinaryIO, Protocol

import msgspec

from gregor.schemas.messages import (
    DeadLetter,
    HostRecord,
    Page,
    PartitionRecord,
    RobotsRecord,
    Row,
    Ticket,
)


class Entry(msgspec.Struct, frozen=True):
    """A calendar entry: a ticket in a bucket (a number of seconds since the epoch, divided by the bucket's width)."""

    bucket: int
    ticket: Ticket


class PageStore(Protocol):
    """Rows, pages, calendar, backlogs, host records, robots, dead letters. Written by the URL's owner only."""

    async def rows(self, keys: Sequence[str]) -> list[Row | None]: ...

    async def put_rows(self, rows: Sequence[Row], stamp: int) -> None: ...

    async def page(self, key: str, visit: int) -> Page | None: ...

    async def put_page(self, page: Page, body: BinaryIO | None, wire: BinaryIO | None, stamp: int) -> None:
        """Store a page with its links and, when given, its body and wire body under their sha256 (once each)."""

    async def near(self, simhash: int, distance: int) -> str | None:
        """The key of a stored page whose simhash is within ``distance`` (<= 3) bits."""

    async def buckets(self, partition: int, first: int, last: int, limit: int) -> list[int]:
        """The numbers of the non-empty buckets from ``first`` to ``last``, ascending."""

    async def read_bucket(self, partition: int, bucket: int) -> list[Ticket]: ...

    async def put_entries(self, partition: int, entries: Sequence[Entry], stamp: int) -> None: ...

    async def drop_bucket(self, partition: int, bucket: int, stamp: int) -> None:
        """Delete the entries of a bucket that were written before ``stamp``."""

    async def chunks(self, partition: int, host: str) -> list[int]:
        """The numbers of the chunks of a host's backlog, ascending."""

    async def backlogs(self, partition: int) -> list[str]:
        """All hosts of a partition that have a backlog."""

    async def read_chunk(self, partition: int, host: str, chunk: int) -> list[Ticket]: ...

    async def put_chunk(self, partition: int, host: str, chunk: int, tickets: Sequence[Ticket], stamp: int) -> None:
        """Append to a chunk."""

    async def drop_chunk(self, partition: int, host: str, chunk: int, stamp: int) -> None: ...

    async def waiting(self, partition: int) -> bool:
        """Whether the partition's calendar or a backlog holds anything."""

    async def partition(self, partition: int) -> PartitionRecord: ...

    async def put_partition(self, record: PartitionRecord, stamp: int) -> None: ...

    async def host(self, host: str) -> HostRecord | None: ...

    async def put_host(self, record: HostRecord, stamp: int) -> None: ...

    async def robots(self, origin: str) -> RobotsRecord | None: ...

    async def put_robots(self, record: RobotsRecord, stamp: int) -> None:
        """Stored by whoever fetched it: the newer ``fetched_at`` wins."""

    async def put_dead_letter(self, letter: DeadLetter) -> None: ...

    async def drop_dead_letter(self, letter: DeadLetter) -> None:
        """Forget a letter, as it was read; nothing when it is not there."""

    async def seed_hosts(self) -> list[str]:
        """The hosts of all seeds so far: what the scope is measured by."""

    async def add_seed_hosts(self, hosts: Sequence[str]) -> None: ...

    async def close(self) -> None: ...
