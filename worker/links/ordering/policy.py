"""What a policy of the order is: it says what a link is worth, and may learn from what pages brought. Pure."""

from collections.abc import Iterable, Sequence
from typing import Final, Protocol, runtime_checkable

import msgspec

from gregor.worker.base.pieces import InPieces
from gregor.worker.links.found_link import FoundLink


class BroughtPage(msgspec.Struct, frozen=True, gc=False):
    """A page that was read, as a policy sees it."""

    url: str
    """As it was requested."""
    key: str
    """Its canonical form."""
    host: str
    depth: int
    """Steps from the seeds."""
    source: str
    """The key of the page whose link led here first; "" for a seed."""
    worth: float
    """What links to it had brought when its turn came; `SEED` for a seed."""
    links: int
    """How many different URLs it leads to that are followed."""
    title: str
    text: str
    relevance: float | None = None
    """For the topic of the crawl, from 0 to 1; None where there is none."""


@runtime_checkable
class OrderPolicy(Protocol):
    """Orders the URLs of a crawl that names it in its setting ``ordering``. It may have beside:

    ``name`` (default: that of the class); ``adds`` (default False): what several links to a URL bring adds up, else the
    best of them counts; ``tax`` (default 0): the share of a page's worth that flows to all that wait.
    """

    def worth(self, link: FoundLink, page: BroughtPage) -> float:
        """What a link of a page is worth: the higher, the sooner. What it raises, and what is no finite number, costs
        the link its word, and is counted."""


@runtime_checkable
class Learns(Protocol):
    """What an `OrderPolicy` may have beside: it learns from what pages brought."""

    def learn(self, page: BroughtPage) -> None:
        """A page was read, before its links are asked about. What it raises is counted."""


class ScoringPolicy(Protocol):
    """A policy as the crawl asks it: of all links of a page at once."""

    name: str
    adds: bool
    tax: float

    compares_hosts: bool
    """Whether of the hosts that are due the one whose next URL is worth most goes first."""
    failures: Sequence[str]
    """What it could not do for the page that it was asked about last, by causes that are called alike on all pages."""

    def worths(self, page: BroughtPage, links: Iterable[FoundLink]) -> InPieces[Sequence[float | None]]:
        """What each of its links is worth; None where it has no word. Never raises."""

    def kept(self) -> bytes:
        """What it has learnt, to be kept over a restart, bounded; b"": nothing."""

    def recall(self, kept: bytes) -> None:
        """Go on from what was kept, where that knows more than this does. Never raises."""


SEED: Final = 1.0
"""What a seed is worth."""
TOPIC: Final = "topic"
"""The order by what is relevant for a topic."""
DEPTH: Final = "depth"
"""The order by depth, which needs no policy: near the seeds first, by arrival."""
