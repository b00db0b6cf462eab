"""The border of those who only read what the crawl remembers."""

from collections.abc import AsyncIterator, Callable
from typing import BinaryIO, Final, Protocol

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
from gregor.worker.borders.errors import Damaged


class Waiting(msgspec.Struct, frozen=True):
    """Where an unfinished ticket is: ``place`` is "log", "calendar" or "backlog"; ``due`` for the calendar."""

    ticket: Ticket
    place: str
    due: float = 0.0


class Part(msgspec.Struct, frozen=True):
    """One of several parts of equal size that are read apart, together all of it: the ``number``-th, from 0."""

    number: int = 0
    parts: int = 1

    def of(self, count: int) -> range:
        """Which of so many shares it has."""
        return range(self.number, count, self.parts)


WHOLE: Final = Part()
"""All of it."""


class Similar(msgspec.Struct, frozen=True):
    """A stored page whose simhash differs from the one asked for in ``apart`` bits."""

    key: str
    apart: int


def refuse(damage: Damaged) -> None:
    """What a reader does with damage when nobody else wants to hear of it."""
    raise damage


class Reader(Protocol):
    """What the reading commands ask, beside a running crawl or after it. No method needs all in memory.

    What is asked for by its name raises `Damaged` when it is not what was stored; what goes through many tells
    ``on_damage`` of each that is damaged, and goes on behind it.
    """

    on_damage: Callable[[Damaged], None]

    def rows(self, state: str | None, host: str | None, after: str = "") -> AsyncIterator[Row]:
        """In an order of the engine's that stays: behind the key ``after``, or all."""

    def partitions(self) -> AsyncIterator[PartitionRecord]:
        """The records of the partitions that were ever owned."""

    def pages(self, part: Part = WHOLE) -> AsyncIterator[Page]:
        """The newest version of every stored page, or of those of a part."""

    async def row(self, key: str) -> Row | None: ...

    async def page(self, key: str, visit: int | None = None) -> Page | None:
        """A version of a page, the newest by default."""

    async def body(self, sha256: str) -> BinaryIO | None:
        """A body from its beginning, compared with the sha256 that names it; None when it is not stored."""

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
