"""The parsed robots.txt files of a worker's origins. Pure: times are unix seconds of the coordinator's clock."""

from collections import OrderedDict

import msgspec

from gregor.worker.observe.stats import Stats
from gregor.worker.robots import file as robots_file
from gregor.worker.robots.match import Robots


class OriginRules(msgspec.Struct, frozen=True):
    """What holds for an origin now, and when the answer came that says so (unix seconds; 0: nobody was asked)."""

    robots: Robots
    since: float = 0.0


class Remembered(msgspec.Struct):
    """A file that holds until `expires`, and whether its sitemaps were published. `unused`: what it was fetched for has
    still to come; a delay that is longer than its life must not bring the next fetch instead."""

    rules: OriginRules
    expires: float
    announced: bool = False
    unused: bool = False

    def holds(self, now: float) -> bool:
        """Whether the file need not be read again."""
        return self.expires > now or (
            self.unused and robots_file.usable_last_good(self.rules.since, now, robots_file.MAX_TTL)
        )


class RobotsCache:
    """Parsed files by origin, the least recently used forgotten first. Losing one costs a read of the store."""

    def __init__(self, size: int, stats: Stats) -> None:
        """``size`` is how many are remembered at most."""
        self._size = size
        self._stats = stats
        self._files: OrderedDict[str, Remembered] = OrderedDict()

    def find(self, origin: str, now: float) -> Remembered | None:
        """The file of an origin that holds now, for use."""
        remembered = self._files.get(origin)
        holds = remembered is not None and remembered.holds(now)
        self._stats.cached["robots", "hit" if holds else "miss"] += 1
        if remembered is None or not holds:
            return None
        remembered.unused = False
        self._files.move_to_end(origin)
        return remembered

    def keep(self, origin: str, rules: OriginRules, expires: float, *, unused: bool) -> None:
        """Remember a file; ``unused``: it was fetched just now, for a URL whose turn has still to come."""
        self._files[origin] = Remembered(rules, expires, unused=unused)
        while len(self._files) > self._size:
            self._files.popitem(last=False)

    def announced(self, origin: str) -> None:
        """The sitemaps of an origin's file were published."""
        if (remembered := self._files.get(origin)) is not None:
            remembered.announced = True
