"""The border to the settle of a visit in one call: all that the visit leaves, durable together."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import BinaryIO, Protocol

import msgspec

from gregor.schemas.messages import Changed, DeadLetter, Page, Row, Ticket
from gregor.worker.borders.log import Vanished
from gregor.worker.borders.store import Entry
from gregor.worker.borders.transport import Response


class Settlement(msgspec.Struct, kw_only=True):
    """What a visit leaves, in the order of its settle. Repeated, it changes nothing but that links are told again."""

    page: Page | None = None
    """The page that the visit brought. Whoever finds that its content has another owner makes it a duplicate here."""
    answer: Response | None = None
    """Its bodies are stored with the page, which then is new; None where the page was stored before."""
    claims: bool = False
    """Whether the content of the page is to name it."""
    tickets: Sequence[Ticket] = ()
    """The links that are to be published."""
    news: Page | Vanished | Changed | None = None
    """What is told to those who follow the crawl."""
    partition: int
    """The partition of the URL's host."""
    entry: Entry | None = None
    """The next ticket, in the calendar."""
    letter: DeadLetter | None = None
    """The letter of a URL that was given up."""
    row: Row
    """The row after the visit, by the state of the page as it is known so far."""
    forgotten: Callable[[Row], Row]
    """What is kept of the row when the host opted out."""
    mark: int
    """The fingerprint of the URL."""
    stamp: Callable[[], int]
    """Gives the write timestamp of the owner's next effect."""
    opted_out: Callable[[], bool]
    """Whether the host opted out, which is heard at any time: after that nothing of an answer is written."""

    published: Sequence[Ticket] = ()
    """The links that were published: none where it was heard before that the host opted out."""
    kept: Row | None = None
    """The row as it was asked for last, to be written."""

    def to_keep(self) -> Row:
        """The row as it may be kept at this moment: the host may have opted out since the visit began."""
        self.kept = self.forgotten(self.row) if self.opted_out() else self.row
        return self.kept

    @property
    def kept_row(self) -> Row:
        """The row as it was written; without a page where nothing of the answer was."""
        return self.row if self.kept is None else self.kept

    def relabel(self, owner: str) -> None:
        """The content belongs to another page: this one is a duplicate, and its row says so."""
        assert self.page is not None
        self.page.state, self.page.duplicate_of = "duplicate", owner
        self.row = self.kept = msgspec.structs.replace(self.row, state="duplicate")


@contextmanager
def bodies(answer: Response) -> Iterator[tuple[BinaryIO, BinaryIO | None]]:
    """The body of an answer, to be read, and what came of it on the wire where that is something else."""
    wire = answer.wire_body
    with answer.body.open() as body, wire.open() if wire is not None else nullcontext() as kept:
        yield body, kept


class Settler(Protocol):
    """An engine whose log, seen set and store share one transaction."""

    async def settle(self, settlement: Settlement) -> None:
        """Do all of it or nothing; durable when it returns. The loser of a claim is relabelled before it is stored.

        May raise `Unavailable`, `DiskFull`, and may be called again with the same argument.
        """
