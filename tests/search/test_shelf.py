"""What index workers remember, in Cassandra: how a URL was indexed, while that is replaced and afterwards."""

import asyncio
from collections.abc import AsyncIterator
from typing import TypeVar

from gregor.worker.adapters.cluster.cassandra_client import Cassandra
from gregor.worker.adapters.cluster.index_shelf import CassandraShelf
from gregor.worker.borders.shelf import IndexedUrl, RankedLinks
from tests.cluster.keyspaces import keyspace
from tests.cluster.servers import Service

T = TypeVar("T")
A, B, C = "http://a.org/", "http://b.org/", "http://c.org/"


def test_what_is_pending_is_remembered_until_it_is_settled(cassandra: Service) -> None:
    async def whole() -> None:
        shelf = CassandraShelf(await Cassandra.connect(settings, "remembered", {}))
        try:
            old, ranked = [(B, 1)], b"12345678" * 2
            await shelf.note(A, IndexedUrl("one", old, "a.org", ranked), 1)
            assert await shelf.noted(A) == IndexedUrl("one", old)
            both = IndexedUrl("one", [(B, 1), (C, 2)], pending=["two", "three"])
            await shelf.note(A, both, 2)
            await shelf.note(B, IndexedUrl(pending=["two"]), 2)
            assert await shelf.noted(A) == both and await shelf.noted(B) == IndexedUrl("", [], pending=["two"])
            assert await shelf.contents_of([B, C, A]) == ["two", "one", "three"]
            assert await listed(shelf.contents()) == [(A, "one")] and sorted(await listed(shelf.keys())) == [A, B]
            assert await listed(shelf.sources()) == [RankedLinks(A, "a.org", ranked)]
            await shelf.note(A, IndexedUrl("three", [(C, 2)], "a.org", b""), 3)
            await shelf.note(B, IndexedUrl(), 3)
            await shelf.note(A, both, 2)  # late, of an owner before
            assert await shelf.contents_of([A, B]) == ["three"] and await shelf.noted(B) is None
            assert await listed(shelf.sources()) == [RankedLinks(A, "a.org", b"")]
        finally:
            await shelf.close()

    with keyspace(cassandra, "remembered", {"crawl": "shelf"}) as settings:
        asyncio.run(whole())


def test_what_was_remembered_before_there_was_anything_pending_is_read(cassandra: Service) -> None:
    async def whole() -> None:
        client = await Cassandra.connect(settings, "earlier", {})
        shelf = CassandraShelf(client)
        try:
            await client.write("INSERT INTO index_pages (key, content, data) VALUES (?, ?, ?)", (A, "one", b"\x90"))
            assert await shelf.noted(A) == IndexedUrl("one", []) and await shelf.contents_of([A]) == ["one"]
        finally:
            await shelf.close()

    with keyspace(cassandra, "earlier", {"crawl": "shelf"}) as settings:
        asyncio.run(whole())


async def listed(parts: AsyncIterator[list[T]]) -> list[T]:
    return [entry async for part in parts for entry in part]
