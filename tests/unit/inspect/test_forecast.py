"""How much a crawl will have in the end, and when: of webs whose ends are known."""

import random
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from gregor.schemas.messages import Attempt, Row, Ticket
from gregor.schemas.parts import RequestStart
from gregor.worker.config.settings import Config, HostOverride
from gregor.worker.inspect import forecast_text
from gregor.worker.inspect.forecast import Forecast, Ground, HostSoFar, Range, forecast, in_the_end
from gregor.worker.inspect.forecast_data import SoFar
from gregor.worker.inspect.outlook import Remaining, span_left
from gregor.worker.inspect.rates import Rates
from gregor.worker.observe.course import STEPS, Course, GrowthStep
from gregor.worker.settle.rows import forgotten

DAY_ONE = 1_700_000_000.0


def still(visited: int, known: int) -> tuple[GrowthStep, ...]:
    """Growth that is over."""
    return (*(GrowthStep(visited * step // STEPS, known) for step in range(1, STEPS)), GrowthStep(visited, known))


def ground(visited: int, known: int, **more: Any) -> Ground:
    usual: dict[str, Any] = {"pages": 1.0, "requests": 1.0, "bytes": 1000.0, "cpu": 1e9, "answer": 0.1}
    return Ground(**{"steps": still(visited, known), "concurrency": 64, **usual, **more})


def host(name: str, visited: int, known: int, seconds: float = 1.0, least: float = 0.1) -> HostSoFar:
    return HostSoFar(name, still(visited, known), seconds, least)


def test_what_is_known_is_the_least_and_all_when_nothing_waits() -> None:
    assert in_the_end(still(100, 100)) == Range(100.0, 100.0, 100.0)
    end = in_the_end(still(100, 300))
    assert end.least == 300 < end.likely < end.most


def test_the_more_a_visit_brought_lately_the_more_will_come() -> None:
    slow = in_the_end([GrowthStep(50, 200), GrowthStep(100, 210)])
    quick = in_the_end([GrowthStep(50, 200), GrowthStep(100, 300)])
    assert quick.likely - 300 > slow.likely - 210


@pytest.mark.parametrize(
    "steps",
    [[GrowthStep(0, 0)], [GrowthStep(0, 9)], [GrowthStep(1, 1)], [GrowthStep(1, 5000)] * STEPS, still(3, 10**9)],
)
def test_a_beginning_is_no_end(steps: list[GrowthStep]) -> None:
    end = in_the_end(steps)
    assert steps[-1].urls == end.least <= end.likely <= end.most < 1e12


def test_hosts_work_side_by_side_and_the_last_one_ends_the_crawl() -> None:
    told = forecast(ground(110, 410), [host("a", 10, 110), host("b", 100, 300, seconds=3.0)], 1)
    assert told.bound == "host"
    assert told.slowest == "b" == told.hosts[0].host
    assert told.of_hosts == 2
    assert told.seconds.least == 600.0 <= told.seconds.likely <= told.seconds.most
    by_setting = {(change.setting, change.times): change.seconds for change in told.changes}
    assert by_setting["delay", 0.5] == pytest.approx(told.seconds.likely / 2)
    assert by_setting["concurrency", 2.0] == pytest.approx(told.seconds.likely)


@pytest.mark.parametrize(
    ("more", "bound"),
    [
        ({"cpu": 0.5}, "cpu"),
        ({"concurrency": 1, "answer": 10.0}, "concurrency"),
        ({"pages_left": 5.0}, "budget"),
        ({"bytes_left": 5000.0}, "budget"),
        ({"pages_left": 0.0}, "budget"),
        ({"pages_left": -3.0}, "budget"),
        ({"pages_left": 1e9}, "host"),
    ],
)
def test_what_bounds_it(more: dict[str, Any], bound: str) -> None:
    told = forecast(ground(100, 200, **more), [host("a", 100, 200)], 5)
    assert told.bound == bound
    if bound == "budget":
        left = max(0.0, more.get("pages_left", 5.0))
        assert told.urls.most == told.pages.likely == 100 + left
        assert told.seconds.likely == pytest.approx(left)


def test_a_budget_is_spent_by_all_hosts_together() -> None:
    hosts = [host(f"h{number}", 10, 110) for number in range(10)]
    told = forecast(ground(100, 1100, pages_left=100.0), hosts, 5)
    assert told.seconds.likely == pytest.approx(10.0, rel=0.01)


def test_more_requests_at_once_help_where_they_bound_it() -> None:
    told = forecast(ground(100, 1100, concurrency=1, answer=2.0), [host("a", 100, 1100)], 0)
    changes = {(change.setting, change.times): change.seconds for change in told.changes}
    assert changes["concurrency", 2.0] < changes["concurrency", 0.5]


def test_nothing_is_left() -> None:
    told = forecast(ground(10, 10), [host("a", 10, 10)], 5)
    assert (told.bound, told.seconds, told.hosts) == ("nothing", Range(0.0, 0.0, 0.0), ())


# What is read of a crawl


def of_rows(config: Config, visited: Iterable[Row], waiting: Iterable[Ticket]) -> SoFar:
    so_far = SoFar(config)
    for row in visited:
        so_far.visited(row)
    for ticket in waiting:
        so_far.waits(ticket.key, ticket.host, ticket.via)
    return so_far


def rows(count: int, hosts: int = 1, delay: float = 1.0) -> Iterator[Row]:
    """A site of which each page leads to the next two, asked once a second."""
    for number in range(count):
        key, at = f"http://h{number % hosts}.example/{number}", DAY_ONE + number
        via = f"http://h{(number - 1) // 2 % hosts}.example/{(number - 1) // 2}" if number else ""
        attempt = Attempt(at, "fetched", 200, 0.2, "w", (RequestStart(at, delay, delay),))
        state: Any = "fetched"
        row = Row(key, key, f"h{number % hosts}.example", 1, state, "fetched", 200, via=via)
        yield replace(row, page=1, kept_status=200, kept_size=2000, first_seen=at, attempts=(attempt,))


def told_of(all_rows: list[Row], visited: int) -> Forecast:
    """What was known when so many of its pages were visited."""
    there = {row.key for row in all_rows[:visited]}
    waiting = [Ticket(row.href, row.key, row.host, via=row.via) for row in all_rows[visited:] if row.via in there]
    shuffled = random.Random(1).sample(all_rows[:visited], visited)  # rows come in no order
    with of_rows(Config(), shuffled, waiting) as so_far:
        return so_far.forecast(10, 1e9)


@pytest.mark.parametrize("hosts", [1, 3])
def test_the_end_lies_within_the_interval(hosts: int) -> None:
    everything = list(rows(600, hosts))
    for visited in (150, 300, 590):
        told = told_of(everything, visited)
        assert told.visited == visited
        assert told.urls.least <= 600 <= told.urls.most
        assert told.seconds.least <= (600 - visited) / hosts + 2
        assert told.seconds.most >= (600 - visited) / hosts - 2
        assert told.bytes.likely == pytest.approx(told.pages.likely * 2000)


def test_a_crawl_without_a_visit_goes_by_what_waits_and_the_settings() -> None:
    slow = Config(hosts=(HostOverride(host="slow.example", delay=60.0),))
    tickets = [Ticket("", f"http://{name}.example/{n}", f"{name}.example") for name in ("slow", "h") for n in range(10)]
    with of_rows(slow, [], tickets) as so_far:
        told = so_far.forecast(10, 1e9)
    assert (told.visited, told.waiting, told.slowest) == (0, 20, "slow.example")
    assert told.seconds.least == 600.0


def test_of_an_empty_crawl_nothing_is_expected() -> None:
    with of_rows(Config(), [], []) as so_far:
        assert so_far.forecast(10, 1e9).urls == Range(0.0, 0.0, 0.0)


def test_what_failed_waits_and_what_was_found_again_is_there_once() -> None:
    first, *others = rows(10)
    retried = replace(first, state="waiting")
    twice = Ticket(first.href, first.key, first.host)
    with of_rows(Config(), [retried, *others], [twice, twice]) as so_far:
        told = so_far.forecast(10, 1e9)
    assert (told.visited, told.waiting) == (9, 1)


def test_a_delay_that_a_site_asks_for_does_not_change_with_ours() -> None:
    told = told_of(list(rows(600, delay=10.0)), 100)
    halved = next(change for change in told.changes if (change.setting, change.times) == ("delay", 0.5))
    assert halved.seconds == pytest.approx(told.seconds.likely)


def test_rows_of_before_say_less_and_are_read() -> None:
    bare = [Row(f"http://h/{n}", "", "h", 1, "fetched", "fetched") for n in range(5)]
    with of_rows(Config(), [*bare, forgotten(bare[0])], []) as so_far:
        assert so_far.forecast(10, 1e9).visited == 5


def test_it_is_told_in_words() -> None:
    told = told_of(list(rows(600, 3)), 150)
    text = list(forecast_text.lines(told, again=True))
    assert any(line.startswith("time left: about ") for line in text)
    assert any("visited again without end" in line for line in text)
    assert sum(line.endswith(".example") for line in text) >= 3
    assert text[0].startswith("150 URLs visited, ")
    alone = replace(told, visited=1, waiting=1234)
    assert next(forecast_text.lines(alone, again=False)) == "1 URL visited, 1,234 URLs known to wait"
    one = replace(told, requests=Range(1.0, 1.0, 2.0))
    assert any("  1 request (1 to 2)" in line for line in forecast_text.lines(one, again=False))
    few = replace(told, hosts=told.hosts[:1])
    assert list(forecast_text.lines(few, again=False))[-1] == "and 2 hosts more: --limit 3 lists all"


# While it runs


def test_the_course_of_a_long_crawl_keeps_a_bounded_number_of_moments() -> None:
    course = Course()
    assert course.steps() == ()
    for visited in range(20_000):
        course.add(visited, 2 * visited + 10)
    steps = course.steps()
    assert len(steps) == STEPS
    assert steps[-1] == GrowthStep(19_999, 40_008)
    wanted = [20_000 * step / STEPS for step in range(1, STEPS)]
    assert all(abs(step.visited - want) < 700 for step, want in zip(steps, wanted, strict=False))


def test_the_time_to_the_end_reckons_with_what_is_still_found() -> None:
    remaining, rates = Remaining(100, 0.0, False), Rates(1.0, 1.0, 0.0)
    assert span_left(remaining, rates, ()) == Range(100.0, 100.0, 100.0)
    span = span_left(remaining, rates, [GrowthStep(50, 120), GrowthStep(100, 200)])
    assert span is not None
    assert span.least == 100.0 < span.likely < span.most
    assert span_left(Remaining(100, 0.0, True), rates, ()) is None
    capped = span_left(Remaining(100, 0.0, False, seconds=30.0), rates, [GrowthStep(50, 120), GrowthStep(100, 200)])
    assert capped == Range(30.0, 30.0, 30.0)
