"""What the cluster's adapters write and look at, in which order: pages with what they name, owners of contents."""

import asyncio
import hashlib
import io
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any, cast

import pytest

from gregor.schemas.messages import Page, RobotsRecord, encode
from gregor.worker.adapters.cluster.cassandra_client import Cassandra
from gregor.worker.adapters.cluster.redis_client import RedisClient, RedisCommand
from gregor.worker.adapters.cluster.redis_contents import NOBODY, Claim
from gregor.worker.adapters.cluster.seen import RedisSeen
from gregor.worker.adapters.cluster.store import ClusterStore
from gregor.worker.adapters.cluster.store_backlogs import Backlogs
from gregor.worker.adapters.cluster.store_pages import CHUNK, Pages
from gregor.worker.adapters.compression import Compressor
from gregor.worker.borders.errors import Damaged, Unavailable
from tests.unit.adapters.test_order_of_writes import Statements


@pytest.mark.parametrize("size", [10, CHUNK, 2 * CHUNK + 1])
def test_bodies_and_sketches_are_there_before_the_page_that_names_them(size: int) -> None:
    body = b"a" * size
    page = Page(
        *("http://a.test/", "http://a.test/", "a.test", 1, "new", 200, 1.0),
        body=hashlib.sha256(body).hexdigest(),
        size=size,
        sketch=bytes(range(56)),
    )
    tables = ["bodies", "pages"] if size < CHUNK else ["body_chunks", "bodies", "pages"]
    for before in (tables, ["sketches", "pages"]):
        statements = Statements()
        asyncio.run(Pages(cast(Cassandra, statements)).put(page, io.BytesIO(body), None, 7))
        places = [statements.told.index(("done", table)) for table in before]
        assert places == sorted(places)
        assert statements.told.index(("begun", "pages")) > max(places[:-1])
        assert statements.told.count(("done", "body_chunks")) == size // CHUNK


def test_what_goes_to_the_calendar_while_it_is_looked_for_is_seen() -> None:
    """From a backlog, between the two looks."""

    looks = iter([True, False, True, False, False, True])

    async def look(_: int) -> bool:
        return next(looks)

    store: Any = ClusterStore.__new__(ClusterStore)
    store._calendars = store._backlogs = SimpleNamespace(waiting=look)
    assert [asyncio.run(store.waiting(3)) for _ in range(3)] == [True] * 3


def test_who_owned_a_content_gives_it_up_before_its_name_goes() -> None:
    done: list[str] = []

    def noted(what: str) -> Any:
        async def call(*_: object) -> None:
            done.append(what)

        return call

    seen: Any = RedisSeen.__new__(RedisSeen)
    seen._contents, seen._claimants = SimpleNamespace(release=noted("release")), SimpleNamespace(drop=noted("drop"))
    asyncio.run(seen.disown(b"f", "http://a.test/"))
    assert done == ["release", "drop"]


def test_what_is_asked_twice_at_once_is_answered_twice() -> None:
    async def read(_: object) -> list[bytes]:
        return [b"110"]

    seen: Any = RedisSeen.__new__(RedisSeen)
    seen._crawl, seen._client = "c", SimpleNamespace(split=False, read=read)
    assert asyncio.run(seen.seen([5, 5, 7])) == [True, True, False]


def test_an_owner_whose_page_is_kept_no_more_is_replaced_if_it_is_the_owner_still() -> None:
    gone, key = 99, "http://a.test/"
    asked = list[Claim]()

    async def claim(claims: list[Claim]) -> list[int]:
        asked.extend(claims)
        assert len(asked) < 4, "it asks for ever"
        return [one.claimant if one.replaces == gone else gone for one in claims]

    async def named(_: bytes, owner: int) -> str | None:
        return None

    async def put(*_: object) -> None:
        return None

    seen: Any = RedisSeen.__new__(RedisSeen)
    seen._contents, seen._claimants = SimpleNamespace(claim=claim), SimpleNamespace(key=named, put=put)
    assert asyncio.run(seen.claim(b"f", key)) == key
    assert [one.replaces for one in asked] == [NOBODY, gone]


def made(key: str, **changes: Any) -> Page:
    return Page(key, key, "a.test", 1, "new", 200, 1.0, sketch=bytes(range(56)), **changes)


def test_a_page_that_stands_where_another_one_should_is_damaged() -> None:
    pages, data = Pages(cast(Cassandra, None)), Compressor().compress(encode(made("http://a.test/")))
    assert asyncio.run(pages.unpack("http://a.test/", data, b"")) == made("http://a.test/")
    with pytest.raises(Damaged, match="another URL"):
        asyncio.run(pages.unpack("http://a.test/other", data, b""))


def test_of_exact_duplicates_no_sketch_is_kept() -> None:
    pages = Pages(cast(Cassandra, None))
    assert pages.sketched(made("http://a.test/"), 7, 0)
    assert not pages.sketched(made("http://a.test/", duplicate_of="http://a.test/first"), 7, 0)


@pytest.mark.parametrize("shard", [None, 0, 3])
def test_a_backlog_in_whatever_shard_is_one_that_waits(shard: int | None) -> None:
    async def read_each(_: str, many: list[tuple[int, int]]) -> list[list[tuple[int]]]:
        return [[(1,)] if of == shard else [] for _, of in many]

    backlogs = Backlogs(cast(Cassandra, SimpleNamespace(read_each=read_each)))
    assert asyncio.run(backlogs.waiting(3)) is (shard is not None)


@pytest.mark.parametrize("acknowledged", [1, 2])
def test_a_write_that_too_few_replicas_have_is_in_doubt(acknowledged: int) -> None:
    async def send(commands: list[RedisCommand], replicas: int) -> list[Any]:
        return [*(b"OK" for _ in commands), acknowledged]

    client: Any = RedisClient.__new__(RedisClient)
    client._send = send
    running = client._run([[RedisCommand("k", ("SET", "k", 1))]], 2)
    with nullcontext() if acknowledged == 2 else pytest.raises(Unavailable, match="1 of 2 replicas"):
        assert asyncio.run(running) == [[b"OK"]]


def test_of_two_robots_txt_the_one_that_was_fetched_later_stays_whoever_writes_it() -> None:
    stamps = list[object]()

    async def write(_: str, values: tuple[object, ...]) -> None:
        stamps.append(values[-1])

    store: Any = ClusterStore.__new__(ClusterStore)
    store._cassandra, store._robots_ahead = SimpleNamespace(write=write), 0.0
    for fetched_at, stamp in ((200.0, 1), (100.0, 1 << 40)):
        asyncio.run(store.put_robots(RobotsRecord("http://a.test", "allow", fetched_at, 0.0), stamp))
    assert stamps == [200_000_000, 100_000_000]
