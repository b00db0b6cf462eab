"""How fresh a crawl keeps its pages, against the best that is possible: `python -m benchmarks.revisits`.

`[--pages 20000] [--days 120] [--seed 1]`, or `make revisits`. Pages change at random, each at a rate of its own, of
three distributions; some words tell of changes, most of them rightly; a tenth of the pages can be visited in a day. It
is decided by the crawl's own code, which knows no rate. Shown is the mean share of fresh pages by their importance over
the last half, of each way: *value* (the crawl's), *knowing* (the same, told the true rates), *doubling* (an interval
doubles and halves), *uniform* (each page as often), and *best*: what the true rates allow without words, by the border
that spends the budget exactly (Azar and others 2018).
"""

import argparse
import heapq
import math
from collections.abc import Callable, Sequence
from random import Random
from typing import Final

import msgspec

from benchmarks import measure
from benchmarks.measure import Figure, Figures
from gregor.worker.settle.change_learning import ChangeLearning
from gregor.worker.settle.change_rate import RATES, ChangeRate

DAY: Final = 86_400.0
MEAN: Final = 10.0 * DAY
"""A tenth of the pages in a day."""
SHORTEST, LONGEST = MEAN / 64, MEAN * 64
PRECISION, RECALL = 0.6, 0.6
WAYS: Final = ("value", "knowing", "doubling", "uniform")


class SimulatedPage(msgspec.Struct):
    """``rate``: changes a second. ``fresh_since``: of a fresh one."""

    rate: float
    importance: float
    visited: float = 0.0
    due: float = 0.0
    rates: ChangeRate | None = None
    stale_since: float = math.inf
    words: int = 0
    changed: int = 0
    unchanged: int = 0
    planned: int = 0


def uniform(chance: Random) -> float:
    """Up to one change in five days."""
    return chance.uniform(0.0, 2.0) / MEAN


def pareto(chance: Random) -> float:
    """Few change often, most hardly."""
    return 0.1 * chance.paretovariate(1.2) / MEAN


def mixed(chance: Random) -> float:
    """Three in ten never change."""
    return 0.0 if chance.random() < 0.3 else chance.lognormvariate(0.0, 1.0) / MEAN


DISTRIBUTIONS: Final[dict[str, Callable[[Random], float]]] = {"uniform": uniform, "pareto": pareto, "mixed": mixed}


def drawn(name: str, count: int, seed: int) -> list[SimulatedPage]:
    """Pages, and how important each is."""
    chance = Random(f"{name} {seed}")
    return [SimulatedPage(DISTRIBUTIONS[name](chance), chance.paretovariate(2.0)) for _ in range(count)]


def surely(rate: float) -> ChangeRate:
    """What is known of a page whose rate is known."""
    weights = [0.0] * len(RATES)
    if rate <= 0.0:
        return ChangeRate((1.0, *weights[1:]))
    above = next((number for number, other in enumerate(RATES) if other >= rate), len(RATES) - 1)
    share = (rate - RATES[above - 1]) / (RATES[above] - RATES[above - 1])
    weights[above - 1], weights[above] = 1.0 - share, share
    return ChangeRate(tuple(weights))


def best(pages: Sequence[SimulatedPage]) -> float:
    """The greatest share that visits at regular times can have, by the true rates."""

    def age(page: SimulatedPage, border: float) -> float:
        """When its value comes to the border; infinite if never."""
        if page.rate <= 0.0 or page.importance / page.rate <= border:
            return math.inf
        low, high = 0.0, 60.0
        for _ in range(50):
            middle = (low + high) / 2.0
            reached = page.importance / page.rate * (1.0 - math.exp(-middle) * (1.0 + middle)) >= border
            low, high = (low, middle) if reached else (middle, high)
        return high / page.rate

    low, high = 1e-6 * MEAN, 1e3 * MEAN
    for _ in range(40):
        border = math.sqrt(low * high)
        spent = sum(1.0 / age(page, border) for page in pages)
        low, high = (border, high) if spent > len(pages) / MEAN else (low, border)
    shares = 0.0
    for page in pages:
        turns = page.rate * age(page, high)
        fresh = 1.0 if page.rate <= 0.0 else 0.0 if turns == math.inf else (1.0 - math.exp(-turns)) / turns
        shares += page.importance * fresh
    return shares / sum(page.importance for page in pages)


