"""Bodies of pages that were dropped on the cluster go once no page names them, and no others."""

import asyncio
import io
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from hashlib import sha256
from typing import Any, Final

import pytest

from gregor.schemas.messages import Page, Row, stamp
from gregor.worker.adapters.cluster.cassandra_client import Cassandra, ResultRows
from gregor.worker.adapters.cluster.dropping import collect
from gregor.worker.adapters.cluster.reader import ClusterReader
from gregor.worker.adapters.cluster.sketching import Sketching
from gregor.worker.adapters.cluster.store import ClusterStore
from gregor.worker.adapters.cluster.store_pages import CHUNK
from gregor.worker.adapters.cluster.tokens import scanned
from gregor.worker.borders.reader import WHOLE
from gregor.worker.config.servers import Servers
from gregor.worker.read.fingerprints import sketch_of, words_of
from tests.cluster.keyspaces import keyspace
from tests.cluster.servers import Service

_KEYSPACE: Final = "dropping"
SMALL, LARGE, SHARED = b"small", b"large" * CHUNK, b"shared"
A, B = "http://a.example/", "http://b.example/"


@pytest.fixture
def settings(cassandra: Service) -> Iterator[Servers]:
    """Empty at first, for each case."""
    with keyspace(cassandra, _KEYSPACE, {"crawl": "test", "partitions": "8"}) as settings:
        yield settings


def play(settings: Servers, case: Callable[[Cassandra, ClusterStore], Awaitable[None]]) -> None:
    async def whole() -> None:
        cassandra = await Cassandra.connect(settings, _KEYSPACE, {})
        try:
            async with asyncio.timeout(120):
                await case(cassandra, ClusterStore(cassandra))
        finally:
            await cassandra.close()

    asyncio.run(whole())


async def put(store: ClusterStore, key: str, body: bytes, wire: bytes, number: int) -> None:
    names = [sha256(content).hexdigest() for content in (body, wire)]
    page = Page(key, key, key[7:-1], 1, "new", 200, 1.0, body=names[0], wire=names[1])
    await store.put_page(page, io.BytesIO(body), io.BytesIO(wire), stamp(1, number))
    await store.put_rows([Row(key, key, key[7:-1], 1, "fetched", "", page=1)], stamp(1, number))


async def there(cassandra: Cassandra) -> set[bytes]:
    reader, bodies = ClusterReader(cassandra, 8), (SMALL, LARGE, SHARED)
    return {body for body in bodies if await reader.body(sha256(body).hexdigest()) is not None}


async def dropped(store: ClusterStore) -> None:
    await put(store, A, LARGE, SHARED, 1)
    await put(store, "http://c.example/", SMALL, SMALL, 2)
    await put(store, B, SHARED, SHARED, 3)
    for key in (A, "http://c.example/"):
        await store.drop(key, stamp(1, 9))


def test_what_no_page_names_goes(settings: Servers) -> None:
    async def case(cassandra: Cassandra, store: ClusterStore) -> None:
        await dropped(store)
        assert await collect(cassandra, 3600.0) == 0, "they came loose just now"
        assert await there(cassandra) == {SMALL, LARGE, SHARED}
        assert await collect(cassandra, -1.0) == 2
        assert await there(cassandra) == {SHARED}
        assert await cassandra.read("SELECT * FROM body_chunks") == []
        assert await cassandra.read("SELECT * FROM loose_bodies") == []
        assert await collect(cassandra, -1.0) == 0

    play(settings, case)


def test_what_is_stored_again_meanwhile_stays(settings: Servers) -> None:
    async def case(cassandra: Cassandra, store: ClusterStore) -> None:
        await dropped(store)
        await put(store, A, LARGE, SMALL, 20)
        assert await collect(cassandra, -1.0) == 0
        assert await there(cassandra) == {SMALL, LARGE, SHARED}

    play(settings, case)


def test_what_came_loose_while_the_pages_were_looked_at_stays_loose(
    settings: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def case(cassandra: Cassandra, store: ClusterStore) -> None:
        async def then_dropped(*wanted: Any) -> AsyncIterator[ResultRows]:
            async for records in scanned(*wanted):
                yield records
            await store.drop(B, stamp(1, 20))

        await dropped(store)
        with monkeypatch.context() as patched:
            patched.setattr(f"{collect.__module__}.scanned", then_dropped)
            assert await collect(cassandra, 0.0) == 2
        assert await there(cassandra) == {SHARED}, "its page was seen"
        assert await collect(cassandra, 0.0) == 1
        assert await there(cassandra) == set()

    play(settings, case)


def test_nothing_is_like_a_page_that_got_its_sketch_later(settings: Servers) -> None:
    """Its own record has none: it was stored by a version before sketches, and `rebuild-near` made it."""

    async def case(cassandra: Cassandra, store: ClusterStore) -> None:
        text = " ".join(f"word{number}" for number in range(40))
        await store.put_page(Page(A, A, "a.example", 1, "new", 200, 1.0, text=text), None, None, stamp(1, 1))
        await store.put_rows([Row(A, A, "a.example", 1, "fetched", "", page=1)], stamp(1, 1))
        await Sketching(cassandra, WHOLE).run(lambda _: None)
        assert await store.near(sketch_of(words_of("", text)), 0.9) == A
        await store.drop(A, stamp(1, 9))
        assert await cassandra.read("SELECT id FROM sketches") == []

    play(settings, case)
