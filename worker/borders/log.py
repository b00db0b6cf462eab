"""The border to the frontier log: unfinished URLs by partition, and the checkpoints."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import msgspec

from gregor.schemas.messages import (
    Changed,
    DeadLetter,
    Page,
    Ticket,
)


class RecordsLost(Exception):
    """The log no longer has records that it had acknowledged: it lost data. To be told to people, never passed over."""


class Unreadable(msgspec.Struct, frozen=True):
    """A frontier record that is no ticket: garbage, or a version that this worker does not know."""

    data: bytes
    error: str


class Vanished(msgspec.Struct, frozen=True):
    """A page is no longer there (404, 410). ``page``: its last version with the visit and time at which that was seen,
    its items as gone."""

    page: Page


class FrontierRecord(msgspec.Struct, frozen=True):
    """A frontier record as read: its offset in the topic of a priority, and its ticket."""

    offset: int
    ticket: Ticket | Unreadable


class FrontierLog(Protocol):
    """Unfinished URLs by partition, one append-only topic per priority (1 to 4), and the checkpoints.

    Partitions are numbered from 0. What answers by priority has an entry for each. All that waits may raise
    `Unavailable`, and may be called again with the same arguments.
    """

    async def publish(self, tickets: Sequence[Ticket]) -> None:
        """Append each to the topic of its priority, in the partition of its host; returns when all are durable.

        Those of one topic keep their order. After `Unavailable` some may be there, and called again they are there
        twice: whoever reads them finishes the second. Nothing for none. Raises `DiskFull`.
        """

    async def read(self, partition: int, priority: int, offset: int, limit: int) -> list[FrontierRecord]:
        """At most ``limit`` records from ``offset`` on, by offset, without waiting for new ones; [] if none is there.

        Offsets may have gaps. Below `starts` nothing can be read. Fewer than ``limit`` do not mean that the end was
        reached: `ends` says so. Raises `RecordsLost` when acknowledged records are gone.
        """

    async def starts(self, partition: int) -> dict[int, int]:
        """The first readable offset of each priority; where nothing is readable, that of `ends`."""

    async def ends(self, partition: int) -> dict[int, int]:
        """The offset after the last record of each priority; 0 where none was ever published."""

    async def committed(self, partition: int) -> dict[int, int]:
        """The committed watermark of each priority; 0 where none was committed."""

    async def commit(self, partition: int, watermarks: Mapping[int, int], epoch: int) -> None:
        """Commit watermarks (all records below are finished), by priority, and drop records below them when convenient.

        Priorities that are not named keep theirs. One of an older epoch than was committed before changes nothing; the
        same again changes nothing.
        """

    async def announce(self, news: Page | DeadLetter | Vanished | Changed) -> None:
        """Tell downstream consumers, if the engine has any; durable when it returns. They may hear it again.

        Of a page its items as well, each by itself.

        What is told of one host stays in order.
        """

    def on_news(self, call: Callable[[int], None]) -> None:
        """``call(partition)`` on the event loop when records may have arrived: a hint, maybe late or for nothing.

        Adds to those that are called already. ``call`` may not raise.
        """

    async def close(self) -> None:
        """Send what was published and end. Nothing else may be called afterwards, but this again."""
