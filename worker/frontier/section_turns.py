"""Turns of the sections of a site in one lane, and in each of the shapes of its URLs. Pure, bounded in memory."""

from typing import Final

from gregor.worker.links.shapes import narrow, view

TURN: Final = 64
"""A section has its turn after another one when so many more of its tickets wait as it is later: what grows sinks."""
GROWTH: Final = 2
"""So many tickets later for each that waits."""
MOST_GROWTH: Final = 7 * TURN
MOST_SECTIONS: Final = 256
MOST_SHAPES: Final = 4
"""Shapes of a section that have turns of their own; all others share those of the last."""


class SectionTurns:
    """Gives what waits its place, the least being next."""

    def __init__(self) -> None:
        self._served = 0
        self._last: dict[str, list[int]] = {}
        self._shapes: dict[str, list[str]] = {}

    def serve(self, place: int) -> None:
        """What had a place is taken."""
        self._served = max(self._served, place)

    def place(self, section: str, target: str, waiting: int, often: float = 1.0) -> int:
        """The place of one more URL. ``waiting``: how many of its section do; ``often``: its turns for each
        of another one. The shapes of a section that wait share its turns, the rarer the more of a shape wait: a row of
        pages need not wait for all of an endless space beside it, and a section with many shapes has no more turns than
        another one."""
        lasts = self._last.setdefault(section, [])
        which = self._which(section, target)
        lasts += [0] * (which + 1 - len(lasts))
        ahead = max(0, lasts[which] - self._served)
        sharing = sum(last > self._served for last in lasts) + (ahead == 0)
        growth = min(GROWTH * min(waiting, ahead // TURN), MOST_GROWTH)
        lasts[which] = self._served + ahead + int((TURN + growth) * sharing / often)
        if len(self._last) > MOST_SECTIONS:
            self._forget(section)
        return lasts[which]

    def _which(self, section: str, target: str) -> int:
        own = self._shapes.setdefault(section, [])
        name = view(target).frame or " ".join(narrow(target))
        if name in own:
            return own.index(name)
        if len(own) < MOST_SHAPES:
            own.append(name)
        return len(own) - 1

    def _forget(self, section: str) -> None:
        """Sections of which nothing waits."""
        for name in [name for name, lasts in self._last.items() if name != section and max(lasts) <= self._served]:
            del self._last[name], self._shapes[name]
