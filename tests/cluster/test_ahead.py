"""Dates that ZooKeeper's clock wrote while it was ahead: told, and set back on real servers while no worker runs."""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gregor.partitioner.hashing import partition_of
from gregor.schemas.messages import Attempt, DeadLetter, HostRecord, PartitionRecord, RobotsRecord, stamp
from gregor.schemas.parts import Takeover
from gregor.worker.adapters.cluster import engine
from gregor.worker.adapters.cluster.ahead import DatesAhead
from gregor.worker.adapters.cluster.engine import ClusterEngine
from gregor.worker.borders.errors import Unavailable
from gregor.worker.borders.store import Entry
from gregor.worker.commands import BAD_INPUT, FAILED, FINISHED
from gregor.worker.compose.process import SystemClock
from gregor.worker.config.sources import load
from gregor.worker.web.canonical import CanonicalRules
from tests.cluster.servers import Service
from tests.cluster.test_start import PARTITIONS, Crawl
from tests.reading import page, row, ticket

DAY, YEARS = 86400.0, 5 * 365 * 86400.0
HOST = "a.test"
HOME = partition_of(HOST, PARTITIONS)
RIGHT, WRONG = f"http://{HOST}/right", f"http://{HOST}/wrong"


@pytest.fixture
def crawl(kafka: Service, zookeeper: Service, redis: Service, cassandra: Service, tmp_path: Path) -> Crawl:
    crawl = Crawl((kafka, zookeeper, redis, cassandra), tmp_path)
    assert crawl.run("init") == FINISHED
    return crawl


def on(crawl: Crawl, act: Callable[[ClusterEngine], Awaitable[None]]) -> None:
    """Do something with a worker's connections."""
    config = load(str(crawl.file), {}, ()).config

    async def case() -> None:
        opened = await engine.open_engine(config, CanonicalRules().fingerprint(), "w", SystemClock(), os.environ)
        try:
            async with asyncio.timeout(60):
                await act(opened)
        finally:
            await opened.close()

    asyncio.run(case())


def test_dates_of_a_clock_that_was_ahead_are_set_back_while_no_worker_runs(
    crawl: Crawl, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    began = time.time()

    async def dated(opened: ClusterEngine) -> None:
        """One page by a right clock, one by a wrong one, and all else that has dates by the wrong one."""
        store = opened.store
        for href, at, epoch in ((RIGHT, began - DAY, 1), (WRONG, began + YEARS, 2)):
            made = msgspec.structs.replace(page(href, b""), fetched_at=at, body="")
            await store.put_page(made, None, None, stamp(epoch, 1))
            attempts, due = (Attempt(at, "fetched"),), at + 10 * DAY if href == WRONG else 0.0
            settled = row(made, page=1, attempts=attempts, due=due, first_seen=at)
            await store.put_rows([settled], stamp(epoch, 2))
        revisit = ticket(WRONG, visit=1, kind="revisit", at=at)
        await store.put_entries(HOME, [Entry(int(due), revisit)], stamp(2, 3))
        for bucket in (int(began + 10 * DAY), int(began + YEARS - DAY)):  # dropped by who was ahead
            await store.drop_bucket(HOME, bucket, stamp(2, 900))
        await store.put_chunk(HOME, HOST, 0, [ticket(f"http://{HOST}/more", at=at)], stamp(2, 4))
        await store.put_host(HostRecord(HOST, not_before=at + 3 * DAY), stamp(2, 5))
        await store.put_robots(RobotsRecord(f"http://{HOST}", "parsed", at, at + DAY, b"old"), 0)
        await store.put_dead_letter(DeadLetter(WRONG, WRONG, HOST, "connect", "no", at))
        taken = Takeover("w", 2, at - DAY)
        await store.put_partition(PartitionRecord(HOME, 2, int(at), takeovers=(taken,)), stamp(2, 1000))
        await opened.seen.mark([])

    on(crawl, dated)
    assert crawl.run("check") == FAILED
    assert "clock: its dates are 1825.0 days ahead of this machine's clock; can be mended: set back" in said(capsys)

    async def beside_a_worker(opened: ClusterEngine) -> None:
        await opened.coordinator.join()
        assert await asyncio.to_thread(crawl.run, "check", "--mend") == BAD_INPUT

    on(crawl, beside_a_worker)
    assert "dates are set back while no worker runs, and w does: stop all workers first" in said(capsys)

    with monkeypatch.context() as cut:  # cut short, it goes on
        cut.setattr(DatesAhead, "_letters", _away)
        assert crawl.run("check", "--mend") == FAILED
    assert crawl.run("check", "--mend") == FINISHED
    capsys.readouterr()
    assert crawl.run("check") == FINISHED
    assert "all is whole" in said(capsys)

    async def right(opened: ClusterEngine) -> None:
        store, now = opened.store, time.time()
        pages = {href: await store.page(href, 1) for href in (RIGHT, WRONG)}
        dates = [stored.fetched_at for stored in pages.values() if stored is not None]
        assert dates[0] == began - DAY and began - 1 <= dates[1] <= now
        rows = [kept for kept in await store.rows([RIGHT, WRONG]) if kept is not None]
        assert [kept.due and int(kept.due - kept.attempts[-1].at) for kept in rows] == [0, 10 * DAY]
        assert rows[1].first_seen == rows[1].attempts[-1].at <= now
        record = await store.partition(HOME)
        assert record.cursor <= now and record.takeovers[-1].at <= now - DAY + 2
        buckets = await store.buckets(HOME, record.cursor + 1, int(now + YEARS * 2), 100)
        assert [round((bucket - began) / DAY) for bucket in buckets] == [10]
        waiting = [entry.key for bucket in buckets for entry in await store.read_bucket(HOME, bucket)]
        assert waiting == [WRONG]
        ((overflow,),) = [await store.read_chunk(HOME, HOST, chunk) for chunk in await store.chunks(HOME, HOST)]
        host = await store.host(HOST)
        assert overflow.at <= now and host is not None and 2 * DAY < host.not_before - began <= 3 * DAY + 600
        letters = [letter async for letter in opened.reader.dead_letters()]
        assert [letter.at <= now for letter in letters] == [True]
        before = await store.robots(f"http://{HOST}")
        assert before is not None and before.body == b"old" and before.fetched_at <= now
        await store.put_robots(RobotsRecord(f"http://{HOST}", "parsed", now, now + DAY, b"new"), 0)
        after = await store.robots(f"http://{HOST}")
        assert after is not None and after.body == b"new"
        await store.drop_bucket(HOME, buckets[-1], stamp(3, 1))  # by whoever owns the partition next
        assert await store.read_bucket(HOME, buckets[-1]) == []

    on(crawl, right)


async def _away(*_: Any) -> int:
    raise Unavailable("Cassandra", "for a moment")


def said(capsys: pytest.CaptureFixture[str]) -> str:
    """What was written since the last call."""
    captured = capsys.readouterr()
    return captured.out + captured.err
