"""The turns of a host: what is put on record of each request."""

import asyncio
import random
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any, cast

import pytest

from gregor.schemas.messages import PRIORITIES, HostRecord
from gregor.schemas.parts import RequestStart
from gregor.worker.borders.effects import Retries
from gregor.worker.borders.store import PageStore
from gregor.worker.config.settings import Config
from gregor.worker.frontier.calendar import Calendar
from gregor.worker.frontier.domain_budget import DomainPages
from gregor.worker.frontier.host import UNTOLD, Host, RobotsWalk
from gregor.worker.frontier.partition import FEW_HOSTS, KEPT_IDLE, Partition
from gregor.worker.frontier.schedule import HostSchedule
from gregor.worker.links.traps import Traps
from gregor.worker.observe.stats import Stats
from gregor.worker.orders.in_force import OrdersInForce
from gregor.worker.orders.model import By, Order, Orders, give
from gregor.worker.politeness.budgets import HostBudgets
from gregor.worker.politeness.host_records import Answered, HostRecords, OriginFailed, TurnResult
from gregor.worker.politeness.spacing import Spacing
from gregor.worker.politeness.turns import Turns
from gregor.worker.run.order_gate import OrderGate
from tests.contract.world import ManualClock

URL = "http://a.example/"


class Desk:
    """Turns with a coordinator, a store and a lease of the test's own."""

    def __init__(self, **settings: Any) -> None:
        self.clock, self.orders, self.holds = ManualClock(), Orders(), True
        store = cast(PageStore, SimpleNamespace(host=self._no_record, put_host=self._keep))
        stats, chance = Stats(), random.Random(1)
        self.stats, self.traps = stats, Traps()
        self.in_force = OrdersInForce(lambda: self.orders)
        lease: Any = SimpleNamespace(holds=lambda: self.holds, epoch=1, taken_at=0.0, partition=0)
        self.partition = Partition(lease, dict.fromkeys(PRIORITIES, 0), {}, Calendar(0, [], 1.0, 1))
        config = Config(delay_factor=0.0, **settings)
        spacing = Spacing(config, self.in_force)
        budgets = HostBudgets(config, self.in_force, DomainPages())
        self.records = HostRecords(
            self.partition,
            config=config,
            spacing=spacing,
            budgets=budgets,
            store=store,
            effects=Retries(stats, chance).under(lease),
            traps=self.traps,
            now=self.clock.wall,
            chance=chance,
        )
        self.turns = Turns(
            self.partition,
            records=self.records,
            spacing=spacing,
            budgets=budgets,
            schedule=HostSchedule(self.clock.monotonic, lambda: None),
            now=self.clock.wall,
            monotonic=self.clock.monotonic,
            stats=stats,
        )
        self.host = Host("a.example", 0)

    async def _no_record(self, _: str) -> None:
        return None

    async def _keep(self, record: HostRecord, _: int) -> None:
        self.kept = record

    def begin(self) -> None:
        self.turn = asyncio.run(self.turns.begin(self.host))

    def send(self, href: str = "", rules: float = 0.0) -> bool:
        """Make a request as a transport does; False if it is not allowed."""
        permit = asyncio.run(self.turn.for_page(href, rules)) if href else self.turn.for_robots()
        allowed = permit.allows()
        if allowed:
            permit.sent()
        return allowed

    def over(self, result: TurnResult) -> None:
        asyncio.run(self.turn.over(result))

    def order(self, seconds: float) -> None:
        self.orders = give(self.orders, Order("delay", "a.example", seconds), By("me", 1.0))


def test_each_request_is_on_record_with_what_was_in_force() -> None:
    desk = Desk(delay=2.0, max_crawl_delay=30.0)
    desk.begin()
    begun = desk.clock.wall()
    assert desk.send()
    desk.host.crawl_delays["http://a.example"] = 60.0
    desk.clock.pass_(2.5)
    assert desk.send(URL, rules=begun)
    first, second = desk.host.take_requests()
    assert first == RequestStart(first.at, 2.0, robots=True)
    assert second == RequestStart(second.at, 2.0, 30.0, begun, URL)
    assert (first.at, second.at) == pytest.approx((begun, begun + 2.5))
    assert desk.host.take_requests() == ()


def test_the_permission_only_reads_and_the_start_is_what_is_noted() -> None:
    desk = Desk(delay=2.0)
    desk.begin()
    permit = asyncio.run(desk.turn.for_page(URL, 1.0))

    def noted() -> list[object]:
        state = [getattr(desk.host, name) for name in Host.__slots__ if name not in ("queue", "record")]
        return [*state, desk.turn.used, desk.stats.requests, desk.stats.margin.value(desk.clock.monotonic())]

    before = noted()
    desk.order(600.0)  # tables of orders are not made anew by whoever asks
    with ThreadPoolExecutor(1) as elsewhere:
        assert elsewhere.submit(permit.allows).result()
    assert noted() == before
    permit.sent()
    assert desk.turn.used
    assert desk.host.last_start == desk.host.last_page == desk.clock.monotonic()
    assert [(one.href, one.rules) for one in desk.host.take_requests()] == [(URL, 1.0)]


def test_without_a_lease_nothing_is_sent_or_on_record() -> None:
    desk = Desk()
    desk.begin()
    desk.holds = False
    assert not desk.send(URL, rules=1.0)
    assert desk.host.take_requests() == ()


