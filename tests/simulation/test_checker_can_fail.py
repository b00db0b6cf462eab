"""The checker finds what it is there for: for each invariant a double that breaks it is caught."""

import asyncio
import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
import pytest

from gregor.schemas.messages import Page, Row, Ticket
from gregor.worker.borders.transport import FetchResult, Limits, Request, Response
from gregor.worker.config.settings import Config
from tests.simulation.cells import Cells
from tests.simulation.checker import check
from tests.simulation.crawl import Prepare, Run, Simulation, Worker
from tests.simulation.faults import Fault
from tests.simulation.membership import SimulatedLease
from tests.simulation.resources import Flaky, Html, Link
from tests.simulation.scenarios import config, scripted
from tests.simulation.web import FOREVER, RobotsPhase, Site, Web

HOST = "h0.site.example"


def small_web(**changes: Any) -> Web:
    """One host with a dozen pages, one of which must be asked for twice, and one that is disallowed."""
    paths = [f"/p{number}" for number in range(10)]
    resources: dict[str, Any] = {path: Html(f"{path} page of its own words", (Link("/"),)) for path in paths}
    links = tuple(Link(path) for path in [*paths, "/flaky", "/private/x"])
    resources["/"] = Html("the first page of all", links)
    resources["/flaky"] = Flaky(((500, None),), Html("a page that comes late"))
    resources["/private/x"] = Html("nobody's business")
    site = Site(HOST, ("11.0.0.1",), resources=resources, disallowed=("/private/",))
    for name, value in changes.items():
        setattr(site, name, value)
    return Web([site])


def broken(
    prepare: Prepare | None = None,
    web: Web | None = None,
    faults: Sequence[Fault] = (),
    workers: int = 1,
    settings: Config | None = None,
) -> tuple[Run, set[str]]:
    """A run with a broken double, and the invariants that the checker found broken."""
    simulation = scripted(web or small_web(), list(faults), workers=workers, prepare=prepare, settings=settings)
    run = simulation()
    return run, {violation.invariant for violation in check(run)}


def replaced(border: str, method: str, double: Callable[..., Any]) -> Prepare:
    """Put ``double(original, *arguments)`` in the place of a method of a worker's border."""

    def prepare(_: Run, worker: Worker) -> None:
        handle = getattr(worker.services, border)
        original = getattr(handle, method)
        setattr(handle, method, lambda *arguments, **named: double(original, *arguments, **named))

    return prepare


def test_a_page_that_lost_its_items_is_seen() -> None:
    async def put_page(original: Any, page: Page, *more: Any) -> None:
        await original(msgspec.structs.replace(page, items=[]), *more)

    _, found = broken(replaced("store", "put_page", put_page))
    assert found == {"I3"}


def test_nothing_is_found_where_nothing_is_broken() -> None:
    run, found = broken()
    assert not found
    assert len(run.web.log) == 14  # robots.txt, "/", ten pages, and twice the flaky one


def test_i1_a_transport_that_sends_twice() -> None:
    async def twice(fetch: Any, request: Request, limits: Limits, may_send: Any) -> FetchResult:
        first = await fetch(request, limits, may_send)
        if isinstance(first, Response):
            first.close()
        result: FetchResult = await fetch(request, limits, may_send)
        return result

    assert "I1" in broken(replaced("transport", "fetch", twice))[1]


def test_i2_a_transport_that_takes_an_unreachable_robots_txt_for_none() -> None:
    async def trusting(fetch: Any, request: Request, limits: Limits, may_send: Any) -> FetchResult:
        result: FetchResult = await fetch(request, limits, may_send)
        if isinstance(result, Response) and request.href.endswith("/robots.txt"):
            result.status = 404
        return result

    web = small_web(robots=(RobotsPhase(FOREVER, 503),))
    assert "I2" in broken(replaced("transport", "fetch", trusting), web)[1]


def test_i2_a_robots_txt_that_is_not_obeyed() -> None:
    class Forgetful(Site):
        def robots_at(self, now: float) -> bytes:
            return b""

    site = small_web().sites[HOST]
    web = Web([Forgetful(HOST, site.addresses, resources=site.resources, disallowed=site.disallowed)])
    assert "I2" in broken(web=web)[1]


def test_i3_a_log_that_loses_records() -> None:
    async def leaky(publish: Any, tickets: Sequence[Ticket]) -> None:
        await publish([ticket for ticket in tickets if not ticket.key.endswith("/p3")])

    assert "I3" in broken(replaced("log", "publish", leaky))[1]


def test_i3_a_store_that_changes_bodies() -> None:
    async def garbling(put_page: Any, page: Any, body: Any, wire: Any, stamp: int) -> None:
        await put_page(msgspec.structs.replace(page, body="0" * 64), body, wire, stamp)

    assert "I3" in broken(replaced("store", "put_page", garbling))[1]


def test_i4_a_store_that_loses_rows() -> None:
    async def leaky(put_rows: Any, rows: Sequence[Row], stamp: int) -> None:
        await put_rows([row for row in rows if not row.key.endswith("/p3")], stamp)

    assert "I4" in broken(replaced("store", "put_rows", leaky))[1]


def test_i4_a_store_that_denies_what_waits() -> None:
    async def nothing(waiting: Any, partition: int) -> bool:
        return False

    def impatient(run: Run, worker: Worker) -> None:
        replaced("store", "waiting", nothing)(run, worker)
        replaced("store", "put_entries", lambda put_entries, *arguments: asyncio.sleep(0))(run, worker)

    assert "I4" in broken(impatient)[1]


