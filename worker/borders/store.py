"""The four borders between the crawl and what remembers it: log, seen set, store, coordinator.

Two engines implement them (worker/adapters/embedded, worker/adapters/cluster). Every method may raise `Unavailable`
when the service behind it is away for now: each may then be called again with the same arguments, because every effect
is idempotent. `stamp` is the write timestamp of the owner (epoch, counter): a write or delete with an older stamp than
what is there loses silently.
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
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
from gregor.worker.orders.model import Change, Orders


class Unavailable(Exception):
    """A service is away or did not answer in time; the call may or may not have taken effect. Names the service."""

    def __init__(self, service: str, detail: str) -> None:
        super().__init__(f"{service} is unavailable: {detail}")
        self.service = service


class RecordsLost(Exception):
    """The log no longer has records that it had acknowledged: it lost data. To be told to people, never passed over."""


class DiskFull(Exception):
    """No space is left where the crawl writes: it must stop cleanly; nothing is lost."""


class Clock(Protocol):
    """Time. Tests pass a virtual one."""

    def monotonic(self) -> float:
        """Seconds that go on while the machine is suspended (CLOCK_BOOTTIME)."""

    def wall(self) -> float:
        """Unix seconds; may jump. Only the coordinator's stamp and what people read use it."""


class Unreadable(msgspec.Struct, frozen=True):
    """A frontier record that is no ticket: garbage, or a version that this worker does not know."""

    data: bytes
    error: str


class Record(msgspec.Struct, frozen=True):
    """A frontier record as read: its offset in the topic of a priority, and its ticket."""

    offset: int
    ticket: Ticket | Unreadable


class FrontierLog(Protocol):
    """Unfinished URLs by partition, one append-only topic per priority (1 to 4), and the checkpoints."""

    async def publish(self, tickets: Sequence[Ticket]) -> None:
        """Append each to the topic of its priority, in the partition of its host; returns when all are durable."""

    async def read(self, partition: int, priority: int, offset: int, limit: int) -> list[Record]:
        """At most ``limit`` records from ``offset`` on, in order, without waiting for new ones."""

    async def starts(self, partition: int) -> dict[int, int]:
        """The first readable offset of each priority."""

    async def ends(self, partition: int) -> dict[int, int]:
        """The offset after the last record of each priority."""

    async def committed(self, partition: int) -> dict[int, int]:
        """The committed watermark of each priority; 0 where none was committed."""

    async def commit(self, partition: int, watermarks: Mapping[int, int], epoch: int) -> None:
        """Commit watermarks (all records below are finished), and drop records below them when convenient."""

    async def announce(self, told: Page | DeadLetter) -> None:
        """Tell downstream consumers, if the engine has any; durable when it returns. They may hear it again."""

    def on_news(self, call: Callable[[int], None]) -> None:
        """``call(partition)`` on the event loop when records may have arrived: a hint, maybe late or for nothing."""

    async def close(self) -> None: ...


class SeenSet(Protocol):
    """A filter of URLs that have a row or an entry, and the owners of content fingerprints."""

    async def seen(self, fingerprints: Sequence[int]) -> list[bool]: ...

    async def mark(self, fingerprints: Sequence[int]) -> None: ...

    async def content(self, fingerprint: bytes) -> str | None:
        """The key of the page that owns this content."""

    async def claim(self, fingerprint: bytes, key: str) -> str:
        """Set if absent; the key that owns the content now. Only for a page that is stored; it owns while it lasts."""

    async def close(self) -> None: ...


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


class Waiting(msgspec.Struct, frozen=True):
    """Where an unfinished ticket is: ``place`` is "log", "calendar" or "backlog"; ``due`` for the calendar."""

    ticket: Ticket
    place: str
    due: float = 0.0


class Similar(msgspec.Struct, frozen=True):
    """A stored page whose simhash differs from the one asked for in ``apart`` bits."""

    key: str
    apart: int


class Reader(Protocol):
    """What the reading commands ask, beside a running crawl or after it. No method needs all in memory."""

    def rows(self, state: str | None, host: str | None, after: str = "") -> AsyncIterator[Row]:
        """In an order of the engine's that stays: behind the key ``after``, or all."""

    def partitions(self) -> AsyncIterator[PartitionRecord]:
        """The records of the partitions that were ever owned."""

    def pages(self) -> AsyncIterator[Page]:
        """The newest version of every stored page."""

    async def row(self, key: str) -> Row | None: ...

    async def page(self, key: str, visit: int | None = None) -> Page | None:
        """A version of a page, the newest by default."""

    async def body(self, sha256: str) -> BinaryIO | None: ...

    async def similar(self, simhash: int, distance: int, limit: int) -> list[Similar]:
        """Stored pages whose simhash is within ``distance`` (<= 3) bits, the nearest first; one for each simhash."""

    async def find(self, key: str, host: str) -> list[Waiting]: ...

    def waiting(self) -> AsyncIterator[Waiting]: ...

    def dead_letters(self) -> AsyncIterator[DeadLetter]: ...

    async def robots(self, origin: str) -> RobotsRecord | None: ...

    async def host(self, host: str) -> HostRecord | None: ...

    async def seed_hosts(self) -> list[str]:
        """The hosts of all seeds, which the scope is measured by."""

    async def counts(self) -> dict[str, int]:
        """URLs by state, "waiting" included; "pages_200", "pages" and "bytes" beside them."""

    async def close(self) -> None: ...


class Lease(Protocol):
    """The permission to own a partition, until a moment that may move; a session's end ends all its leases."""

    @property
    def partition(self) -> int: ...

    @property
    def epoch(self) -> int: ...

    @property
    def taken_at(self) -> float:
        """The coordinator's time of the takeover."""

    def holds(self) -> bool:
        """Whether it certainly holds now, by the worker's own clock, without asking anyone."""


class OrderBook(Protocol):
    """The operator's orders, and the record of changes."""

    def now(self) -> float:
        """Unix seconds: the coordinator's stamp plus own elapsed monotonic time. Never jumps."""

    def orders(self) -> Orders: ...

    async def change_orders(self, change: Callable[[Orders], Orders]) -> Orders:
        """Replace the standing orders by what ``change`` makes of them, as one step; the orders from then on.

        ``change`` may be called more than once, on another thread, and changes nothing else; what it raises is raised.
        """

    async def changes(self, before: int, limit: int) -> list[Change]:
        """The record of changes: at most ``limit`` with a number below ``before``, the newest first."""


class Coordinator(OrderBook, Protocol):
    """Who owns which partition, and what was ordered."""

    async def join(self) -> None:
        """Become a live member; again after a lost session."""

    def wanted(self) -> frozenset[int]:
        """The partitions that this worker should own now."""

    async def changed(self) -> None:
        """Return when wanted(), the orders or the validity of a lease may have changed."""

    async def acquire(self, partition: int, above: int) -> Lease | None:
        """Take a partition that nobody owns, with an epoch greater than ``above``; None while another holds it."""

    async def release(self, lease: Lease) -> None: ...

    async def leave(self) -> None:
        """Stop being a member; releases nothing that was not released."""

    async def close(self) -> None: ...
