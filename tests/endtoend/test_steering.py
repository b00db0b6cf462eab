"""Orders of every kind as a worker that crawls obeys them, within seconds and back again."""

import asyncio
import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from gregor.worker.adapters.embedded import change_orders
from gregor.worker.orders.model import REMEMBERED, By, Orders, record
from tests.endtoend.operated import OPERATOR, VIEWER, Operated, operated, over
from tests.memory_transport import Scripted

ME = By("ann", 1.8e9)


async def order(worker: Operated, kind: str, target: str, value: float | None = None) -> None:
    """Give an order, and wait until the worker's loop has heard it."""
    body = {} if value is None else {"value": value}
    answer = await worker.ask("PUT", f"/api/v1/orders/{kind}/{target}", json=body)
    assert answer.status_code == 200, answer.text
    assert (answer.json()["kind"], answer.json()["value"]) == (kind, value)


async def take_back(worker: Operated, kind: str, target: str) -> None:
    assert (await worker.ask("DELETE", f"/api/v1/orders/{kind}/{target}")).status_code == 204


def asked(worker: Operated) -> int:
    """How many requests were made in all."""
    return len(worker.transport.requests)


async def _still(worker: Operated, seconds: float = 0.5) -> bool:
    """Whether nothing is asked for a while, once what ran, or began with the order, has ended."""
    stats = worker.runtime.stats
    for _ in range(3):
        seen = stats.beat
        await worker.until(lambda seen=seen: stats.beat > seen and stats.running == 0)  # type: ignore[misc]
    before = asked(worker)
    await asyncio.sleep(seconds)
    return asked(worker) == before


@pytest.mark.parametrize("target", ["*", "*.example"])
def test_a_rate_slows_down_and_its_end_speeds_up(tmp_path: Path, target: str) -> None:
    async def case(worker: Operated) -> None:
        await worker.until(lambda: asked(worker) > 8)
        await order(worker, "rate", target, 0.0002)
        assert await _still(worker)
        if target == "*":
            await worker.until(lambda: worker.runtime.stats.limit == "orders")
            assert "rate of the crawl" in worker.runtime.stats.limiting
        before = asked(worker)
        await take_back(worker, "rate", target)
        await worker.until(lambda: asked(worker) > before + 8)

    over(case, hosts=4)(tmp_path)


def test_a_rate_of_a_domain_is_of_its_hosts_together(tmp_path: Path) -> None:
    async def case(worker: Operated) -> None:
        loop = asyncio.get_running_loop()
        await order(worker, "rate", "*.example", 20.0)
        await asyncio.sleep(1.1)  # slots that were given out before
        begun, before = loop.time(), asked(worker)
        await worker.until(lambda: asked(worker) > before + 20)
        assert asked(worker) - before <= 20.0 * (loop.time() - begun) + 22, "eight hosts by themselves ask 160 a second"

    over(case, hosts=8)(tmp_path)


@over
async def test_a_delay_that_was_a_mistake_ends_when_it_is_taken_back(worker: Operated) -> None:
    await worker.until(lambda: worker.asked("h0.example") > 2)
    await order(worker, "delay", "*", 3600)
    assert await _still(worker)
    await take_back(worker, "delay", "*")
    before = asked(worker)
    await worker.until(lambda: asked(worker) > before + 4)
    assert worker.runtime.stats.too_close == 0


def test_a_concurrency_of_the_crawl_and_of_a_domain(tmp_path: Path) -> None:
    async def case(worker: Operated) -> None:
        most = 0
        fetch, stats = worker.transport.fetch, worker.runtime.stats

        async def slow(*args: Any, **kwargs: Any) -> Any:
            nonlocal most
            running.append(1)
            most = max(most, len(running))
            try:
                await asyncio.sleep(0.01)
                return await fetch(*args, **kwargs)
            finally:
                running.pop()

        running: list[int] = []
        worker.transport.fetch = slow  # type: ignore[method-assign]
        await worker.until(lambda: most > 3)
        for target in ("*", "*.example"):
            await order(worker, "concurrency", target, 2)
            heard = stats.beat
            await worker.until(lambda heard=heard: stats.beat > heard and stats.running <= 2)  # type: ignore[misc]
            most, before = 0, asked(worker)
            await worker.until(lambda before=before: asked(worker) > before + 20)  # type: ignore[misc]
            assert most <= 2
            seen = {request.href.split("/")[2] for request in worker.transport.requests[before:]}
            assert len(seen) > 2, "hosts take their turns"
            await take_back(worker, "concurrency", target)
        most = 0
        await worker.until(lambda: most > 3)
        status = (await worker.ask("GET", "/api/v1/status", VIEWER)).json()
        assert status["now"]["concurrency"] == 64

    over(case, hosts=8, delay=0.0)(tmp_path)