def test_i4_a_row_that_is_explained_as_something_else() -> None:
    run, _ = broken()
    run.world.store.rows_by_key.values.pop(f"http://{HOST}/p3")
    assert "I4" in {violation.invariant for violation in check(run)}


def test_i5_a_seen_set_and_a_store_that_remember_nothing() -> None:
    async def nothing(call: Any, names: Sequence[Any]) -> list[Any]:
        return [None for _ in names]

    async def twice(publish: Any, tickets: Sequence[Ticket]) -> None:
        await publish(tickets)
        await publish(tickets)

    def amnesiac(run: Run, worker: Worker) -> None:
        for border, method in (("seen", "seen"), ("store", "rows")):
            replaced(border, method, nothing)(run, worker)
        replaced("log", "publish", twice)(run, worker)

    assert "I5" in broken(amnesiac)[1]


def test_i6_a_log_that_commits_what_was_only_read() -> None:
    def hasty(run: Run, worker: Worker) -> None:
        async def commit(original: Any, partition: int, watermarks: Mapping[int, int], epoch: int) -> None:
            await original(partition, await worker.services.log.ends(partition), epoch)

        replaced("log", "commit", commit)(run, worker)

    assert "I6" in broken(hasty)[1]


def test_i6_a_log_that_deletes_above_the_watermark() -> None:
    def eager(run: Run, worker: Worker) -> None:
        async def commit(original: Any, partition: int, watermarks: Mapping[int, int], epoch: int) -> None:
            await original(partition, watermarks, epoch)
            for priority, watermark in watermarks.items():
                run.world.log.topics[partition, priority].start = watermark + 1

        replaced("log", "commit", commit)(run, worker)

    assert "I6" in broken(eager)[1]


def test_i7_a_store_without_write_timestamps(monkeypatch: pytest.MonkeyPatch) -> None:
    def overwrite(self: Cells[Any, Any], key: Any, value: Any, stamp: int) -> bool:
        self.values[key] = value
        return True

    monkeypatch.setattr(Cells, "put", overwrite)
    web = small_web()
    web.sites[HOST].resources = {
        "/": Html("the first page of all", (Link("/flaky"),)),
        "/flaky": Flaky(((500, None), (500, None)), Html("a page that comes late")),
    }
    late = Fault("late", "store", "put_rows", 2, seconds=12.0)
    assert "I7" in broken(web=web, faults=[late])[1]


def test_i7_an_owner_that_writes_under_a_foreign_epoch() -> None:
    async def boastful(put_rows: Any, rows: Sequence[Row], stamp: int) -> None:
        await put_rows(rows, stamp + (7 << 32))

    assert "I7" in broken(replaced("store", "put_rows", boastful))[1]


def test_i8_a_lease_that_always_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SimulatedLease, "holds", lambda self: True)
    cut = Fault("cut", "coordinator", "ping", 2, seconds=60.0)
    assert "I8" in broken(faults=[cut])[1]


def test_i8_two_owners() -> None:
    run, _ = broken()
    gained = next(change for change in run.world.zookeeper.history if change.gained)
    run.world.zookeeper.history.insert(1, gained)
    assert "I8" in {violation.invariant for violation in check(run)}


def test_i9_more_requests_at_once_than_allowed() -> None:
    run, _ = broken()
    run.workers[0].transport.most_running = run.config.concurrency + 1
    assert "I9" in {violation.invariant for violation in check(run)}


@pytest.mark.parametrize("what", ["window", "queue", "memory"])
def test_i9_a_worker_that_holds_too_much(what: str) -> None:
    run, _ = broken()
    assert run.workers[0].most[what] > 0
    run.workers[0].most[what] += 100_000
    assert "I9" in {violation.invariant for violation in check(run)}


def test_i9_a_chunk_that_grows_without_bound() -> None:
    async def one_chunk(put_chunk: Any, partition: int, host: str, chunk: int, tickets: Any, stamp: int) -> None:
        await put_chunk(partition, host, 1, [*tickets, *(Ticket(f"{n}", f"{n}", host) for n in range(9))], stamp)

    simulation = scripted(small_web(), [], prepare=replaced("store", "put_chunk", one_chunk), settings=config())
    assert "I9" in {violation.invariant for violation in check(simulation())}


def test_i10_a_transport_that_dawdles() -> None:
    async def slow(fetch: Any, request: Request, limits: Limits, may_send: Any) -> FetchResult:
        await asyncio.sleep(30.0)
        result: FetchResult = await fetch(request, limits, may_send)
        return result

    settings = config(per_address_delay=0.0)  # else what takes so long to connect has failed
    assert "I10" in broken(replaced("transport", "fetch", slow), settings=settings)[1]


def test_i12_a_worker_that_asks_an_address_beside_another() -> None:
    run, _ = broken(settings=config(per_address_delay=0.5))
    first = run.web.log[0]
    run.web.log.insert(1, dataclasses.replace(first, start=first.start + 0.2, client="another"))
    assert "I12" in {violation.invariant for violation in check(run)}


def test_i11_a_transport_that_connects_anywhere() -> None:
    web = small_web(addresses=("10.0.0.7",))
    web.allows = lambda address, port: True
    assert "I11" in broken(web=web)[1]


def test_a_run_that_never_ends_is_told() -> None:
    async def always(waiting: Any, partition: int) -> bool:
        return True

    simulation: Simulation = scripted(small_web(), [], prepare=replaced("store", "waiting", always), patience=2_000.0)
    assert any("did not end" in str(violation) for violation in check(simulation()))
