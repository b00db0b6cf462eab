"""What a visit is worth now, and the border from which on it is made. Pure; times are seconds.

A page is fresh while what is stored of it is what is there. Of a page that changes at a rate r, visited each t seconds,
the fresh share is (1 - exp(-rt)) / rt; a visit more a second gains (1 - exp(-rt)(1 + rt)) / r of it (the derivative).
That, times its importance, is the value of a visit t after the last one: it grows with t up to 1 / r. The greatest
fresh share in all, for a number of visits, is had when every page is visited as its value comes to one border (Azar and
others 2018). Nobody has to solve for that border: each visit moves it a little, so that the intervals come to the mean
that the budget has (Busa-Fekete and others 2025). What changes too often to be worth it has a value that stays below.

Nothing sure is known of a rate, so the value is the mean over what is thought of it.
"""

import math
from collections.abc import Sequence
from typing import Final

from gregor.worker.settle.change_rate import RATES, ChangeRate

_HALVINGS: Final = 12
_GAIN: Final = 0.02
"""How far one visit moves the logarithm of the border."""
_MOST: Final = 4.0
"""An interval counts as so many means at most: few very long ones say nothing of the rest. Being late counts less, so
that the intervals of a crawl that is always late settle there, and never grow for ever."""
_LOWEST, _HIGHEST = 1e-6, 1e3
"""The bounds of the border, in means: beyond them nothing changes, and the way back would be as long."""


def value(rates: ChangeRate, age: float, importance: float = 1.0, doubts: Sequence[float] = ()) -> float:
    """Of a visit ``age`` seconds after the last one, in seconds. ``doubts``: for each word since then that it changed,
    the probability that it is false."""
    false = math.prod(doubts)
    total = 0.0
    for rate, weight in zip(RATES, rates.weights, strict=True):
        if rate > 0.0 and weight > 0.0:
            stays = math.exp(-rate * age)
            total += weight * ((1.0 - stays) / rate - age * stays * false)
        elif doubts:
            total += weight * age * (1.0 - false)
    return importance * max(0.0, total)


def due_after(
    rates: ChangeRate,
    border: float,
    shortest: float,
    longest: float,
    importance: float = 1.0,
    doubts: Sequence[float] = (),
) -> float:
    """Seconds after the last visit at which the next one is worth the border; within the bounds."""
    if value(rates, shortest, importance, doubts) >= border:
        return shortest
    if value(rates, longest, importance, doubts) < border:
        return longest
    low, high = math.log(shortest), math.log(longest)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        if value(rates, math.exp(middle), importance, doubts) < border:
            low = middle
        else:
            high = middle
    return math.exp(high)


class Border:
    """The border of one worker. It follows the budget, which is a mean interval between two visits of a page.

    Over visits, as they are made, the mean of intervals is the number of pages by the visits a second. So an interval
    shorter than the mean raises the border a little, a longer one lowers it.
    """

    def __init__(self, mean: float) -> None:
        """``mean``: the interval that the budget allows, seconds."""
        self._mean = mean
        self.height = value(ChangeRate.expected(mean), mean)

    def planned(self, interval: float, late: float = 0.0) -> None:
        """A visit was planned after an interval; the one before was ``late`` by so many seconds: there is less room
        than was thought."""
        error = 1.0 + min(_MOST - 1.0, late / self._mean) - min(_MOST, interval / self._mean)
        self.height *= math.exp(_GAIN * error)
        self.height = max(_LOWEST * self._mean, min(self.height, _HIGHEST * self._mean))
