"""How much a crawl will have in the end, and when: from what is known of it so far. Pure.

Two questions are answered apart. How many URLs there will be, by how known ones grew as URLs were visited: what is
found by a visit becomes less as a site comes to its end. When all are visited, by what each host's turns allow, and
what all hosts together may have of the machine.
"""

import heapq
import math
from array import array
from collections.abc import Iterable, Sequence
from typing import Final, Literal

from msgspec import Struct

from gregor.worker.observe.course import GrowthStep

FEW: Final = 10
"""Visits of a host below which its growth says nothing: it is taken for one like all others."""
_GROWTH_LIKELY, _WAITING_LIKELY = 0.6, 0.1
_GROWTH_MOST, _WAITING_MOST = 2.4, 0.8
_MOST_GROWTH: Final = 20.0
"""Times what waits: more is not thought to be found, whatever it looked like at the beginning."""

Bound = Literal["host", "cpu", "concurrency", "budget", "nothing"]


class Range(Struct, frozen=True):
    """What is likely, and between which bounds it will be in four of five cases."""

    likely: float
    least: float
    most: float

    def times(self, factor: float) -> "Range":
        """Each so many times."""
        return Range(self.likely * factor, self.least * factor, self.most * factor)

    def plus(self, amount: float) -> "Range":
        """Each so much more."""
        return Range(self.likely + amount, self.least + amount, self.most + amount)


class HostSoFar(Struct, frozen=True):
    """What a host came to. ``seconds``: from one request to the next; ``least``: that with no delay of ours;
    ``each``: requests a URL."""

    host: str
    steps: tuple[GrowthStep, ...]
    seconds: float
    least: float
    each: float = 1.0


class Ground(Struct, frozen=True):
    """What a forecast is made of, beside the hosts.

    ``steps``: of all hosts together. ``pages`` and ``requests``: a visited URL; ``bytes``: a page. ``cpu``: most
    requests a second of all workers by their processors; ``answer``: mean seconds of a request; ``concurrency``:
    requests at once of all workers. ``pages_left`` and ``bytes_left`` of budgets; None without one.
    """

    steps: tuple[GrowthStep, ...]
    pages: float
    requests: float
    bytes: float
    cpu: float
    answer: float
    concurrency: int
    pages_left: float | None = None
    bytes_left: float | None = None


class HostForecast(Struct, frozen=True):
    """Of a host: what was visited, what is known to wait, how many URLs it will have, seconds to its end."""

    host: str
    visited: int
    waiting: int
    urls: Range
    seconds: Range


class IfChanged(Struct, frozen=True):
    """Likely seconds to the end with another setting."""

    setting: str
    times: float
    seconds: float


class Forecast(Struct, frozen=True):
    """All of it is in the end but ``seconds``, which are those to the end. ``bound``: what the end waits for;
    ``slowest``: the host that ends last. ``hosts``: those that end last, the last one first; ``of_hosts``: how many
    have something to do."""

    visited: int
    waiting: int
    urls: Range
    pages: Range
    requests: Range
    bytes: Range
    seconds: Range
    bound: Bound
    slowest: str
    changes: tuple[IfChanged, ...]
    hosts: tuple[HostForecast, ...]
    of_hosts: int


