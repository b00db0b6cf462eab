"""What limits the speed of simulated crawls in which each cause in turn is the true one."""

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from gregor.worker.observe.bottleneck import ADVICE
from gregor.worker.observe.cpu_time import CpuTime
from gregor.worker.orders.model import By, Order, give
from tests.simulation.crawl import Run, Worker
from tests.simulation.faults import Fault
from tests.simulation.resources import Html, Link, Resource, Status
from tests.simulation.scenarios import config, scripted
from tests.simulation.web import FOREVER, Site, Web

HOSTS = 6
LAST = 20
"""How many seconds at the end of a run are looked at; the window is shorter."""
TASKS: list[asyncio.Task[None]] = []
"""Kept, so that they are not forgotten while they run."""
FAST = {"retries": 50, "retry_pause_max": 2.0}
Change = Callable[[Run, Worker], None]


class Busy(CpuTime):
    """A process that uses almost a core."""

    def process(self) -> float:
        return 0.97 * asyncio.get_running_loop().time()


def slow(service: str, seconds: float) -> Change:
    """A service that takes long."""

    def change(run: Run, _: Worker) -> None:
        run.world.latencies[service] = seconds

    return change


def busy(_: Run, worker: Worker) -> None:
    worker.runtime.stats.cpu_time = Busy()


def paused(_: Run, worker: Worker) -> None:
    async def order() -> None:
        await asyncio.sleep(20.0)
        await worker.coordinator.change_orders(lambda orders: give(orders, Order("pause"), By("test", 0.0)))

    TASKS.append(asyncio.get_running_loop().create_task(order()))


def nothing(_: Run, __: Worker) -> None: ...


def sites(page: Resource | None = None, alone: bool = False, **more: Any) -> Web:
    """Hosts with pages without end, or with one page. ``alone``: the first has one page, whatever the others are."""
    found = []
    for number in range(HOSTS):
        first = page or Html(f"begin {number}", (Link("/n/1"),))
        site = Site(f"h{number}.example.com", (f"11.0.0.{number + 1}",), **{"latency": 0.1, "trap": "/n/", **more})
        site.resources["/"] = first
        found.append(site)
    if alone:
        found[0] = Site("h0.example.com", ("11.0.0.1",), latency=0.1)
        found[0].resources["/"] = Html("alone")
    return Web(found)


def limits(web: Web, change: Change, faults: list[Fault], **settings: Any) -> tuple[str, str]:
    """What limited most of the last seconds, and how it was told."""
    told: list[tuple[str, str]] = []

    def prepare(run: Run, worker: Worker) -> None:
        change(run, worker)
        TASKS.append(asyncio.get_running_loop().create_task(watch(worker)))

    async def watch(worker: Worker) -> None:
        stats = worker.runtime.stats
        while worker.runtime.ending is None:
            told.append((stats.limit, stats.limiting))
            await asyncio.sleep(1.0)

    chosen = config(**{"partitions": 1, "max_depth": None, "max_time": 60.0, "retry_pause": 1.0, **settings})
    seeds = [f"http://{host}/" for host in web.sites]
    run = scripted(web, faults, settings=chosen, seeds=seeds, prepare=prepare)()
    assert not run.failures
    name = Counter(name for name, _ in told[-LAST:]).most_common(1)[0][0]
    assert name in ADVICE
    return name, next(text for limit, text in reversed(told) if limit == name)


@pytest.mark.parametrize(
    ("name", "says", "web", "change", "settings"),
    [
        ("politeness", "hosts wait", {}, nothing, {}),
        ("CPU", "97% of a core", {}, busy, {}),
        ("concurrency", "of 2 visits run", {"latency": 2.0}, nothing, {"concurrency": 2}),
        ("DNS", "until a name is looked up", {}, slow("dns", 4.0), {}),
        ("DNS", "most of them by dns", {"alone": True, "unknown_until": FOREVER}, nothing, {}),
        ("connect", "own line", {"unknown_until": FOREVER}, nothing, {}),
        ("connect", "most of them by connect", {"dead_until": FOREVER}, nothing, {"connect_timeout": 0.5}),
        ("answers", "of them wait for that", {"latency": 6.0}, nothing, {}),
        ("failures", "most of them by status", {"page": Status(500)}, nothing, FAST),
        ("stores", "the log takes", {}, slow("log", 0.5), {}),
        ("stores", "the seen set takes", {}, slow("seen", 0.5), {}),
        ("stores", "the store takes", {}, slow("store", 0.5), {}),
        ("nothing", "nothing", {"page": Html("alone")}, nothing, {"linger": True}),
        ("paused", "order", {}, paused, {}),
        ("budget", "max_pages: ", {"latency": 9.0}, nothing, {"max_pages": 15}),
    ],
)
def test_the_true_cause_is_named(
    name: str, says: str, web: dict[str, Any], change: Change, settings: dict[str, Any]
) -> None:
    found, text = limits(sites(**web), change, [], **settings)
    assert found == name, text
    assert says in text


@pytest.mark.parametrize(("service", "op"), [("log", "publish"), ("seen", "seen"), ("store", "rows")])
def test_a_service_that_is_away_is_named(service: str, op: str) -> None:
    cut = Fault("cut", service, op, n=20, seconds=1000.0)
    assert limits(sites(), nothing, [cut]) == ("service", f"{service} is away")
