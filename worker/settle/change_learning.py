"""What a worker learns of all its pages: how often pages change, and how far words of changes can be trusted. Pure."""

import math
from typing import Final

from gregor.worker.settle.change_rate import ChangeRate
from gregor.worker.settle.crawl_value import Border, due_after

_WEIGHT: Final = 0.002
"""How far one visit moves what is expected of an unknown page."""
_HOPELESS: Final = 0.05
"""A page that hardly ever stays as it is for the mean interval is never fresh, whatever is spent on it. It is visited
after that interval all the same: it leads to what is new."""
_MOST_TOLD: Final = 3
"""Words of one page that count: a page that is named each minute has changed no more often for it."""


class ChangeLearning:
    """The border, the rates that are expected of a page of which nothing is known, and the trust in words.

    It is kept in memory: a restart costs some order of visits, and is made up by the visits that follow.
    """

    def __init__(self, mean: float) -> None:
        """``mean``: the interval that the budget allows, seconds."""
        self._mean = mean
        self.border = Border(mean)
        self.prior = ChangeRate.expected(mean)
        self._right, self._wrong = 3.0, 2.0
        self._since = math.inf

    @property
    def false(self) -> float:
        """The probability that a page has not changed of which a word says so."""
        return self._wrong / (self._right + self._wrong)

    def learn(self, rates: ChangeRate | None, after: float, changed: bool, words: int) -> ChangeRate:
        """What is known of a page after a visit, so many seconds after the last one, which found a change or none."""
        rates = (rates or self.prior).visited(after, changed, self.prior)
        if words:
            self._right, self._wrong = self._right + changed, self._wrong + (not changed)
        weight = _WEIGHT * min(4.0, after / self._mean)  # who is visited rarely stands for as many more
        pairs = zip(self.prior.weights, rates.weights, strict=True)
        self.prior = ChangeRate(tuple((1.0 - weight) * old + weight * new for old, new in pairs))
        return rates

    def planned(self, interval: float, due: float, now: float) -> None:
        """A visit was planned after an interval; the one now was ``due`` at a time, unix seconds. What was due while
        nobody crawled says nothing of the room there is."""
        self._since = min(self._since, now)
        self.border.planned(interval, max(0.0, now - max(due, self._since)))

    def due_after(
        self, rates: ChangeRate, shortest: float, longest: float, importance: float = 1.0, words: int = 0
    ) -> float:
        """Seconds after the last visit when the next one is worth it; ``words``: told since then."""
        doubts = (self.false,) * min(words, _MOST_TOLD)
        due = due_after(rates, self.border.height, shortest, longest, importance, doubts)
        if due > self._mean and rates.unchanged_for(self._mean) < _HOPELESS:
            return max(shortest, min(self._mean, longest))
        return due