@over
async def test_what_is_found_of_a_host_gets_the_ordered_priority(worker: Operated) -> None:
    await order(worker, "priority", "h0.example", 4)
    await order(worker, "priority", "*.example", 1)
    published: dict[str, set[int]] = {"h0.example": set(), "h1.example": set()}
    log = worker.runtime.services.log
    publish = log.publish

    async def watched(tickets: Any) -> None:
        for ticket in tickets:
            published[ticket.host].add(ticket.priority)
        await publish(tickets)

    log.publish = watched  # type: ignore[method-assign]
    await worker.until(lambda: all(published.values()))
    assert published == {"h0.example": {4}, "h1.example": {1}}


@over
async def test_an_order_holds_for_a_host_that_is_found_later(worker: Operated) -> None:
    new, slow = "http://new.later/", "http://slow.later/"
    for url in (new, f"{slow}1", f"{slow}2"):
        worker.transport.script(url, Scripted(body=f"<title>{url}</title>{url}".encode()))
    await order(worker, "block", "new.later")
    await order(worker, "delay", "*.later", 3600)
    await order(worker, "priority", "slow.later", 1)
    seeds = [{"url": url} for url in (new, f"{slow}1", f"{slow}2")]
    assert (await worker.ask("POST", "/api/v1/seeds", json={"seeds": seeds})).json() == {"count": 3}
    await worker.until(lambda: worker.asked("slow.later") > 0)
    before = asked(worker)
    await worker.until(lambda: asked(worker) > before + 20)
    assert worker.asked("new.later") == 0
    assert (
        sum(request.href.startswith(slow) and "robots" not in request.href for request in worker.transport.requests)
        <= 1
    )
    for kind, target in (("block", "new.later"), ("delay", "*.later")):
        await take_back(worker, kind, target)
    for url in (new, f"{slow}1", f"{slow}2"):
        await worker.until_state(url)
    assert worker.runtime.stats.too_close == 0


@pytest.mark.parametrize("target", ["h0.example", "*.example"])
def test_a_spent_budget_denies_what_comes_after_it(tmp_path: Path, target: str) -> None:
    async def case(worker: Operated) -> None:
        await order(worker, "budget", target, 5)
        await worker.until(lambda: worker.runtime.stats.states["denied"] >= (1 if target == "h0.example" else 2))
        denied = [row async for row in worker.reader.rows("denied", None)]
        assert {row.rule for row in denied} == {
            "budget: 5 pages of this host" if target == "h0.example" else "budget: 5 pages of *.example"
        }
        stored = [row.host async for row in worker.reader.rows(None, None) if row.page]
        if target == "h0.example":
            assert stored.count("h0.example") == 5
            before = worker.asked("h1.example")
            await worker.until(lambda: worker.asked("h1.example") > before + 3)
        else:
            assert 5 <= len(stored) <= 6, "one may be in flight while the other is counted"

    over(case)(tmp_path)


def test_a_budget_of_a_domain_outlives_the_worker(tmp_path: Path) -> None:
    async def first(worker: Operated) -> None:
        await order(worker, "budget", "*.example", 6)
        await worker.until(lambda: worker.runtime.stats.states["denied"] >= 2)

    async def second(worker: Operated) -> None:
        await worker.until(lambda: worker.runtime.domain_pages.of("*.example") >= 6)
        await worker.ask("POST", "/api/v1/seeds", json={"seeds": [{"url": "http://h0.example/300"}]})
        await worker.until(lambda: worker.runtime.stats.states["denied"] >= 1)
        assert worker.runtime.stats.pages == 0

    over(first)(tmp_path)
    over(second)(tmp_path)


@over
async def test_the_crawl_ends_with_its_budget(worker: Operated) -> None:
    await order(worker, "budget", "*", 10)
    await worker.until(lambda: worker.runtime.ending is not None)
    assert worker.runtime.ending is not None
    assert (worker.runtime.ending.reason, worker.runtime.ending.detail) == ("budget", "max_pages: 10 pages")