def in_the_end(steps: Sequence[GrowthStep]) -> Range:
    """How many URLs are known in the end, by how they grew. ``steps`` at moments a like number of visits apart, the
    last one now; where it is the only one, nothing is known of the growth."""
    now, earlier = steps[-1], steps[max(0, len(steps) // 2 - 1)]
    visits = now.visited - earlier.visited
    rate = max(0.0, (now.urls - earlier.urls) / visits) if visits > 0 else 0.0
    # New URLs a visit fall as visits grow, about as their square; what waits long leads on more often than it seems.
    growth = rate * now.visited * (now.waiting / now.urls) if now.urls else 0.0
    growth = min(growth, _MOST_GROWTH * now.waiting)
    likely = now.urls + _GROWTH_LIKELY * growth + _WAITING_LIKELY * now.waiting
    most = now.urls + _GROWTH_MOST * growth + _WAITING_MOST * now.waiting
    return Range(likely, now.urls, max(likely, most))


class _Hosts:
    """Requests that are left of each host, likely, at least and at most, and the seconds that each takes."""

    def __init__(self) -> None:
        self.left = (array("d"), array("d"), array("d"))
        self.seconds = array("d")
        self.least = array("d")
        self.slowest = ("", 0.0)

    def add(self, host: HostSoFar, left: Range) -> None:
        for requests, amount in zip(self.left, (left.likely, left.least, left.most), strict=True):
            requests.append(amount)
        self.seconds.append(host.seconds)
        self.least.append(host.least)
        if left.likely * host.seconds > self.slowest[1]:
            self.slowest = (host.host, left.likely * host.seconds)

    def until(self, which: int, most: float, rate: float, times: float = 1.0) -> float:
        """Seconds until ``most`` requests are made or all, with ``rate`` a second at most; delays so many ``times``."""
        left = self.left[which]
        if times == 1.0:
            seconds = self.seconds
        else:
            seconds = array("d", (max(low, times * own) for own, low in zip(self.seconds, self.least, strict=True)))
        total = math.fsum(left)
        wanted = min(most, total)
        if wanted <= 0.0:
            return 0.0
        by_rate = wanted / rate if rate > 0.0 else 0.0
        longest = max(amount * own for amount, own in zip(left, seconds, strict=True))
        if wanted >= total * (1.0 - 1e-9):
            return max(longest, by_rate)
        low, high = 0.0, longest
        for _ in range(40):
            middle = (low + high) / 2
            done = math.fsum(
                min(amount, middle / own) if own > 0.0 else amount for amount, own in zip(left, seconds, strict=True)
            )
            low, high = (low, middle) if done >= wanted else (middle, high)
        return max(high, by_rate)


def forecast(ground: Ground, hosts: Iterable[HostSoFar], listed: int) -> Forecast:
    """What will come, with the ``listed`` hosts that end last."""
    now, urls = ground.steps[-1], in_the_end(ground.steps)
    share = _shares(now, urls)
    work, last, of_hosts = _Hosts(), list[tuple[float, int, HostForecast]](), 0
    for host in hosts:
        mine = host.steps[-1]
        if not mine.waiting:
            continue
        of_hosts += 1
        its = in_the_end(host.steps) if mine.visited >= FEW else _like_others(mine, share)
        left = its.plus(-mine.visited).times(host.each)
        work.add(host, left)
        expected = HostForecast(host.host, mine.visited, mine.waiting, its, left.times(host.seconds))
        entry = expected.seconds.likely, of_hosts, expected
        (heapq.heappush if len(last) < listed else heapq.heappushpop)(last, entry)
    return _all_together(ground, work, urls, tuple(entry[2] for entry in sorted(last, reverse=True)), of_hosts)


def _shares(now: GrowthStep, urls: Range) -> Range:
    """What will be found for each URL that waits, over all hosts."""
    waiting = max(1, now.waiting)
    return Range((urls.likely - now.urls) / waiting, 0.0, (urls.most - now.urls) / waiting)


def _like_others(now: GrowthStep, share: Range) -> Range:
    return Range(
        now.urls + min(1.0, share.likely) * now.waiting, now.urls, now.urls + min(2.0, share.most) * now.waiting
    )


def _all_together(
    ground: Ground, hosts: _Hosts, urls: Range, listed: tuple[HostForecast, ...], of_hosts: int
) -> Forecast:
    now = ground.steps[-1]
    left = urls.plus(-now.visited)
    budget = _budget(ground)
    by_slots = ground.concurrency / ground.answer if ground.answer > 0.0 else math.inf
    rate = min(ground.cpu, by_slots)

    requests = [min(amount * ground.requests, budget) for amount in (left.likely, left.least, left.most)]

    def seconds(which: int, most: float = rate, times: float = 1.0) -> float:
        of_hosts_known = hosts.until(which, requests[which], most, times)
        return max(of_hosts_known, requests[which] / most if most < math.inf else 0.0)

    spans = Range(*map(seconds, range(3)))
    visits = Range(*(amount / ground.requests if ground.requests else 0.0 for amount in requests))
    changes = [IfChanged("delay", times, seconds(0, times=times)) for times in (0.5, 2.0)]
    changes += [IfChanged("concurrency", times, seconds(0, min(ground.cpu, times * by_slots))) for times in (0.5, 2.0)]
    done = now.visited
    ends = visits.plus(done)
    return Forecast(
        done,
        now.waiting,
        ends,
        ends.times(ground.pages),
        ends.times(ground.requests),
        ends.times(ground.pages * ground.bytes),
        spans,
        _bound(ground, left.likely * ground.requests, budget, spans.likely, (rate, by_slots)),
        hosts.slowest[0],
        tuple(changes),
        listed,
        of_hosts,
    )


def _budget(ground: Ground) -> float:
    """Requests until the first budget is spent."""
    pages = math.inf if ground.pages_left is None else max(0.0, ground.pages_left)
    if ground.bytes_left is not None and ground.bytes > 0.0:
        pages = min(pages, max(0.0, ground.bytes_left) / ground.bytes)
    return pages / ground.pages * ground.requests if ground.pages > 0.0 else math.inf if pages else 0.0


def _bound(ground: Ground, requests: float, budget: float, seconds: float, rates: tuple[float, float]) -> Bound:
    """What the end waits for; ``rates``: most requests a second, and those by the requests at once."""
    if budget < requests:
        return "budget"
    if requests <= 0.0 or seconds <= 0.0:
        return "nothing"
    rate, by_slots = rates
    if rate < math.inf and seconds <= requests / rate * (1.0 + 1e-9):
        return "concurrency" if by_slots < ground.cpu else "cpu"
    return "host"