class Crawl:
    """One crawl of pages by one way: a visit at a time, as many as the budget has."""

    def __init__(self, pages: Sequence[SimulatedPage], way: str, seed: int) -> None:
        self._pages = pages
        self._way = way
        self._chance = Random(f"crawl {seed}")
        self._learning = ChangeLearning(MEAN)
        self._events: list[tuple[float, int, int, str]] = []
        self._due: list[tuple[float, int, int]] = []
        self._fresh = 0.0

    def share(self, days: float) -> float:
        """The mean share of fresh pages, by importance, over the last half of so many days."""
        chance, end, step = self._chance, days * DAY, MEAN / len(self._pages)
        for number, page in enumerate(self._pages):
            page.visited = 0.0
            self._plan(number, chance.random() * MEAN)
            self._next_event(number, 0.0)
        now = 0.0
        while now < end:
            now += step
            while self._events and self._events[0][0] <= now:
                at, number, _, what = heapq.heappop(self._events)
                self._happen(number, at, what)
            self._visit(now, end)
        for page in self._pages:
            self._count(page, end, end)
        return self._fresh / (0.5 * end * sum(page.importance for page in self._pages))

    def _next_event(self, number: int, now: float) -> None:
        """The next change of a page, or false word of one: false words come as often as makes the precision."""
        page, chance = self._pages[number], self._chance
        false = page.rate * RECALL * (1.0 - PRECISION) / PRECISION
        if page.rate > 0.0:
            at = now + chance.expovariate(page.rate + false)
            what = "change" if chance.random() < page.rate / (page.rate + false) else "word"
            heapq.heappush(self._events, (at, number, 0, what))

    def _happen(self, number: int, at: float, what: str) -> None:
        page = self._pages[number]
        if what == "change" and page.stale_since == math.inf:
            page.stale_since = at
        if what == "word" or self._chance.random() < RECALL:
            page.words += 1
            if self._way in ("value", "knowing"):
                self._plan(number, page.visited + self._due_after(page))
        self._next_event(number, at)

    def _plan(self, number: int, due: float) -> None:
        page = self._pages[number]
        page.due, page.planned = due, page.planned + 1
        heapq.heappush(self._due, (due, number, page.planned))

    def _visit(self, now: float, end: float) -> None:
        """Visit the page that is due first, if one is."""
        while self._due and self._due[0][2] != self._pages[self._due[0][1]].planned:
            heapq.heappop(self._due)
        if not self._due or self._due[0][0] > now:
            return
        due, number, _ = heapq.heappop(self._due)
        page = self._pages[number]
        changed, after = page.stale_since <= now, now - page.visited
        self._count(page, now, end)
        page.visited, page.stale_since = now, math.inf
        page.changed, page.unchanged = page.changed + changed, page.unchanged + (not changed)
        interval = MEAN
        if self._way in ("value", "knowing"):
            learnt = self._learning.learn(page.rates, after, changed, page.words)
            page.rates, page.words = learnt if self._way == "value" else surely(page.rate), 0
            interval = self._due_after(page)
            self._learning.border.planned(interval, now - due)
        elif self._way == "doubling":
            interval = MEAN * 2.0 ** max(-3, min(page.unchanged - page.changed, 6))
        page.words = 0
        self._plan(number, now + interval * (1.0 + 0.1 * self._chance.random() * (self._way == "doubling")))

    def _due_after(self, page: SimulatedPage) -> float:
        rates = page.rates or self._learning.prior
        return self._learning.due_after(rates, SHORTEST, LONGEST, page.importance, page.words)

    def _count(self, page: SimulatedPage, now: float, end: float) -> None:
        """It was fresh since its last visit until it changed, or now."""
        begin = max(page.visited, end / 2.0)
        self._fresh += page.importance * max(0.0, min(now, page.stale_since) - begin)


def measured(pages: int = 20_000, days: float = 120.0, seed: int = 1) -> Figures:
    """The shares of each way of each distribution, the best as the one it is compared with."""
    figures: Figures = {}
    for name in DISTRIBUTIONS:
        possible = best(drawn(name, pages, seed))
        for way in WAYS:
            share = Crawl(drawn(name, pages, seed), way, seed).share(days)
            figures[f"revisits.{name}.{way}"] = Figure(round(share, 4), "fresh", round(possible, 4))
            figures[f"revisits.{name}.{way}.of_best"] = Figure(round(share / possible, 4), "of the best")
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description="How fresh a crawl keeps its pages.")
    parser.add_argument("--pages", type=int, default=20_000)
    parser.add_argument("--days", type=float, default=120.0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    measure.report(measured(options.pages, options.days, options.seed))


if __name__ == "__main__":
    main()
