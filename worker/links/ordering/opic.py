"""Importance by what flows along links: on-line page importance (Abiteboul, Preda, Cobena 2003), with a share of all.

A page has cash. When it is visited, its cash less a tax is split among its links, and each link brings a share of what
links bring on average besides, since many links from poor pages say as much as one from a rich one. The tax flows to
all that wait, so that what waits long rises, and what leads only to pages of its kind, as a trap does, has ever less.

URLs that name a folder are entries of a site or of a part of it more often than others (Kraaij, Westerveld, Hiemstra
2002), so they come sooner: what is brought to them counts more for their place, and no more for what they hand on.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from gregor.worker.base.pieces import InPieces
from gregor.worker.links.found_link import FoundLink
from gregor.worker.links.ordering.policy import BroughtPage
from gregor.worker.web.canonical import INDEX_FILE

TAX: Final = 0.1
ALIKE: Final = 0.5
"""Of what links bring on average each link brings so much besides."""
FOLDER: Final = 3.0
"""How much more counts what is brought to a URL that names a folder."""
_KEPT: Final = 0.9999
"""What of the mean remains at each page."""


class Opic:
    """The policy ``opic``."""

    name = "opic"
    adds = True
    tax = TAX
    compares_hosts = False
    failures: Sequence[str] = ()

    def __init__(self) -> None:
        self._sum = self._count = 0.0

    def worths(self, page: BroughtPage, links: Iterable[FoundLink]) -> InPieces[Sequence[float]]:
        """The share of each link of a page: all have the same, but those of folders."""
        yield from ()  # it takes no time
        if not page.links:
            return []
        worth = page.worth / folder(page.key) if page.source else page.worth  # a seed's is its cash
        cash = worth * (1.0 - TAX)
        self._sum = self._sum * _KEPT + cash
        self._count = self._count * _KEPT + page.links
        share = cash / page.links + ALIKE * self._sum / self._count
        return [share * folder(link.key) for link in links]

    def kept(self) -> bytes:
        """Nothing."""
        return b""

    def recall(self, kept: bytes) -> None:
        """Nothing was kept."""


def folder(key: str) -> float:
    """What a URL counts by what it names: more where that is a folder, with or without the name of its index."""
    path, question, _ = key.partition("?")
    return FOLDER if not question and (path[-1] == "/" or INDEX_FILE.search(path)) else 1.0
