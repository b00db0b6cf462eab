"""How fast it went lately, for charts: a bounded memory of rates. Pure."""

from collections import deque
from typing import Final

from msgspec import Struct

EVERY: Final = 5.0
"""Seconds between two points."""
_MOST: Final = 720


class Point(Struct, frozen=True):
    """Rates a second at a time (unix seconds); visits that ran, URLs in memory, hosts that backed off, URLs that waited
    in memory or behind it, bytes of memory, seconds that were likely to be left (0: not known)."""

    at: float
    pages: float
    requests: float
    bytes: float
    running: int
    queued: int
    backing_off: int
    waiting: int = 0
    memory_used: int = 0
    left: float = 0.0


class Past:
    """The last hour."""

    def __init__(self) -> None:
        self._points: deque[Point] = deque(maxlen=_MOST)

    def add(self, point: Point) -> None:
        """Remember it."""
        self._points.append(point)

    def since(self, after: float) -> list[Point]:
        """Those later than ``after``, the oldest first."""
        return [point for point in self._points if point.at > after]
