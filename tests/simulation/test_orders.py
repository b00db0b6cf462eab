"""Orders in the middle of a crawl that faults disturb: they are obeyed, and no invariant breaks for them."""

import asyncio
from collections.abc import Callable
from contextvars import Context
from functools import partial
from random import Random

import pytest

from gregor.worker.links.tickets import again
from gregor.worker.orders.model import By, Order, OrderKind, give, take_back
from tests.simulation.checker import check
from tests.simulation.clock import WALL_EPOCH
from tests.simulation.crawl import Prepare, Run, Worker
from tests.simulation.faults import Fault
from tests.simulation.scenarios import config, scripted
from tests.simulation.sites import HOST, OTHER, page, requests, row, site, star
from tests.simulation.web import Site, Web

ME = By("operator", 0.0)
Step = tuple[float, Callable[[Run], object]]


def at(seconds: float, kind: OrderKind, target: str = "", value: float | None = None) -> Step:
    """An order that is given then."""
    change = partial(give, order=Order(kind, target, value), by=ME)
    return seconds, lambda run: run.world.zookeeper.change_orders(change)


def back(seconds: float, name: str) -> Step:
    """An order that is taken back then."""
    return seconds, lambda run: run.world.zookeeper.change_orders(partial(take_back, name=name, by=ME))


def plan(steps: list[Step]) -> Prepare:
    """Has steps done at their times after the first worker's start, by nobody that a fault can kill."""
    left = list(steps)

    def begin(run: Run, _: Worker) -> None:
        for seconds, step in left:
            asyncio.get_running_loop().call_later(seconds, step, run, context=Context())
        left.clear()

    return begin


def crawl(steps: list[Step], *faults: Fault, workers: int = 1, sites: int = 2, **settings: object) -> Run:
    """A crawl of small sites in which no invariant may break, whatever is ordered."""
    hosts = [site(star(12, bridge=page("bridge", f"http://{OTHER}/"))), site(star(12), OTHER)]
    run = scripted(
        Web(hosts[:sites]), list(faults), workers=workers, settings=config(**settings), prepare=plan(steps)
    )()
    if wrong := check(run):
        pytest.fail("\n".join(map(str, wrong)))
    return run


def between(run: Run, begin: float, end: float) -> set[str]:
    """Who made requests then."""
    return {exchange.client for exchange in run.web.log if begin < exchange.start < end}


def test_a_drained_worker_asks_nothing_and_another_goes_on() -> None:
    run = crawl([at(5.0, "drain", "a1"), back(20.0, "drain a1")], workers=2, partitions=8)
    assert between(run, 0.0, 5.0) <= {"a1", "b1"}
    assert between(run, 7.0, 20.0) == {"b1"}
    assert run.worker("a1").runtime.stats.leases_lost == 0


def test_a_partition_is_given_up_though_new_hosts_are_found_all_the_time() -> None:
    names = [f"h{number}.site.example" for number in range(120)]
    web = Web([Site(name, (f"11.0.0.{number + 1}",), 0.7) for number, name in enumerate(names)])
    for number, one in enumerate(web.sites.values()):
        links = names[1:9] if number == 0 else names[number + 8 : number + 9]
        one.resources["/"] = page(f"host{number}x", *(f"http://{name}/" for name in links))
    settings = config(partitions=2, concurrency=20)
    run = scripted(web, [], workers=2, settings=settings, prepare=plan([at(10.0, "drain", "a1")]), patience=60.0)()
    assert between(run, 0.0, 10.0) == {"a1", "b1"}
    assert between(run, 13.0, 60.0) == {"b1"}
    assert not [one for one in run.web.log if one.aborted]


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("op", ["leave", "release", "join"])
@pytest.mark.parametrize("kind", ["die", "lost", "cut", "pause"])
def test_a_drain_is_disturbed(kind: str, op: str, n: int) -> None:
    steps = [at(4.0, "drain", "a1"), back(30.0, "drain a1")]
    crawl(steps, Fault(kind, "coordinator", op, n, seconds=15.0), workers=2, partitions=8)  # type: ignore[arg-type]


