"""`gregor rebuild-seen` over real Redis and Cassandra: all of it, in parts, gone on with, of an earlier version."""

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from redis import Redis

from gregor.partitioner.hashing import partition_of
from gregor.schemas.messages import Page, Row, Ticket, url_fingerprint
from gregor.worker.adapters.cluster import engine as cluster
from gregor.worker.adapters.cluster import rebuild
from gregor.worker.adapters.cluster.engine import ClusterEngine
from gregor.worker.borders.errors import Unavailable
from gregor.worker.borders.reader import WHOLE
from gregor.worker.borders.store import Entry
from gregor.worker.commands import FINISHED
from gregor.worker.compose.process import SystemClock
from gregor.worker.config.settings import Config
from gregor.worker.config.sources import load
from gregor.worker.links.configured import canonical_rules
from tests.cluster.servers import Service
from tests.cluster.test_start import PARTITIONS, Crawl

URLS = 3000
HOST = "a.example"


@pytest.fixture
def crawl(kafka: Service, zookeeper: Service, redis: Service, cassandra: Service, tmp_path: Path) -> Crawl:
    found = Crawl((kafka, zookeeper, redis, cassandra), tmp_path)
    assert found.run("init") == FINISHED
    asyncio.run(fill(config_of(found)))
    return found


def config_of(crawl: Crawl) -> Config:
    return load(str(crawl.file), {}, ()).config


@asynccontextmanager
async def opened(config: Config) -> AsyncIterator[ClusterEngine]:
    engine = await cluster.open_engine(config, canonical_rules(config).fingerprint(), "w", SystemClock(), {})
    try:
        yield engine
    finally:
        await engine.close()


def key(number: int | str) -> str:
    return f"http://{HOST}/{number}"


def content(number: int) -> bytes:
    return number.to_bytes(2, "big") * 8


async def fill(config: Config) -> None:
    """Rows, every tenth with a page, some of them duplicates; a URL in the calendar, one in a backlog."""
    async with opened(config) as engine:
        rows = [Row(key(number), key(number), HOST, 1, "fetched", "fetched") for number in range(URLS)]
        await engine.store.put_rows(rows, 1)
        for number in range(0, URLS, 10):
            page = Page(key(number), key(number), HOST, 1, "new", 200, 0.0, fingerprint=content(number))
            if number % 200 == 190:
                page.fingerprint, page.duplicate_of = content(0), key(0)
            await engine.store.put_page(page, None, None, 1)
            await engine.seen.claim(page.fingerprint, page.key)
        partition = partition_of(HOST, PARTITIONS)
        waits = [Ticket(key(name), key(name), HOST, kind="retry", visit=1) for name in ("calendar", "backlog")]
        await engine.store.put_entries(partition, [Entry(7, waits[0])], 1)
        await engine.store.put_chunk(partition, HOST, 1, waits[1:], 1)


def forget(service: Service) -> None:
    host, _, port = service.addresses[0].rpartition(":")
    with Redis(host, int(port)) as client:
        client.flushall()


async def check(config: Config) -> None:
    async with opened(config) as engine:
        known = [key(name) for name in (*range(URLS), "calendar", "backlog")]
        assert all(await engine.seen.seen([url_fingerprint(one) for one in known]))
        assert not any(await engine.seen.seen([url_fingerprint(key(f"never {number}")) for number in range(100)]))
        for number in range(0, URLS, 10):
            if number % 200 != 190:
                assert await engine.seen.content(content(number)) == key(number)


def test_all_that_was_known_is_known_again(crawl: Crawl, redis: Service, capsys: pytest.CaptureFixture[str]) -> None:
    forget(redis)
    assert crawl.run("rebuild-seen", "--processes", "1") == FINISHED
    said = capsys.readouterr().out
    assert f"{URLS + 2} URLs marked as seen, " in said
    asyncio.run(check(config_of(crawl)))


def test_in_parts_by_several_processes(crawl: Crawl, redis: Service) -> None:
    forget(redis)
    assert crawl.run("rebuild-seen", "--part", "1/2", "--processes", "2") == FINISHED
    assert crawl.run("rebuild-seen", "--part", "2/2", "--processes", "1") == FINISHED
    asyncio.run(check(config_of(crawl)))


def test_what_is_interrupted_goes_on_unless_redis_forgot_it_too(
    crawl: Crawl, redis: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = config_of(crawl)
    canonical = canonical_rules(config).fingerprint()
    forget(redis)

    async def run(stop_after: int | None = None) -> rebuild.Rebuilt:
        def tell(how_far: rebuild.Rebuilt) -> None:
            if how_far.done == stop_after:
                raise Unavailable("Redis", "by the test")

        return await cluster.rebuild_seen(config, canonical, {}, tell, part=WHOLE, anew=False)

    async def interrupted() -> None:
        with pytest.raises(Unavailable):
            await run(100)

    asyncio.run(interrupted())
    again = asyncio.run(run())
    assert again.before >= 100
    assert again.left == 0
    asyncio.run(check(config))
    assert asyncio.run(run()).before == 0, "what is finished begins anew"
    asyncio.run(interrupted())
    forget(redis)
    assert asyncio.run(run()).before == 0, "what Redis forgot is done again"
    asyncio.run(check(config))


def test_a_crawl_of_an_earlier_version_is_read_from_its_pages_once(crawl: Crawl, redis: Service) -> None:
    config = config_of(crawl)

    async def of_an_earlier_version() -> None:
        async with opened(config) as engine:
            await engine.reader._cassandra.write("DELETE FROM facts WHERE name = ?", ("contents",))
            for number in range(URLS):
                await engine.reader._cassandra.write("DELETE FROM contents WHERE fingerprint = ?", (content(number),))

    asyncio.run(of_an_earlier_version())
    forget(redis)
    host, _, port = redis.addresses[0].rpartition(":")
    with Redis(host, int(port)) as client:
        crawl_id = asyncio.run(identity(config))
        client.set(f"{crawl_id}:c:old", "http://a/")
        client.set(f"{uuid.uuid4().hex}:c:of another crawl", "http://a/")
        assert crawl.run("rebuild-seen", "--processes", "1") == FINISHED
        assert len(list(client.scan_iter("*:c:*"))) == 1
    asyncio.run(check(config))
    forget(redis)
    assert crawl.run("rebuild-seen", "--processes", "1") == FINISHED  # from what it wrote
    asyncio.run(check(config))


async def identity(config: Config) -> str:
    async with opened(config) as engine:
        found = await engine.reader._cassandra.read("SELECT value FROM facts WHERE name = 'id'")
        return str(found[0][0])
