"""How fast a crawl is, from counters that only grow. Pure."""

from collections import deque

from msgspec import Struct

from gregor.worker.observe.stats import Stats

WINDOW = 10.0
"""Seconds over which rates are measured."""


class Rates(Struct, frozen=True):
    """Per second, over the last `WINDOW` seconds or since the start."""

    pages: float
    requests: float
    bytes: float


class Meter:
    """Measures rates from counters that only grow."""

    def __init__(self) -> None:
        self._samples: deque[tuple[float, int, int, int]] = deque()

    def sample(self, now: float, stats: Stats) -> Rates:
        """Take the counters at ``now`` (seconds, monotonic)."""
        samples = self._samples
        samples.append((now, stats.pages, stats.requests, stats.bytes))
        while len(samples) > 2 and samples[1][0] <= now - WINDOW:
            samples.popleft()
        (then, *before), (_, *after) = samples[0], samples[-1]
        if now <= then:
            return Rates(0.0, 0.0, 0.0)
        return Rates(*((late - early) / (now - then) for early, late in zip(before, after, strict=True)))