def test_an_order_that_comes_during_a_turn_holds_from_the_next_one_on() -> None:
    desk = Desk(delay=2.0)
    desk.begin()
    desk.order(600.0)
    desk.send(URL, rules=1.0)
    desk.begin()
    desk.send(URL, rules=1.0)
    desk.order(5.0)  # one that eases holds at once
    desk.send(URL, rules=1.0)
    assert [(one.delay, one.page_delay) for one in desk.host.take_requests()] == [
        (2.0, 2.0),
        (600.0, 600.0),
        (5.0, 5.0),
    ]


def test_what_waits_to_be_told_is_bounded() -> None:
    desk = Desk()
    desk.begin()
    for _ in range(10 * UNTOLD):
        desk.send()
    assert len(desk.host.take_requests()) == UNTOLD + 1


def test_what_a_turn_waited_for_brings_the_next_one_no_sooner_than_the_delay() -> None:
    """A name that was found, or a place at its address, says nothing of the host's own delay."""
    desk, wakes = Desk(delay=10.0), list[Any]()
    desk.begin()
    begun = desk.clock.monotonic()
    assert desk.send(URL, rules=1.0)
    held: Any = SimpleNamespace(seconds=60.0, call_when_over=lambda _, wake: wakes.append(wake))
    desk.turn.wait_for(held)
    assert desk.host.next_turn == begun + 60.0
    desk.clock.pass_(1.0)
    assert wakes[0]()
    assert desk.host.next_turn == begun + 10.0
    assert not wakes[0](), "its next turn is another one by now"


def test_a_shorter_delay_brings_no_host_forward_that_waits_for_another_ones_robots_txt() -> None:
    desk = Desk(delay=10.0)
    desk.begin()
    assert desk.send(URL, rules=1.0)
    desk.clock.pass_(60.0)
    for walks in ({"http://a.example": RobotsWalk("http://b.example/robots.txt")}, {}):
        desk.host.walks, desk.host.next_turn = walks, desk.clock.monotonic() + 30.0
        assert desk.turns.sooner(desk.host) is not bool(walks)


HTTP, HTTPS = "http://a.example", "https://a.example"


def test_an_origin_that_cannot_be_reached_is_given_up_and_the_other_one_is_not() -> None:
    desk = Desk(delay=0.0, retries=2, retry_pause=10.0, retry_jitter=0.0)
    desk.begin()
    for failures in (1, 2, 3):
        assert not desk.records.given_up(desk.host, HTTPS)
        desk.over(OriginFailed(HTTPS, "connection refused"))
        assert (desk.kept.failures, desk.kept.failing[0].origin) == (failures, HTTPS)
        given_up = failures == 3
        assert (desk.host.next_turn > desk.clock.monotonic()) is not given_up, "the host waits until it is given up"
        desk.clock.pass_(0.0 if given_up else 60.0)
    assert desk.records.given_up(desk.host, HTTPS) == "connection refused"
    assert not desk.records.given_up(desk.host, HTTP)
    assert desk.kept.not_before < desk.clock.wall(), "what http serves need not wait for https"

    desk.over(Answered(HTTP))
    assert desk.records.given_up(desk.host, HTTPS), "what http answers says nothing of https"
    desk.clock.pass_(60.0)
    assert not desk.records.given_up(desk.host, HTTPS), "the next one is a probe"
    desk.over(OriginFailed(HTTPS, "time out"))
    assert desk.records.given_up(desk.host, HTTPS) == "time out"
    desk.over(Answered(HTTPS))
    assert (desk.kept.failures, desk.kept.failing) == (0, ())


def test_hosts_may_be_forgotten_while_a_change_of_delays_is_obeyed() -> None:
    desk = Desk()
    hosts = [desk.partition.host(f"h{number}.example") for number in range(2 * FEW_HOSTS)]
    desk.clock.pass_(2 * KEPT_IDLE)
    hosts[0].record_read, hosts[0].next_turn = True, desk.clock.monotonic() + 5.0
    owned: Any = SimpleNamespace(crawl=SimpleNamespace(partition=desk.partition, turns=desk.turns))
    schedule, nothing = HostSchedule(desk.clock.monotonic, lambda: None), cast(Any, None)
    steering = OrderGate(
        desk.in_force,
        {0: owned},
        name="worker",
        partitions=64,
        schedule=schedule,
        domain_pages=DomainPages(),
        store=nothing,
        retries=nothing,
    )
    desk.orders = give(desk.orders, Order("delay", "*", 1.0), By("me", 1.0))
    steering.hear(desk.clock.monotonic())
    assert hosts[0].next_turn == desk.clock.monotonic()
    assert list(desk.partition.hosts.values()) == hosts[:1]


def test_a_host_that_was_forgotten_is_owed_what_came_into_force_since() -> None:
    desk = Desk(delay=2.0, max_crawl_delay=900.0)
    desk.host = desk.partition.host("a.example")
    desk.begin()
    begun = desk.clock.monotonic()
    assert desk.send(URL)
    desk.host.take_requests()
    for number in range(FEW_HOSTS):
        desk.partition.host(f"h{number}.example")
    desk.clock.pass_(2 * KEPT_IDLE)
    desk.partition.forget_idle(desk.clock.monotonic())
    assert not desk.partition.hosts
    desk.order(600.0)
    desk.host = desk.partition.host("a.example")
    desk.begin()
    assert desk.host.next_turn == begun + 600.0
    desk.host.crawl_delays["http://a.example"] = 900.0
    assert desk.turns.spacing.page_due(desk.host) == begun + 900.0
