"""Importance by what flows along links: on-line page importance (Abiteboul, Preda, Cobena 2003), with a share of all.

A page has cash. When it is visited, its cash less a tax is split among its links, and each link brings a share of what
links bring on average besides, since many links from poor pages say as much as one from a rich one. The tax flows to
all that wait, so that what waits long rises, and what leads only to pages of its kind, as a trap does, has ever less.

URLs that name a folder are entries of a site or of a part of it more often than others (Kraaij, Westerveld, Hiemstra
2002), so they come sooner; and so does what lies in a folder that much leads to. What is brought to such a URL counts
more for its place, and no more for what it hands on.
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
LIFT: Final = 0.3
"""How much more counts what is brought to a URL, for each average link's worth that came to its folder for each link
that leads into that."""
MOST_LIFT: Final = 3.0
FOLDERS: Final = 20_000
"""Folders of which it is known what came to them, at least half of that."""
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
        self._folders: dict[int, _Folder] = {}
        self._folders_before: dict[int, _Folder] = {}

    def worths(self, page: BroughtPage, links: Iterable[FoundLink]) -> InPieces[Sequence[float]]:
        """The share of each link of a page: all have the same, times what is said for its place."""
        yield from ()  # it takes no time
        if not page.links:
            return []
        worth = page.worth / self._counts(page.key) if page.source else page.worth  # a seed's is its cash
        cash = worth * (1.0 - TAX)
        self._sum = self._sum * _KEPT + cash
        self._count = self._count * _KEPT + page.links
        share = cash / page.links + ALIKE * self._sum / self._count
        return [share * self._counts(link.key, share) for link in links]

    def _counts(self, key: str, share: float = 0.0) -> float:
        """How much counts for the place of a URL what is brought to it; ``share``: what a link brings that is found
        now."""
        own, around = folders(key)
        if own and share:
            self._folder(own).received += share
        around_it = self._folder(around)
        if share:
            around_it.links += 1
        usual = self._sum / self._count if self._count else 0.0
        lift = LIFT * around_it.received / (usual * around_it.links) if usual and around_it.links else 0.0
        return (FOLDER if own else 1.0) * (1.0 + min(lift, MOST_LIFT))

    def _folder(self, name: str) -> "_Folder":
        number = hash(name)
        known = self._folders.get(number)
        if known is None:
            if len(self._folders) >= FOLDERS // 2:
                self._folders, self._folders_before = {}, self._folders
            known = self._folders[number] = self._folders_before.pop(number, None) or _Folder()
        return known

    def kept(self) -> bytes:
        """Nothing."""
        return b""

    def recall(self, kept: bytes) -> None:
        """Nothing was kept."""


class _Folder:
    """What is known of one: what links brought to it, and how many links led into it."""

    __slots__ = ("links", "received")

    def __init__(self) -> None:
        self.received = 0.0
        self.links = 0


def folders(key: str) -> tuple[str, str]:
    """The folder that a URL names, with or without the name of its index, "" if none; and the one that it lies in."""
    path, question, _ = key.partition("?")
    own = "" if question else path if path[-1] == "/" else INDEX_FILE.sub("/", path)
    if not own.endswith("/"):
        return "", path[: path.rfind("/") + 1]
    return own, own[: own.rfind("/", 0, -1) + 1]
