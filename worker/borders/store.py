"""The border to the store; and what holds for all four borders between the crawl and what remembers it.

Log, seen set, store and coordinator are implemented by two engines (worker/adapters/embedded, worker/adapters/cluster).
Every method may raise `Unavailable` when the service behind it is away for now: each may then be called again with the
same arguments, because every effect is idempotent. `stamp` is the write timestamp of the owner (epoch, counter): a
write or delete with an older stamp than what is there loses silently.
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
    """Rows, pages, calendar, backlogs, host records, robots, dead letters. Written by the URL's owner only.

    What is written is durable, and read by whoever asks afterwards, when the call returns. A call with nothing to write
    does nothing; one that comes again changes nothing. Writing raises `DiskFull`, too.
    """

    async def rows(self, keys: Sequence[str]) -> list[Row | None]:
        """The row of each key, in the order asked; None for a URL without one. [] for none."""

    async def put_rows(self, rows: Sequence[Row], stamp: int) -> None:
        """Replace the rows of their keys. After `Unavailable` some may be written."""

    async def page(self, key: str, visit: int) -> Page | None:
        """The version that a visit stored; None if it stored none, or it is not kept any more."""

    async def versions(self, key: str) -> list[int]:
        """The visits that stored a version of a page that is kept, ascending; [] for none."""

    async def drop(self, key: str, stamp: int) -> None:
        """Delete all versions of a page, what finds it, and its row; its bodies are noted, since they may be nobody's.

        Nothing that was written with a higher ``stamp``. The row goes last: whatever is cut short is done again.
        """

    async def put_page(self, page: Page, body: BinaryIO | None, wire: BinaryIO | None, stamp: int) -> None:
        """Store a page with its links and, when given, its body and wire body under their sha256 (once each).

        The page can be read only once its bodies can. Both streams are read from where they stand and left open: to
        call again, set them back.
        """

    async def near(self, sketch: bytes, least: float) -> str | None:
        """The key of a stored page whose text shares at least so much with that of a sketch, as both sketches have it.

        The likest of those that are looked at; None without. It may miss some.
        """

    async def buckets(self, partition: int, first: int, last: int, limit: int) -> list[int]:
        """The numbers of the non-empty buckets from ``first`` to ``last``, both included, ascending.

        The lowest ``limit`` of them; [] if all are empty.
        """

    async def read_bucket(self, partition: int, bucket: int) -> list[Ticket]:
        """The tickets of a bucket, by stamp and then by `Ticket.id`; [] if it is empty."""

    async def put_entries(self, partition: int, entries: Sequence[Entry], stamp: int) -> None:
        """Add entries; one whose `Ticket.id` is in its bucket replaces that. After `Unavailable` some may be there."""

    async def drop_bucket(self, partition: int, bucket: int, stamp: int) -> None:
        """Delete the entries of a bucket that were written before ``stamp``; nothing if none is there."""

    async def chunks(self, partition: int, host: str) -> list[int]:
        """The numbers of the chunks of a host's backlog, ascending; [] without a backlog."""

    async def backlogs(self, partition: int) -> list[str]:
        """All hosts of a partition that have a backlog, each once, in no order."""

    async def read_chunk(self, partition: int, host: str, chunk: int) -> list[Ticket]:
        """The tickets of a chunk, by stamp and then by `Ticket.id`; [] if it is not there."""

    async def put_chunk(self, partition: int, host: str, chunk: int, tickets: Sequence[Ticket], stamp: int) -> None:
        """Append to a chunk, made if need be; a ticket whose `Ticket.id` is there replaces that.

        After `Unavailable` some may be there.
        """

    async def drop_chunk(self, partition: int, host: str, chunk: int, stamp: int) -> None:
        """Delete the tickets of a chunk that were written before ``stamp``; nothing if none is there."""

    async def waiting(self, partition: int) -> bool:
        """Whether the partition's calendar or a backlog holds anything.

        What moves from one to the other meanwhile counts.
        """

    async def partition(self, partition: int) -> PartitionRecord:
        """What survives of a partition; an empty record before it was ever owned."""

    async def put_partition(self, record: PartitionRecord, stamp: int) -> None:
        """Replace it."""

    async def host(self, host: str) -> HostRecord | None:
        """What is kept of a host; None before its first request."""

    async def put_host(self, record: HostRecord, stamp: int) -> None:
        """Replace it."""

    async def robots(self, origin: str) -> RobotsRecord | None:
        """The robots.txt of an asking origin; None before it was asked for."""

    async def put_robots(self, record: RobotsRecord, stamp: int) -> None:
        """Stored by whoever fetched it, owner or not: the newer ``fetched_at`` wins, whatever the stamps."""

    async def put_dead_letter(self, letter: DeadLetter) -> None:
        """Add a letter, named by its content; the same again adds nothing."""

    async def drop_dead_letter(self, letter: DeadLetter) -> None:
        """Forget a letter, as it was read; nothing when it is not there."""

    async def seed_hosts(self) -> list[str]:
        """The hosts of all seeds so far, each once, in no order: what the scope is measured by."""

    async def add_seed_hosts(self, hosts: Sequence[str]) -> None:
        """Add to them; those that are there already change nothing. Whoever seeds calls it, not the owner alone."""

    async def close(self) -> None:
        """End. Nothing else may be called afterwards, but this again."""
