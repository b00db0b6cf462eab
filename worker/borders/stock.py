"""The border of those who verify all that a crawl stored: every record as it stands, whole or not."""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import msgspec

from gregor.schemas.messages import Page, Row, Ticket

T = TypeVar("T")
StockPlace = tuple[str | int, ...]
"""The table and the columns that name a record in it."""


@dataclass(frozen=True, slots=True)
class StoredRecord(Generic[T]):
    """A record where it stands: what was read there, or None and why it cannot be."""

    place: StockPlace
    value: T | None
    why: str = ""


class Fault(msgspec.Struct, frozen=True):
    """What an engine finds wrong by its own means. ``mend``: what `Stock.mend` does about it, empty for nothing."""

    place: StockPlace
    why: str
    mend: str = ""


class Stock(Protocol):
    """All that one crawl has stored, a slice at a time; every method may raise `Unavailable`, iterators while they are
    read, and bears being repeated.

    What goes through all of a table gives each record once, in no order, and never ends at a damaged one; it gives
    nothing for an empty table. What changes meanwhile is seen or not.
    """

    def rows(self) -> AsyncIterator[list[StoredRecord[Row]]]:
        """Place: rows, key."""

    def pages(self) -> AsyncIterator[list[StoredRecord[Page]]]:
        """Every version. Place: pages, key, visit."""

    def bodies(self) -> AsyncIterator[list[StoredRecord[str]]]:
        """The sha256 of each stored body that is whole. Place: bodies, sha256 in hexadecimal digits."""

    def waiting(self) -> AsyncIterator[list[StoredRecord[Ticket]]]:
        """Unfinished tickets. Place: calendar, partition, bucket, id; backlog, partition, host, chunk, id; or log,
        partition, priority, offset."""

    def others(self) -> AsyncIterator[list[StoredRecord[object]]]:
        """Records of hosts, partitions, robots.txt files and dead letters. Place: the table, its name."""

    def faults(self) -> AsyncIterator[Fault]:
        """What the engine finds wrong by its own means; nothing where it has none."""

    async def unseen(self, fingerprints: Sequence[int]) -> list[int]:
        """Which of these the seen set does not know, in the order asked; [] for none."""

    async def loose(self, names: Sequence[str]) -> set[str]:
        """Which of these bodies (sha256 in hexadecimal digits) were left by pages that were dropped, and go by
        themselves."""

    async def unfinished(self, key: str, host: str) -> bool:
        """Whether a ticket of a URL waits anywhere, looked for at this moment."""

    async def row(self, key: str) -> Row | None:
        """A row at this moment; None when there is none that can be read."""

    async def sizes(self) -> dict[str, int]:
        """About how many records there are of "rows", "pages" and "bodies"; without what is not known at once."""

    async def close(self) -> None:
        """End. Nothing else may be called afterwards, but this again."""


class Sets(Protocol):
    """Two sets of 64-bit numbers that need not fit into memory."""

    def left(self, numbers: Sequence[int]) -> None:
        """Add to the left set; a number that is there already changes nothing."""

    def right(self, numbers: Sequence[int]) -> None:
        """Add to the right set; a number that is there already changes nothing."""

    def only_left(self, most: int) -> tuple[set[int], int]:
        """At most so many of those that are in the left set alone, and how many there are."""

    def close(self) -> None:
        """Free the room that they take. Nothing else may be called afterwards, but this again."""


NewSets = Callable[[], Sets]


TellMended = Callable[[str, int], None]
"""Hears what a long mend does, and how many of it were done."""


def unheard(what: str, count: int) -> None:
    """Nobody asks how far a mend is."""


class Mending(Protocol):
    """What a mend may do to the stock, as its only writer or beside workers whose own writes win.

    Every method may raise `Unavailable`, perhaps after its effect; the same again changes nothing more. A mend of what
    is not there any more does nothing.
    """

    tell: TellMended

    async def drop(self, place: StockPlace) -> None:
        """Delete a damaged record, where it still stands as it was found."""

    async def rebuild(self, row: Row) -> None:
        """Put a row in the place of one that is damaged or lost; whatever stands there is written over."""

    async def forget_validators(self, page: Page) -> None:
        """Let the next visit of a stored version ask for the whole document."""

    async def ask_again(self, row: Row) -> None:
        """Have a URL that has a row visited once more: asked for twice before that visit it is one."""

    async def mark(self, fingerprints: Sequence[int]) -> None:
        """Let the seen set know these; nothing for none."""

    async def right(self, fault: Fault) -> None:
        """Do what the fault says of its mend. Raises `BadInput` for what cannot be done while something runs."""

    async def close(self) -> None:
        """End. Nothing else may be called afterwards, but this again."""
