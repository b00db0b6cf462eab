"""Crawls that need no crawler: what the order of each host's URLs alone can give, under the same politeness."""

import heapq
import math
from collections.abc import Callable, Sequence
from itertools import count

from benchmarks.ordering.webs import LinkedWeb


def breadth_first(web: LinkedWeb, concurrency: int, latency: float) -> list[int]:
    """The pages in the order in which they are fetched when each host's URL that was found first is next."""
    met = count()
    return _crawled(web, lambda _: next(met), concurrency, latency)


def oracle(web: LinkedWeb, concurrency: int, latency: float) -> list[int]:
    """The same when the one with the highest PageRank is next. Seeds come first, as in every crawl."""
    ranks = web.ranks
    return _crawled(web, lambda page: -float(ranks[page]), concurrency, latency)


def _crawled(web: LinkedWeb, place: Callable[[int], float], concurrency: int, latency: float) -> list[int]:
    """Pages in their order: a request to each host a second, so many at once, each of which takes ``latency`` seconds.
    ``place`` gives a URL its place when it is found; seeds come before all others of their hosts."""
    queues: dict[str, list[tuple[float, int, int]]] = {}
    turns: list[tuple[float, int, str]] = []
    free = [0.0] * concurrency
    met, sequence, order = set[int](), count(), list[int]()
    next_turn: dict[str, float] = {}
    scheduled: set[str] = set()

    def find(pages: Sequence[int], now: float, first: float | None = None) -> None:
        for page in pages:
            if page not in met:
                met.add(page)
                host = web.hosts[page]
                heapq.heappush(
                    queues.setdefault(host, []), (place(page) if first is None else first, next(sequence), page)
                )
                if host not in scheduled:
                    scheduled.add(host)
                    heapq.heappush(turns, (max(now, next_turn.get(host, 0.0)), next(sequence), host))

    find(web.seeds, 0.0, -math.inf)
    while turns:
        due, _, host = heapq.heappop(turns)
        now = max(due, heapq.heappop(free))
        heapq.heappush(free, now + latency)
        page = heapq.heappop(queues[host])[2]
        if page not in web.moved:
            order.append(page)
        next_turn[host] = now + 1.0
        if queues[host]:
            heapq.heappush(turns, (now + 1.0, next(sequence), host))
        else:
            scheduled.discard(host)
        find(web.links[page], now + latency)
    return order
