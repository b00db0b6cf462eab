"""Rates and concurrencies that hosts share: never more than was ordered, and nobody waits for ever."""

import heapq
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from gregor.worker.frontier.host import Host
from gregor.worker.orders.in_force import places_of
from gregor.worker.orders.model import CRAWL
from gregor.worker.politeness.throttle import Shared, Throttle

DOMAIN = "*.example"


def nothing(_: Host) -> Shared:
    return []


def hosts(count: int) -> list[Host]:
    return [Host(f"h{number}.example", 0) for number in range(count)]


@given(st.integers(1, 30), st.floats(0.1, 50.0), st.floats(0.1, 1.0), st.floats(0.0, 0.5))
def test_a_domains_hosts_share_its_rate(count: int, rate: float, share: float, delay: float) -> None:
    throttle, asked = Throttle(), list[float]()
    waiting = [(0.0, number, host) for number, host in enumerate(hosts(count))]
    looks = 0
    while len(asked) < 60:
        due, number, host = heapq.heappop(waiting)
        slot = throttle.slot(host, [(DOMAIN, rate)], share, due)
        if slot <= due:
            asked.append(due)
        heapq.heappush(waiting, (max(slot, due) if slot > due else due + delay, number, host))
        looks += 1
    step = 1.0 / (rate * share)
    gaps = [after - before for before, after in pairwise(asked)]
    assert all(gap >= step * 0.999 for gap in gaps)
    assert looks <= 2 * len(asked) + count, "a host is looked at once to get its slot and once to use it"
    if delay < step and count > 1:
        assert max(gaps) <= step * 1.001, "no slot is left unused"


def test_a_slot_that_was_missed_is_given_up() -> None:
    throttle, (first, second) = Throttle(), hosts(2)
    rates = [(DOMAIN, 0.1)]
    assert throttle.slot(first, rates, 1.0, 0.0) == 0.0
    assert throttle.slot(second, rates, 1.0, 0.0) == 10.0
    assert throttle.slot(first, rates, 1.0, 30.0) == 30.0
    assert throttle.slot(second, rates, 1.0, 30.0) == 40.0, "both at once would be twice the rate"


def test_other_orders_void_the_slots() -> None:
    throttle, (first, second) = Throttle(), hosts(2)
    throttle.slot(first, [(DOMAIN, 0.001)], 1.0, 0.0)
    throttle.slot(second, [(DOMAIN, 0.001)], 1.0, 0.0)
    assert throttle.forget(nothing) == [second]
    assert throttle.slot(second, [], 1.0, 1.0) == 1.0


def test_slots_of_hosts_that_are_gone_are_not_kept() -> None:
    throttle = Throttle()
    for host in hosts(5000):
        throttle.slot(host, [(DOMAIN, 1.0)], 1.0, 0.0)
        host.alive = False
    assert len(throttle._slots) <= 1001


def test_the_rate_of_the_crawl() -> None:
    throttle, started, now = Throttle(), 0, 0.0
    while now < 10.0:
        if throttle.due(now) <= now:
            throttle.spend(5.0, 0.5, now)
            started += 1
        now += 0.01
    assert 24 <= started <= 28  # 2.5 a second; a second's worth may come late
    throttle.forget(nothing)
    assert throttle.due(now) <= now
    throttle.spend(None, 0.5, now)
    assert throttle.due(now) <= now


@given(st.integers(1, 20), st.integers(1, 5), st.lists(st.integers(0, 99), max_size=80))
def test_never_more_hosts_at_once_than_ordered_and_who_waits_is_told(count: int, most: int, moves: list[int]) -> None:
    throttle, order = Throttle(), [(DOMAIN, float(most))]
    ready, running, waiting = hosts(count), list[Host](), set[Host]()
    for move in [*moves, *range(200)]:
        if ready:
            host = ready.pop(move % len(ready))
            if throttle.full(host, order, 1.0):
                waiting.add(host)
            else:
                throttle.enter(host, order)
                running.append(host)
        elif running:
            freed = throttle.leave(running.pop(move % len(running)))
            waiting.difference_update(freed)
            ready += freed
        assert len(running) <= most
    assert not waiting


def test_a_worker_has_its_share_of_a_concurrency() -> None:
    assert [places_of(10, share) for share in (1.0, 0.5, 0.26, 0.01, 0.0)] == [10, 5, 2, 1, 1]
    throttle, (one,) = Throttle(), hosts(1)
    assert not throttle.full(one, [(DOMAIN, 1.0)], 0.1)
    assert CRAWL == "*"


def test_who_is_asked_when_an_order_comes_is_counted() -> None:
    throttle, (first, second, third) = Throttle(), hosts(3)
    for host in (first, second):
        throttle.enter(host, [])
    order = [(DOMAIN, 2.0)]
    assert throttle.forget(lambda _: order) == []
    assert throttle.full(third, order, 1.0)
    assert throttle.leave(first) == [third]
    assert not throttle.full(third, order, 1.0)
