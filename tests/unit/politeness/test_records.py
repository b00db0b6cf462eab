"""What a later owner must know of a host is durable before the first turn that needs it, and is obeyed."""

import asyncio
from typing import Any

import msgspec
import pytest

from gregor.schemas.messages import HostRecord, Ticket
from gregor.worker.links.rank import Rank
from gregor.worker.orders.model import Orders
from gregor.worker.politeness.host_records import Answered, OriginFailed
from gregor.worker.web.urls import Urls
from tests.unit.politeness.test_turns import HTTP, URL, Desk


def inherited(record: HostRecord | None, **settings: Any) -> Desk:
    """The desk of a second owner, who took over now and finds this record."""
    desk = Desk(**settings)
    lease: Any = desk.partition.lease
    lease.epoch, lease.taken_at = 2, desk.clock.wall()

    async def found(_: str) -> HostRecord | None:
        return record

    store: Any = desk.records._store
    store.host = found
    return desk


def test_the_delay_between_two_pages_is_kept_when_a_robots_txt_came_between() -> None:
    desk = Desk(delay=1.0, max_crawl_delay=60.0)
    desk.host.crawl_delays[HTTP] = 20.0
    desk.begin()
    page_at = desk.clock.monotonic()
    desk.send(URL, rules=1.0)
    desk.over(Answered(HTTP))
    assert desk.host.next_turn == page_at + 20.0
    desk.clock.pass_(15.0)
    desk.send()
    desk.over(Answered(HTTP, robots=True))
    assert desk.host.next_turn == page_at + 20.0
    desk.clock.pass_(4.5)
    desk.send()
    desk.over(Answered(HTTP, robots=True))
    assert desk.host.next_turn == page_at + 15.0 + 4.5 + 1.0, "and the least delay after the robots.txt"


def test_the_ceiling_of_a_delay_is_durable_before_the_request_that_needs_it() -> None:
    desk = Desk(delay=1.0, max_crawl_delay=60.0)
    desk.host.crawl_delays[HTTP] = 20.0
    desk.begin()
    asyncio.run(desk.turn.for_page(URL, 1.0))
    assert desk.kept.ceiling == 32.0
    assert not desk.turn.used


def test_a_ceiling_that_latency_raised_is_durable_with_the_answer() -> None:
    desk = Desk(delay=1.0, max_crawl_delay=60.0)
    desk.begin()
    desk.send(URL, rules=1.0)
    desk.host.crawl_delays[HTTP] = 40.0
    desk.over(Answered(HTTP))
    assert desk.kept.ceiling == 64.0


def test_what_a_host_asked_for_is_durable() -> None:
    desk = Desk(delay=1.0)
    desk.begin()
    desk.over(Answered(HTTP, pause=50.0))
    assert desk.kept.not_before == desk.clock.wall() + 50.0
    assert desk.host.next_turn == desk.clock.monotonic() + 50.0


def test_what_was_learnt_of_the_urls_of_a_host_is_kept_and_a_later_owner_goes_on_from_it() -> None:
    desk = Desk()
    desk.begin()
    for month in range(40):
        page, via = f"{URL}cal?m={month}", f"{URL}cal?m={month - 1}"
        if (url := Urls().parse(page)) is not None:
            desk.traps.learn(url, text=f"No events {month}", via=via)
        desk.over(Answered(HTTP))
    next_month = Ticket(f"{URL}cal?m=99", f"{URL}cal?m=99", "a.example", depth=9, via=f"{URL}cal?m=98", link="a")
    assert desk.kept.shapes
    later = inherited(desk.kept)
    later.begin()
    assert later.traps.judge(next_month).rank is Rank.SPENT
    damaged = inherited(msgspec.structs.replace(desk.kept, shapes=desk.kept.shapes[:-3]))
    damaged.begin()
    assert damaged.traps.judge(next_month).rank < Rank.SPENT


def test_the_back_off_of_a_host_that_failed_is_durable_and_doubles() -> None:
    desk = Desk(delay=0.0, retries=5, host_failures=6, retry_pause=10.0, retry_jitter=0.0)
    desk.begin()
    for pause in (10.0, 20.0, 40.0):
        desk.over(OriginFailed(HTTP, "connection refused"))
        assert desk.kept.not_before == desk.clock.wall() + pause
        assert desk.host.next_turn == desk.clock.monotonic() + pause


def test_a_host_that_failed_is_left_alone_as_long_as_it_asked_for() -> None:
    desk = Desk(delay=0.0, retries=5, host_failures=6, retry_pause=10.0, retry_jitter=0.0)
    desk.begin()
    desk.over(OriginFailed(HTTP, "robots.txt unreachable", at_least=90.0, robots=True))
    assert desk.kept.not_before == desk.clock.wall() + 90.0
    assert desk.host.next_turn == desk.clock.monotonic() + 90.0


