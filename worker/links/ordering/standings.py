"""What the URLs that wait in one partition are worth, in memory and outside. Pure, bounded in memory.

What flows to all that wait is one number, the level: a worth is kept less the level at which it came.
"""

from collections import Counter
from collections.abc import Callable
from typing import Final, Protocol

from gregor.worker.links.ordering.policy import SEED
from gregor.worker.links.ordering.quantiles import RunningQuantiles

FIRST: Final = 1e200
"""Stands before all that has a worth: a seed, a sitemap, what somebody gave the first front queue."""
NOTABLE: Final = 0.05
"""A worth that rises by less than this part of it does not move its URL."""


class Standing(Protocol):
    """A URL that waits in memory: its worth less the level, and what moves it where it belongs."""

    worth: float

    def rises(self) -> None:
        """Its worth has become more."""


class Standings:
    """Those of one partition; it dies with its lease."""

    def __init__(self, adds: bool, most: int, owed: Callable[[int], float], counts: Counter[str]) -> None:
        """``adds``: what further links bring adds up. ``most``: URLs outside memory of which the worth is remembered;
        of more the lower half is forgotten at once. ``owed``: takes what is owed to a URL that comes into memory;
        ``counts``: see `FetchOrder`."""
        self._adds = adds
        self._most = max(2, most)
        self._owed = owed
        self.quantiles = RunningQuantiles()
        self._here: dict[int, Standing] = {}
        self._outside: dict[int, float] = {}
        self._lent: set[int] = set()
        self._level = 0.0
        self._counts = counts

    def __len__(self) -> int:
        return len(self._here) + len(self._outside)

    def came(self, fingerprint: int, standing: Standing) -> None:
        """A URL waits in memory."""
        self._here[fingerprint] = standing

    def went(self, fingerprint: int) -> None:
        """It does no longer."""
        self._here.pop(fingerprint, None)

    def peek(self, fingerprint: int, worth: float | None, priority: int, *, again: bool = False) -> float:
        """How a ticket stands, as `weigh` will say."""
        outside = self._outside.get(fingerprint)
        if outside is not None:
            return outside if again or worth is None else self._joined(outside, worth)
        if worth is None:
            return FIRST if priority == 1 else self._unscored(priority)
        return worth - self._level

    def weigh(self, fingerprint: int, worth: float | None, priority: int, *, again: bool) -> float:
        """The worth less the level of what comes into memory. ``worth``: what its ticket says; None where that says
        nothing: then it stands as its front queue does. ``again``: it waited outside, and what its ticket says is part
        of what is remembered of it."""
        number = self.peek(fingerprint, worth, priority, again=again)
        remembered = self._outside.pop(fingerprint, None) is not None
        self._lent.discard(fingerprint)
        if number >= FIRST:
            return number
        if owed := self._owed(fingerprint):
            number = self._joined(number, owed)
        if worth is not None or remembered:
            self.quantiles.note(number)
        return number

    def _unscored(self, priority: int) -> float:
        """How a ticket stands that says nothing of its worth: by its front queue. As a seed while nothing is known: a
        crawl may go on by another policy, and nothing would ever flow from pages that are worth nothing."""
        least = self.quantiles.least(priority)
        if least is not None:
            return least
        return 0.0 if self.quantiles.borders else SEED - self._level

    def band(self, number: float) -> int:
        """The band of a standing, 0 is the best."""
        return self.quantiles.band(number)

    def worth(self, number: float) -> float:
        """What a standing is worth now."""
        return number + self._level

    def waits(self, fingerprint: int, worth: float | None) -> None:
        """A URL waits outside memory."""
        if worth is not None:
            number = self._outside[fingerprint] = worth - self._level
            self.quantiles.note(number)
            if len(self._outside) > self._most:
                self._forget()

    def credit(self, fingerprint: int, worth: float) -> bool | None:
        """A further link leads to a URL. None: it does not wait here, as far as is known; True: it waits outside memory
        and stands so much better now that it should come in."""
        if (here := self._here.get(fingerprint)) is not None:
            before = here.worth
            here.worth = self._joined(before, worth)
            if here.worth - before > NOTABLE * abs(self.worth(before)):
                here.rises()
            return False
        outside = self._outside.get(fingerprint)
        if outside is None:
            return None
        now = self._outside[fingerprint] = self._joined(outside, worth)
        return self._promotes(outside, now)

    def lend(self, fingerprint: int) -> float:
        """What a URL outside memory is worth: a ticket takes it along, which lets the URL in when it comes."""
        if len(self._lent) >= self._most:
            self._lent.clear()
        self._lent.add(fingerprint)
        return self.worth(self._outside.pop(fingerprint))

    def lets_in(self, fingerprint: int, worth: float | None) -> bool:
        """Whether a ticket of a URL that is known already lifts it so that it should come into memory; else what it
        brings is counted."""
        outside = self._outside.get(fingerprint)
        if fingerprint in self._lent:
            promotes = True
        elif outside is None or worth is None:
            promotes = False
        else:
            promotes = self._promotes(outside, self._joined(outside, worth))
        if promotes:  # what it brings is counted as it comes in
            self._counts["admitted"] += 1
        elif worth is not None:
            self.credit(fingerprint, worth)
        return promotes

    def flow(self, worth: float) -> None:
        """So much flows to all that wait."""
        self._level += worth / max(1, len(self))

    def _promotes(self, before: float, now: float) -> bool:
        """Whether a URL outside memory stands so much better that it should come in: in a better band, or twice as well
        in the best."""
        band = self.quantiles.band(now)
        return band < self.quantiles.band(before) or (band == 0 and now - before > abs(self.worth(before)))

    def _joined(self, number: float, further: float) -> float:
        """A standing with a worth that comes beside it."""
        return number + further if self._adds else max(number, further - self._level)

    def _forget(self) -> None:
        """The lower half, however many are alike."""
        ordered = sorted(self._outside.items(), key=lambda entry: entry[1], reverse=True)
        self._outside = dict(ordered[: self._most // 2])
