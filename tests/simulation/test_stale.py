"""Stale URLs are dropped by their owners, whole, whenever a worker dies; and what was dropped may be found anew."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from itertools import pairwise
from typing import Any

import pytest

from gregor.schemas.messages import Row, Ticket, url_fingerprint
from gregor.worker.compose.staleness import StaleUrls
from gregor.worker.links.tickets import again, dropping
from gregor.worker.run.ending import has_ended
from gregor.worker.settle.staleness import is_stale
from tests.simulation.clock import WALL_EPOCH
from tests.simulation.crawl import Run, Worker
from tests.simulation.faults import Fault
from tests.simulation.resources import File, Resource, Vanishing
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


def looks(run: Run, worker: Worker) -> None:
    """The look for stale URLs of a crawl in which pages are visited once."""

    class Rows:
        async def rows(self, state: None, host: None) -> AsyncIterator[Row]:
            for row in list(run.world.store.rows_by_key.values.values()):
                yield row

    async def collect() -> int:
        return 0

    log, store, now = worker.services.log, worker.services.store, worker.services.coordinator.now
    reader: Any = Rows()
    ended, loop = partial(has_ended, log, store, 1), asyncio.get_running_loop()
    stale = StaleUrls(AFTER, log=log, reader=reader, now=now, collect=collect, visits_again=False, has_ended=ended)
    looking = loop.create_task(stale.keep(loop.time))
    loop.call_at(400.0, looking.cancel)


def test_a_crawl_that_takes_longer_than_that_visits_each_page_once_and_ends() -> None:
    """Each page links to the first ones: were these dropped meanwhile, they would be found again for ever."""
    paths = ["/", *(f"/c{number}" for number in range(1, 90))]
    pages: dict[str, Resource] = {
        path: page(f"c{place}x", *paths[:3], *paths[place + 1 : place + 2]) for place, path in enumerate(paths)
    }
    settings = config(partitions=1, stale_after=AFTER, max_depth=None, delay=1.0, max_time=300.0, linger=True)
    run = scripted(Web([site(pages)]), [], settings=settings, prepare=looks)()
    assert not run.failures
    assert [len(requests(run, path)) for path in paths] == [1] * len(paths)
    assert not run.world.store.rows_by_key.values, "they went when all was visited"


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


def test_the_copy_of_what_was_dropped_is_a_page_of_its_own_though_it_did_not_change() -> None:
    """Its server answers 304 as long as it is asked whether it changed: nobody would have the content any more."""
    copied = File(b"the same words in two places", "text/plain", '"1"')
    web = Web([site({"/": page("first", "/gone", "/copy"), "/gone": Vanishing(copied), "/copy": copied})])
    changed = config(**{**SETTINGS, "revisit": 10.0, "revisit_min": 8.0, "revisit_max": 20.0})
    run = scripted(web, [], settings=changed, prepare=looks_every_ten_seconds)()
    assert not run.failures
    copy = run.world.store.rows_by_key.values[url("/copy")]
    assert copy.state == "fetched"
    assert url("/copy") in {owner for owner, _ in run.world.seen.contents.values()}
    assert [exchange.status for exchange in run.web.log if exchange.path == "/copy"][-1] == 304, (
        "and is asked as before"
    )


@pytest.mark.parametrize("later", [0.0, 30.0])
def test_a_visit_that_was_ordered_comes_though_the_url_was_dropped_before(later: float) -> None:
    def prepare(run: Run, worker: Worker) -> None:
        loop = asyncio.get_running_loop()

        def drop_and_order() -> None:
            row = run.world.store.rows_by_key.values[url("/p1")]
            run.world.log.publish([dropping(row, WALL_EPOCH + loop.time())])
            loop.call_later(later, run.world.log.publish, [again(row, None, WALL_EPOCH + loop.time())])

        loop.call_at(AFTER + 20.0, drop_and_order)

    run = scripted(Web([site(star(3))]), [], settings=config(**SETTINGS), prepare=prepare)()
    assert not run.failures
    row, store = run.world.store.rows_by_key.values[url("/p1")], run.world.store
    assert (row.state, len(requests(run, "/p1"))) == ("fetched", 2)
    assert url_fingerprint(row.key) in run.world.seen.urls
    assert row.page and [key for key, _ in store.pages.values].count(row.key) == 1, "what was dropped is gone"
