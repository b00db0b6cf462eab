"""How long things take and how close they come, counted cheaply: on the event loop only, without locks.

A histogram of prometheus-client costs 1.7 microseconds an observation (its children take a lock each, for threads that
we do not have), `Timing` 0.4; there are a dozen observations a page.
"""

import math
from bisect import bisect_left
from collections.abc import Callable
from typing import Final

BOUNDS: Final = (
    0.0001,
    0.0005,
    0.001,
    0.0025,
    0.005,
    0.01,
    0.025,
    0.05,
    0.1,
    0.25,
    0.5,
    1.0,
    2.5,
    5.0,
    10.0,
    30.0,
    120.0,
)
"""Upper bounds of the buckets, seconds; one more bucket holds what is longer."""


class Timing:
    """A histogram of seconds: `counts` by bucket, not accumulated; `total` seconds in all."""

    __slots__ = ("counts", "total")

    def __init__(self) -> None:
        self.counts = [0] * (len(BOUNDS) + 1)
        self.total = 0.0

    def observe(self, seconds: float) -> None:
        """Something took so long."""
        self.counts[bisect_left(BOUNDS, seconds)] += 1
        self.total += seconds

    @property
    def count(self) -> int:
        """How many there were."""
        return sum(self.counts)

    def add(self, other: "Timing") -> None:
        """Count what another one holds, too."""
        self.counts = [mine + theirs for mine, theirs in zip(self.counts, other.counts, strict=True)]
        self.total += other.total


class Crowd:
    """How many are somewhere, and the seconds that all of them together were there. ``monotonic`` is the clock."""

    __slots__ = ("_changed", "_monotonic", "_seconds", "size")

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._changed = monotonic()
        self._seconds = 0.0
        self.size = 0

    @property
    def seconds(self) -> float:
        """Until now."""
        return self._seconds + self.size * (self._monotonic() - self._changed)

    def changes(self, by: int) -> None:
        """So many more are there from now on, or fewer."""
        now = self._monotonic()
        self._seconds += self.size * (now - self._changed)
        self._changed, self.size = now, self.size + by


class Lowest:
    """The lowest value of the last minute or two: never reset by whoever reads it, so that several may."""

    __slots__ = ("_before", "_minute", "_now")

    def __init__(self) -> None:
        self._minute, self._now, self._before = 0, math.inf, math.inf

    def observe(self, value: float, at: float) -> None:
        """A value at a monotonic time, seconds."""
        self._turn(at)
        if value < self._now:
            self._now = value

    def value(self, at: float) -> float:
        """The lowest one; infinite when there was none."""
        self._turn(at)
        return min(self._now, self._before)

    def _turn(self, at: float) -> None:
        minute = int(at // 60.0)
        if minute > self._minute:
            self._before = self._now if minute == self._minute + 1 else math.inf
            self._minute, self._now = minute, math.inf