@over
async def test_a_drained_worker_hands_over_and_stands_by(worker: Operated) -> None:
    await worker.until(lambda: asked(worker) > 4)
    await order(worker, "drain", "somebody-else")
    await order(worker, "drain", "worker-1")
    await worker.until(lambda: not worker.runtime.owned)
    status = (await worker.ask("GET", "/api/v1/status", VIEWER)).json()
    assert (status["now"]["state"], status["now"]["partitions"]) == ("drained", 0)
    await worker.until(lambda: worker.runtime.stats.limit == "orders")
    assert (await worker.ask("GET", "/readyz", VIEWER)).json()["detail"] == "it was drained by an order"
    assert (await worker.ask("GET", "/healthz", "")).status_code == 200
    assert await _still(worker)
    lease = await worker.engine.coordinator.acquire(0, 0)
    assert lease is not None, "another worker may own what it let go"
    await worker.engine.coordinator.release(lease)
    before = asked(worker)
    await take_back(worker, "drain", "worker-1")
    await worker.until(lambda: asked(worker) > before + 4)
    assert worker.runtime.stats.leases_lost == 0


def test_who_starts_drained_takes_nothing(tmp_path: Path) -> None:
    async def whole() -> None:
        async with operated(tmp_path) as worker:
            await order(worker, "drain", "worker-1")
        async with operated(tmp_path) as worker:
            await worker.until(lambda: worker.runtime.stats.limit == "orders")
            assert not worker.runtime.owned
            assert not worker.transport.requests
            await take_back(worker, "drain", "worker-1")
            await worker.until(lambda: asked(worker) > 2)

    asyncio.run(whole())


@over
async def test_what_cannot_be_read_stops_nobody(worker: Operated) -> None:
    await worker.until(lambda: asked(worker) > 4)
    folder = worker.folder
    later = {"render http://h0.example/?a#b": b"\x81\xa4kind\xa6render", "delay h1.example": b"\xc0"}
    await asyncio.to_thread(change_orders, folder, lambda orders: Orders(orders.version + 1, {}, (), later))
    found: dict[str, Any] = {}
    async with asyncio.timeout(10):
        while found.get("unread") != sorted(later):
            found = (await worker.ask("GET", "/api/v1/orders", VIEWER)).json()
            await asyncio.sleep(0.05)
    assert found["orders"] == []
    before = asked(worker)
    await worker.until(lambda: asked(worker) > before + 4)
    await order(worker, "block", "h0.example")
    for name in later:
        assert (await worker.ask("DELETE", f"/api/v1/orders/unread/{quote(name, safe='')}")).status_code == 204
    found = (await worker.ask("GET", "/api/v1/orders", VIEWER)).json()
    assert (found["unread"], [one["target"] for one in found["orders"]]) == ([], ["h0.example"])
    assert OPERATOR not in str(found)


def test_a_document_that_nobody_can_read_stops_nobody_and_hides_no_change(tmp_path: Path) -> None:
    """Orders that were overwritten by something else: the crawl goes on, and so do orders and their record."""
    total = 2 * REMEMBERED + 1

    async def whole() -> None:
        async with operated(tmp_path) as worker:
            for number in range(total):
                await asyncio.to_thread(change_orders, tmp_path, partial(record, what=f"c{number}", by=ME))
            with closing(sqlite3.connect(tmp_path / "crawl.db")) as database, database:
                database.execute("UPDATE orders SET data = ?", (b"\xc1 garbage",))
            await worker.until(lambda: bool(worker.engine.coordinator.orders().unread))
            before = asked(worker)
            await worker.until(lambda: asked(worker) > before + 4)
            await order(worker, "block", "h0.example")
        async with operated(tmp_path) as worker:
            found = (await worker.ask("GET", "/api/v1/orders", VIEWER)).json()
            assert ([one["target"] for one in found["orders"]], len(found["unread"])) == (["h0.example"], 1)
            name = quote(found["unread"][0], safe="")
            assert (await worker.ask("DELETE", f"/api/v1/orders/unread/{name}")).status_code == 204
            assert (await worker.ask("GET", "/api/v1/orders", VIEWER)).json()["unread"] == []
            changes = (await worker.ask("GET", "/api/v1/changes?limit=1000", VIEWER)).json()["changes"]
            numbers = [one["number"] for one in changes]
            assert numbers == sorted(set(numbers), reverse=True)
            kept = [f"c{number}" for number in reversed(range(total - REMEMBERED))]
            assert [one["what"] for one in changes] == [f"took back {found['unread'][0]}", "block h0.example", *kept]

    asyncio.run(whole())
