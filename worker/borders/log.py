"""The border to the frontier log: unfinished URLs by partition, and the checkpoints."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import msgspec

from gregor.schemas.messages import (
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