@pytest.mark.parametrize("retries", [0, 1, 9])
@pytest.mark.parametrize(
    ("answered", "silent", "tries"),
    [
        pytest.param(False, False, None, id="never reached: as many tries as one URL has"),
        pytest.param(True, False, 4, id="it answered before"),
        pytest.param(False, True, 4, id="it takes connections"),
        pytest.param(True, True, 4, id="it takes connections and answered before"),
    ],
)
def test_a_host_is_given_up_after_failures_of_several_urls(
    answered: bool, silent: bool, tries: int | None, retries: int
) -> None:
    desk = Desk(retries=retries, host_failures=4, retry_pause=10.0, retry_jitter=0.0)
    desk.begin()
    desk.host.latency = 0.1 if answered else 0.0
    for tried in range(1, (tries or min(4, retries + 1)) + 1):
        assert not desk.records.given_up(desk.host, HTTP)
        desk.over(OriginFailed(HTTP, "no answer", silent=tried if silent else 0))
    assert desk.records.given_up(desk.host, HTTP) == "no answer"
    desk.over(Answered(HTTP))
    desk.over(OriginFailed(HTTP, "no answer", silent=9))
    assert not desk.records.given_up(desk.host, HTTP), "only what failed since it answered counts"


def test_one_slow_url_never_gives_its_host_up() -> None:
    desk = Desk(host_failures=3, retry_pause=10.0, retry_jitter=0.0)
    desk.begin()
    for _ in range(9):
        desk.over(OriginFailed(HTTP, "no answer", silent=1))
        assert not desk.records.given_up(desk.host, HTTP)
        assert desk.kept.not_before == desk.clock.wall() + 10.0, "it is left alone all the same"
    desk.over(OriginFailed(HTTP, "no answer", silent=2))
    desk.over(OriginFailed(HTTP, "no answer", silent=1))
    desk.over(OriginFailed(HTTP, "no answer", silent=3))
    assert desk.records.given_up(desk.host, HTTP)


@pytest.mark.parametrize(
    ("record", "wait"),
    [
        (None, 3.0),
        (HostRecord("a.example", ceiling=16.0), 16.0),
        (HostRecord("a.example", ceiling=1.0), 3.0),
        (HostRecord("a.example", ceiling=16.0, not_before=1_800_000_000.0 + 90.0), 90.0),
    ],
)
def test_a_new_owner_waits_for_what_the_record_says_before_a_hosts_first_turn(
    record: HostRecord | None, wait: float
) -> None:
    desk = inherited(record, delay=1.0, first_contact_delay=3.0, max_crawl_delay=60.0)
    desk.begin()
    assert desk.host.next_turn == pytest.approx(desk.clock.monotonic() + wait)
    assert not desk.turn.open


def test_what_a_host_asked_for_holds_also_when_its_owner_had_forgotten_it() -> None:
    desk = inherited(HostRecord("a.example", not_before=1_800_000_000.0 + 90.0), delay=1.0)
    lease: Any = desk.partition.lease
    lease.epoch = 1
    desk.begin()
    assert desk.host.next_turn == pytest.approx(desk.clock.monotonic() + 90.0)


def test_a_host_that_its_owner_never_asked_waits_for_what_the_record_says_whatever_is_ordered() -> None:
    desk = inherited(HostRecord("a.example", ceiling=16.0), delay=1.0, max_crawl_delay=60.0)
    desk.begin()
    assert not desk.turns.sooner(desk.host)
    assert desk.host.next_turn == pytest.approx(desk.clock.monotonic() + 16.0)


def test_the_first_owner_of_all_need_not_wait() -> None:
    desk = Desk(delay=1.0, first_contact_delay=3.0)
    desk.begin()
    assert desk.turn.open


def test_a_shorter_delay_does_not_end_what_the_host_asked_for() -> None:
    desk = Desk(delay=1.0)
    desk.order(300.0)
    desk.begin()
    desk.send(URL, rules=1.0)
    desk.over(Answered(HTTP, pause=100.0))
    due = desk.host.next_turn
    desk.orders = Orders()
    assert not desk.turns.sooner(desk.host)
    assert desk.host.next_turn == due
    desk.clock.pass_(101.0)
    assert desk.turns.sooner(desk.host)
    assert desk.host.next_turn == desk.clock.monotonic()


def test_the_redirect_of_a_robots_txt_does_not_end_the_failures_of_its_target() -> None:
    desk = Desk()
    desk.begin()
    desk.over(OriginFailed(HTTP, "robots.txt unreachable", robots=True))
    desk.over(Answered(HTTP, robots=True, mends=False))
    assert desk.host.record.failures == 1
    desk.over(Answered(HTTP, robots=True))
    assert desk.host.record.failures == 0
