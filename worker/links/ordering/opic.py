"""Importance by what flows along links: on-line page importance (Abiteboul, Preda, Cobena 2003), with a share of all.

A page has cash. When it is visited, its cash less a tax is split among its links, and each link brings a share of what
links bring on average besides, since many links from poor pages say as much as one from a rich one. The tax flows to
all that wait, so that what waits long rises, and what leads only to pages of its kind, as a trap does, has ever less.
"""

from collections.abc import Sequence
from typing import Final

from gregor.worker.links.found_link import FoundLink
from gregor.worker.links.ordering.policy import BroughtPage

TAX: Final = 0.1
ALIKE: Final = 0.5
"""Of what links bring on average each link brings so much besides."""
_KEPT: Final = 0.9999
"""What of the mean remains at each page."""


class Opic:
    """The policy ``opic``."""

    name = "opic"
    adds = True
    tax = TAX
    needs_links = False
    compares_hosts = False
    failures: Sequence[str] = ()

    def __init__(self) -> None:
        self._sum = self._count = 0.0

    def worths(self, page: BroughtPage, links: Sequence[FoundLink]) -> Sequence[float]:
        """The share of each link of a page: all have the same."""
        count = page.links
        if not count:
            return []
        cash = page.worth * (1.0 - TAX)
        self._sum = self._sum * _KEPT + cash
        self._count = self._count * _KEPT + count
        return [cash / count + ALIKE * self._sum / self._count] * count

    def kept(self) -> bytes:
        """Nothing."""
        return b""

    def recall(self, kept: bytes) -> None:
        """Nothing was kept."""
