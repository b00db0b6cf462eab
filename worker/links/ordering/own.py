"""A policy of one's own: code of others, whose failures cost its word alone."""

import math
from collections.abc import Iterable, Sequence
from typing import Final

from gregor.worker.base.pieces import InPieces
from gregor.worker.links.found_link import FoundLink
from gregor.worker.links.ordering.policy import BroughtPage, Learns, OrderPolicy

MOST: Final = 1e100
"""What a link may be worth, or may be less worth."""
_PIECE: Final = 32
"""Links that it is asked about at once."""


class OwnPolicy:
    """A plug-in as the crawl asks it."""

    compares_hosts = False

    def __init__(self, name: str, ordering: OrderPolicy) -> None:
        """Raises ValueError for what it says of itself and cannot be."""
        self.name = name
        self.adds = bool(getattr(ordering, "adds", False))
        tax = getattr(ordering, "tax", 0.0)
        if isinstance(tax, bool) or not isinstance(tax, int | float) or not 0.0 <= tax < 1.0:
            raise ValueError("tax wants a number from 0 to less than 1")
        self.tax = float(tax)
        self.failures: Sequence[str] = ()
        self._ordering = ordering

    def worths(self, page: BroughtPage, links: Iterable[FoundLink]) -> InPieces[Sequence[float | None]]:
        """What each link is worth; None where it could not say."""
        causes: dict[str, None] = {}
        if isinstance(self._ordering, Learns):
            try:
                self._ordering.learn(page)
            except (Exception, SystemExit) as error:  # noqa: BLE001 - code of others: what it cannot do costs its word
                causes[f"it failed to learn: {type(error).__name__}"] = None
        worths: list[float | None] = []
        for link in links:
            worths.append(self._worth(link, page, causes))
            if len(worths) % _PIECE == 0:
                yield
        self.failures = tuple(causes)
        return worths

    def kept(self) -> bytes:
        """Nothing."""
        return b""

    def recall(self, kept: bytes) -> None:
        """Nothing was kept."""

    def _worth(self, link: FoundLink, page: BroughtPage, causes: dict[str, None]) -> float | None:
        try:
            worth = float(self._ordering.worth(link, page))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - as above
            causes[f"it failed: {type(error).__name__}"] = None
            return None
        if not math.isfinite(worth):
            causes["it gave no finite number"] = None
            return None
        return min(MOST, max(-MOST, worth))