def test_a_lone_worker_that_was_drained_goes_on() -> None:
    run = crawl([at(3.0, "drain", "a1"), back(40.0, "drain a1")])
    assert between(run, 5.0, 40.0) == set()
    assert row(run, "/p3").state == "fetched"


def test_a_rate_of_the_crawl_is_kept_by_all_workers_together() -> None:
    run = crawl([at(0.0, "rate", "*", 0.25)], workers=2, partitions=8, delay=0.1)
    starts = sorted(exchange.start for exchange in run.web.log)
    for begin in starts:
        assert sum(begin <= start < begin + 40.0 for start in starts) <= 0.25 * 40.0 + 4


@pytest.mark.parametrize("dies", [0, 2, 6])
def test_a_delay_that_was_a_mistake_is_over_with_its_order(dies: int) -> None:
    """Also for a worker that finds it in the records of its hosts."""
    faults = [Fault("die", "coordinator", "ping", 4 + dies)] if dies else []
    run = crawl([at(3.0, "delay", "*", 3600.0), back(40.0, "delay *")], *faults)
    quiet = [exchange.start for exchange in run.web.log if 6.0 < exchange.start < 40.0]
    assert quiet == []
    assert run.ended < 400.0


@pytest.mark.parametrize("seed", range(12))
def test_whatever_is_ordered_and_taken_back(seed: int) -> None:
    """At random, with two workers and a fault; in the end all is taken back, and the crawl ends as without."""
    chance, steps = Random(f"orders {seed}"), list[Step]()
    possible: list[tuple[OrderKind, str, float | None]] = [
        ("pause", "", None),
        ("block", HOST, None),
        ("block", "*.site.example", None),
        ("delay", "*", 7.0),
        ("rate", "*", 0.05),
        ("rate", "*.site.example", 0.1),
        ("rate", OTHER, 0.2),
        ("concurrency", "*", 1),
        ("concurrency", "*.site.example", 1),
        ("priority", OTHER, 1),
        ("drain", "a1", None),
        ("drain", "b1", None),
    ]
    for _ in range(8):
        kind, target, value = chance.choice(possible)
        steps.append(at(chance.uniform(0.0, 40.0), kind, target, value))
        steps.append(back(chance.uniform(0.0, 60.0), Order(kind, target).name))
    steps += [back(61.0, Order(kind, target).name) for kind, target, _ in possible]
    faults = [Fault("die", "store", "put_rows", chance.randint(1, 10))] if seed % 2 else []
    run = crawl(steps, *faults, workers=2, delay=0.5)
    ends = {row(run, f"/p{number}", host).state for number in range(12) for host in (HOST, OTHER)}
    assert ends <= {"fetched", "duplicate"}


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("op", ["put_entries", "read_bucket", "put_rows", "drop_bucket"])
def test_another_visit_is_made_once_whatever_dies(op: str, n: int) -> None:
    asked: list[object] = []

    def ask(run: Run) -> None:
        known = run.world.store.rows_by_key.values.get(f"http://{HOST}/p0")
        if known is not None and not asked:
            asked.append(known)
            run.world.log.publish([again(known), again(known)])

    run = crawl([(float(second), ask) for second in range(30)], Fault("die", "store", op, n, "after"), sites=1)
    assert asked
    assert row(run, "/p0").visits == 2
    assert len(requests(run, "/p0")) in (2, 3)


def test_a_visit_that_was_ordered_by_a_clock_far_ahead_reads_robots_txt_anew_once() -> None:
    """It was asked for next year, as it says, so whatever refuses it looks older for good."""
    asked: list[object] = []

    def ask(run: Run) -> None:
        known = run.world.store.rows_by_key.values.get(f"http://{HOST}/p0")
        if known is not None and not asked:
            asked.append(known)
            run.world.log.publish([again(known, at=WALL_EPOCH + 365 * 86400.0)])

    web = Web([site(star(3), disallowed=("/p0",))])
    steps: list[Step] = [(float(second), ask) for second in range(30)]
    run = scripted(web, [], settings=config(), prepare=plan(steps), patience=2000.0)()
    assert not check(run)
    assert asked
    assert (row(run, "/p0").state, row(run, "/p0").visits) == ("denied", 2)
    assert len(requests(run, "/robots.txt")) == 2
