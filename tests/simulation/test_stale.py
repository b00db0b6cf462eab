"""Stale URLs are dropped by their owners, whole, whenever a worker dies; and what was dropped may be found anew."""

import asyncio
from itertools import pairwise
from typing import Any

import pytest

from gregor.schemas.messages import Ticket, url_fingerprint
from gregor.worker.links.tickets import dropping
from gregor.worker.settle.staleness import is_stale
from tests.simulation.clock import WALL_EPOCH
from tests.simulation.crawl import Run, Worker
from tests.simulation.faults import Fault
from tests.simulation.resources import Vanishing
from tests.simulation.scenarios import config, scripted
from tests.simulation.sites import HOST, page, requests, site, star
from tests.simulation.web import Web

AFTER = 50.0
SETTINGS: dict[str, Any] = {"partitions": 1, "stale_after": AFTER, "max_time": 160.0, "linger": True}


def url(path: str) -> str:
    return f"http://{HOST}{path}"


def looks_every_ten_seconds(run: Run, worker: Worker) -> None:
    """What the look for stale URLs does, by whoever does it; and a link to /p0 is found late."""
    loop = asyncio.get_running_loop()

    def look() -> None:
        now = WALL_EPOCH + loop.time()
        stale = [row for row in run.world.store.rows_by_key.values.values() if is_stale(row, AFTER, now)]
        run.world.log.publish([dropping(row, now) for row in stale])
        loop.call_later(10.0, look)

    loop.call_later(10.0, look)
    found_again = Ticket(url("/p0"), url("/p0"), HOST, via=url("/"), depth=1, link="a")
    loop.call_at(120.0, run.world.log.publish, [found_again])


def crawl(*faults: Fault, **settings: Any) -> Run:
    web = Web([site(star(3, gone=Vanishing(page("gone"))))])
    changed = config(**{**SETTINGS, **settings})
    run = scripted(web, list(faults), settings=changed, prepare=looks_every_ten_seconds)()
    assert not run.failures
    happened = [fault for _, _, fault in run.world.faults.happened]
    assert all(fault in happened for fault in faults), "never happened"
    return run


def kept(run: Run) -> set[str]:
    """The URLs of which anything is kept, whatever it is."""
    store, seen = run.world.store, run.world.seen
    keys = {url(path) for path in ("/", "/p0", "/p1", "/p2", "/gone")}
    return (
        set(store.rows_by_key.values)
        | {key for key, _ in store.pages.values}
        | {key for key in keys if url_fingerprint(key) in seen.urls}
        | {owner for owner, _ in seen.contents.values()}
    )


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize(
    ("border", "op"),
    [("store", "versions"), ("store", "page"), ("seen", "disown"), ("seen", "forget"), ("store", "drop")],
)
def test_a_worker_dies_while_it_drops(border: str, op: str, when: Any) -> None:
    run = crawl(Fault("die", border, op, 2, when))
    assert kept(run) <= {url("/p0")}
    assert len(requests(run, "/p0")) == 2, "it was found anew"


def test_what_is_stale_is_dropped_and_may_be_found_anew() -> None:
    run = crawl()
    assert kept(run) == {url("/p0")}
    assert [len(requests(run, path)) for path in ("/", "/p0", "/p1")] == [1, 2, 1]
    assert run.workers[0].runtime.stats.drops == 5


def test_nothing_is_dropped_where_nothing_is_said_of_it() -> None:
    run = crawl(stale_after=None)
    assert len(kept(run)) == 5


def test_what_is_visited_again_is_not_stale_and_what_is_gone_is_looked_for_ever_more_rarely_and_dropped() -> None:
    run = crawl(revisit=10.0, revisit_min=8.0, revisit_max=20.0)
    assert {url("/"), url("/p0"), url("/p1"), url("/p2")} <= kept(run)
    times = requests(run, "/gone")
    looked_for = [at for at in times if at < 12.0 + AFTER + 8.0]
    assert 4 <= len(looked_for) <= 6
    late = times[len(looked_for) :]  # it is linked to again whenever "/" is visited, and found anew once it was dropped
    assert all(later - earlier >= AFTER for earlier, later in pairwise(late))
