"""How what a crawl knows grew as it was visited. Pure."""

from collections import deque
from typing import Final, NamedTuple

STEPS: Final = 8
"""Moments at which the growth of what is known is looked at, a like number of visits apart."""


class GrowthStep(NamedTuple):
    """How many URLs were visited by some moment, and how many were known, those visited among them."""

    visited: int
    urls: int

    @property
    def waiting(self) -> int:
        """Those that were known only."""
        return max(0, self.urls - self.visited)


class Course:
    """How what is known grew as URLs were visited; of a long crawl at some moments of it only."""

    _MOST: Final = 8 * STEPS

    def __init__(self) -> None:
        self._steps: list[GrowthStep] = []
        self._apart = 1

    def add(self, visited: int, urls: int) -> None:
        """So many URLs were visited by now, and are known."""
        step = GrowthStep(visited, max(visited, urls))
        if len(self._steps) > 1 and visited < self._steps[-2].visited + self._apart:
            self._steps[-1] = step
            return
        self._steps.append(step)
        if len(self._steps) > self._MOST:
            self._steps = [*self._steps[:-1:2], self._steps[-1]]
            self._apart = max(self._apart, visited // len(self._steps))

    def steps(self) -> tuple[GrowthStep, ...]:
        """As `in_the_end` takes them; () before anything was visited."""
        if not self._steps or not (visited := self._steps[-1].visited):
            return ()
        left, chosen = deque(self._steps), list[GrowthStep]()
        for number in range(1, STEPS + 1):
            while len(left) > 1 and left[0].visited < visited * number / STEPS:
                left.popleft()
            chosen.append(left[0])
        return (*chosen[:-1], self._steps[-1])
