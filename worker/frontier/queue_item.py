"""A live ticket, and where each ticket came from."""

from collections.abc import Iterable
from typing import Final, NamedTuple, Protocol, TypeAlias

from gregor.schemas.messages import Ticket
from gregor.worker.links.rank import Rank

OPEN_SLOT: Final = 0
"""The slot of a back queue that open items have."""


class Lifts(Protocol):
    """A queue in which an item can rise."""

    def lift(self, item: "QueueItem") -> None:
        """Put an item that waits where it belongs now; nowhere lower."""


class FromLog(NamedTuple):
    """A frontier record."""

    priority: int
    offset: int


class FromBucket(NamedTuple):
    """A calendar entry."""

    bucket: int


class FromChunk(NamedTuple):
    """An entry of a host's backlog."""

    host: str
    chunk: int


TicketSource: TypeAlias = FromLog | FromBucket | FromChunk


class QueueItem:
    """A live ticket: one identity, one item. Followers are further sources of the same ticket; they finish with it.

    ``inherited``: the ticket was there at the takeover, so an earlier owner may have begun its visit. ``lenient``: its
    answer was malformed, and it is asked for once more. ``refused``: why it need not be visited; empty as a rule.
    ``again``: it is a visit of a known page that nobody ordered. ``shortages``: how often this machine could not ask
    for it. ``worth``: how it stands, where a policy scores (`Standings`); ``waits_in``: the queue that moves it when
    that becomes more.
    """

    __slots__ = (
        "again",
        "followers",
        "inherited",
        "lane",
        "lenient",
        "refused",
        "shortages",
        "slot",
        "source",
        "state",
        "ticket",
        "waits_in",
        "worth",
    )

    def __init__(self, ticket: Ticket, source: TicketSource, inherited: bool, *, again: bool = False) -> None:
        self.ticket = ticket
        self.source = source
        self.inherited = inherited
        self.again = again
        self.lenient = False
        self.refused = ""
        self.lane = Rank.OPEN
        self.slot = OPEN_SLOT
        self.shortages = 0
        self.worth = 0.0
        self.waits_in: Lifts | None = None
        self.followers: list[TicketSource] = []
        self.state = "queued"  # then "visited" while its visit runs, "left" when it is no longer in the queue

    def rises(self) -> None:
        """Its worth has become more."""
        if self.waits_in is not None:
            self.waits_in.lift(self)

    def sources(self) -> Iterable[TicketSource]:
        """Where it came from, the followers' sources after its own."""
        yield self.source
        yield from self.followers
