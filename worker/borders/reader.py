"""The border of those who only read what the crawl remembers."""

from collections.abc import AsyncIterator, Sequence
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
from gregor.worker.borders.errors import Damaged, TellDamage


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
    """A stored page, and the estimated share of runs of letters that its text has in common with the one asked for."""

    key: str
    share: float


def refuse(damage: Damaged) -> None:
    """What a reader does with damage when nobody else wants to hear of it."""
    raise damage


class Reader(Protocol):
    """What the reading commands ask, beside a running crawl or after it. No method needs all in memory.

    Nothing is written, so that every call bears being repeated; each may raise `Unavailable`, iterators while they are
    read. What changes meanwhile is seen or not, and never twice in one iteration.

    What is asked for by its name raises `Damaged` when it is not what was stored; what goes through many tells
    ``on_damage`` of each that is damaged, and goes on behind it.
    """

    on_damage: TellDamage

    def rows(self, state: str | None, host: str | None, after: str = "") -> AsyncIterator[Row]:
        """Those of a state and a host, None: of any, in an order of the engine's that stays.

        Behind the key ``after``, which need not be there; all for "".
        """

    def partitions(self) -> AsyncIterator[PartitionRecord]:
        """The records of the partitions that were ever owned, in no order."""

    def pages(self, part: Part = WHOLE, *, versions: bool = False) -> AsyncIterator[Page]:
        """The newest version of every stored page, or of those of a part, in an order of the engine's that stays.

        With ``versions`` all versions, in no order.
        """

    async def row(self, key: str) -> Row | None:
        """The row of a URL; None before its first visit was settled or planned."""

    async def rows_of(self, keys: Sequence[str]) -> dict[str, Row]:
        """The rows of these URLs, by key, without those that are not there; ``on_damage`` hears of damaged ones."""

    async def page(self, key: str, visit: int | None = None) -> Page | None:
        """A version of a page, the newest by default; None if none is kept."""

    async def body(self, sha256: str) -> BinaryIO | None:
        """A body by its sha256 (hex), which it is compared with; from its beginning, to be closed by the caller.

        None if it is not kept.
        """

    async def small_bodies(self, names: Sequence[str]) -> dict[str, bytes]:
        """Those of these bodies (sha256, hex) that are small, there and whole, by name; each is small or not for ever.

        In one question, for whoever reads many; `body` has the others, and says what is wrong with them.
        """

    async def similar(self, sketch: bytes, least: float, limit: int) -> list[Similar]:
        """Stored pages whose texts share at least so much with that of a sketch, the likest first; no exact duplicates.

        At most ``limit``; [] if none is near.
        """

    async def find(self, key: str, host: str) -> list[Waiting]:
        """The unfinished tickets of one URL of a host, each place that has one; in no order, [] if none waits."""

    def waiting(self) -> AsyncIterator[Waiting]:
        """All unfinished tickets, one for each URL that waits for a visit, in no order."""

    def dead_letters(self) -> AsyncIterator[DeadLetter]:
        """All letters, in an order of the engine's that stays."""

    async def robots(self, origin: str) -> RobotsRecord | None:
        """The robots.txt of an asking origin; None if it was never asked for."""

    def all_robots(self) -> AsyncIterator[RobotsRecord]:
        """The record of every origin whose robots.txt was asked for, in no order."""

    async def host(self, host: str) -> HostRecord | None:
        """What is kept of a host; None before its first request."""

    async def seed_hosts(self) -> list[str]:
        """The hosts of all seeds, each once, in no order: what the scope is measured by."""

    async def close(self) -> None:
        """End what it reads with. Nothing else may be called afterwards, but this again."""
