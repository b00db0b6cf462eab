"""Deleting what a crawl on the cluster has of a host: all of that, and nothing of others."""

import asyncio
import io
import random
import uuid
from collections.abc import Awaitable, Callable, Iterator
from hashlib import sha256
from typing import Final

import msgspec
import pytest

from gregor.schemas.messages import Attempt, Changed, DeadLetter, HostRecord, Page, RobotsRecord, Row, stamp
from gregor.worker.adapters.cluster import erasing
from gregor.worker.adapters.cluster.cassandra_client import Cassandra
from gregor.worker.adapters.cluster.contents import Contents
from gregor.worker.adapters.cluster.reader import ClusterReader
from gregor.worker.adapters.cluster.seen import RedisSeen
from gregor.worker.adapters.cluster.store import ClusterStore
from gregor.worker.adapters.cluster.store_pages import CHUNK
from gregor.worker.config.servers import Servers
from gregor.worker.frontier.counts import total
from gregor.worker.operate.erase import Erased, Looked, Whose
from gregor.worker.settle.rows import forgotten
from gregor.worker.web.urls import Urls
from tests.cluster.keyspaces import keyspace
from tests.cluster.servers import Service
from tests.sketches import sketch

_KEYSPACE: Final = "erasing"
GONE, STAYS = "gone.example", "stays.example"
WHOSE: Final = Whose.of(GONE, Urls())


@pytest.fixture
def settings(cassandra: Service, redis: Service) -> Iterator[Servers]:
    """Empty at first, for each case."""
    with keyspace(cassandra, _KEYSPACE, {"crawl": "test", "partitions": "8"}) as settings:
        yield msgspec.structs.replace(settings, redis=redis.addresses[:1])


class Crawl:
    """The store and the seen set, and a writer whose stamps grow as an owner's do."""

    def __init__(self, cassandra: Cassandra, seen: RedisSeen) -> None:
        self.store, self.seen = ClusterStore(cassandra), seen
        self.reader = ClusterReader(cassandra, 8)
        self._cassandra = cassandra
        self._count = 0
        self.told: list[str] = []

    async def _announce(self, changed: Changed) -> None:
        self.told.append(f"{changed.change} {changed.key}")

    def stamp(self) -> int:
        self._count += 1
        return stamp(3, self._count)

    async def stored(self, host: str, path: str, content: bytes, visit: int = 1, text: str = "") -> Page:
        """A page as a worker settles it."""
        url, name = f"http://{host}/{path}", sha256(content).hexdigest()
        page = Page(url, url, host, visit, "new", 200, float(visit), body=name, size=len(content), text=text)
        page.fingerprint, page.sketch = sha256(content).digest()[:16], sketch(int(name[:8], 16))
        await self.store.put_page(page, io.BytesIO(content), None, self.stamp())
        await self.seen.claim(page.fingerprint, page.key)
        row = Row(
            url, url, host, visit, "fetched", "fetched", 200, via="http://x.example/", label="a label", page=visit
        )
        await self.store.put_rows([msgspec.structs.replace(row, attempts=(Attempt(1.0, "fetched"),))], self.stamp())
        return page

    async def erase(self) -> Erased:
        return await erasing.erase(self._cassandra, self.seen, WHOSE, self._announce, Looked())

    async def body(self, page: Page) -> bytes | None:
        stream = await self.reader.body(page.body)
        return None if stream is None else stream.read()

    async def count(self, table: str) -> int:
        return len(await self._cassandra.read(f"SELECT * FROM {table}"))


def play(settings: Servers, case: Callable[[Crawl], Awaitable[None]]) -> None:
    async def whole() -> None:
        cassandra = await Cassandra.connect(settings, _KEYSPACE, {})
        try:
            seen = await RedisSeen.open(settings, uuid.uuid4().hex, Contents(cassandra), {})
            try:
                async with asyncio.timeout(120):
                    await case(Crawl(cassandra, seen))
            finally:
                await seen.close()
        finally:
            await cassandra.close()

    asyncio.run(whole())


def test_all_of_the_host_goes_and_nothing_of_others(settings: Servers) -> None:
    chance = random.Random(1)
    large = chance.randbytes(2 * CHUNK + 10)

    async def case(crawl: Crawl) -> None:
        small, twice = await crawl.stored(GONE, "a", b"small"), await crawl.stored(GONE, "b", b"first")
        again = await crawl.stored(GONE, "b", b"second", visit=2)
        big = await crawl.stored(GONE, "big", large, text=chance.randbytes(CHUNK).hex())
        shared, other = await crawl.stored(GONE, "copy", b"copy"), await crawl.stored(STAYS, "copy", b"copy")
        kept = await crawl.stored(STAYS, "", b"kept")
        small.fingerprint = b""  # as it is where none was made
        await crawl.store.put_page(small, None, None, crawl.stamp())
        for host in (GONE, STAYS):
            await crawl.store.put_robots(RobotsRecord(f"https://{host}", "parsed", 5.0, 9.0, b"x"), 1)
            await crawl.store.put_dead_letter(DeadLetter(f"http://{host}/d", f"http://{host}/d", host, "x", "y", 1.0))
        await crawl.store.put_host(HostRecord(GONE, ceiling=8.0), crawl.stamp())

        assert await crawl.erase() == Erased(pages=5, bodies=4, urls=4, robots=1, dead_letters=1)

        for page in (small, twice, again, big, shared):
            assert await crawl.reader.page(page.key, page.visit) is None
            assert await crawl.seen.content(page.fingerprint) in (None, other.key)
            assert await crawl.store.near(page.sketch, 0.65) in (None, other.key)
            row = await crawl.reader.row(page.key)
            assert row is not None
            assert row == forgotten(row)
            assert row.visits == (2 if page in (twice, again) else 1)
        for page in (small, twice, again, big):
            assert await crawl.body(page) is None
        for page, content in ((other, b"copy"), (kept, b"kept")):
            assert await crawl.body(page) == content
            found = await crawl.reader.page(page.key)
            assert found is not None
            row = await crawl.reader.row(page.key)
            assert row is not None
            assert (row.state, row.label) == ("fetched", "a label")
        assert await crawl.store.near(kept.sketch, 1.0) == kept.key
        assert await crawl.seen.content(kept.fingerprint) == kept.key
        assert await crawl.reader.robots(f"https://{GONE}") is None
        assert await crawl.reader.robots(f"https://{STAYS}") is not None
        assert [letter.host async for letter in crawl.reader.dead_letters()] == [STAYS]
        assert await crawl.store.host(GONE) == HostRecord(GONE, ceiling=8.0)  # politeness, should it come back
        assert (await crawl.count("pages"), await crawl.count("bodies"), await crawl.count("body_chunks")) == (2, 2, 0)
        away = total([record.counts async for record in crawl.reader.partitions()])
        assert (away["pages"], away["state fetched"], away["state denied"]) == (-4, -4, 4)
        assert await crawl.erase() == Erased()
        assert away == total([record.counts async for record in crawl.reader.partitions()]), "once"

    play(settings, case)


def test_what_is_written_later_wins(settings: Servers) -> None:
    async def case(crawl: Crawl) -> None:
        await crawl.stored(GONE, "a", b"before")
        await crawl.erase()
        page = await crawl.stored(GONE, "a", b"before")  # the order was taken back
        assert await crawl.body(page) == b"before"
        assert await crawl.reader.page(page.key) is not None
        row = await crawl.reader.row(page.key)
        assert row is not None
        assert row.state == "fetched"
        assert await crawl.seen.content(page.fingerprint) == page.key
        assert (await crawl.erase()).pages == 1

    play(settings, case)
