"""Cassandra beyond the contract: set-up, a server that is away, and what only shows in its tables."""

import asyncio
import io
import random
import re
import ssl
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec
import pytest
import trustme
from cassandra import AuthenticationFailed, InvalidRequest
from cassandra.cluster import NoHostAvailable

from gregor.schemas.items import StoredItem
from gregor.schemas.messages import Link, Page, PartitionRecord, Row
from gregor.worker.adapters.cluster import engine
from gregor.worker.adapters.cluster.cassandra_client import Cassandra
from gregor.worker.adapters.cluster.cassandra_connect import make_cluster, translation
from gregor.worker.adapters.cluster.cassandra_setup import check, set_up, versions
from gregor.worker.adapters.cluster.item_writer import ClusterItems
from gregor.worker.adapters.cluster.reader import ClusterReader
from gregor.worker.adapters.cluster.sketching import Sketching
from gregor.worker.adapters.cluster.store import ClusterStore
from gregor.worker.base.errors import BadInput
from gregor.worker.borders.errors import Unavailable
from gregor.worker.borders.items import ItemSet
from gregor.worker.borders.reader import WHOLE, Part
from gregor.worker.borders.store import Entry
from gregor.worker.config.servers import Servers
from gregor.worker.config.settings import Config
from gregor.worker.read.fingerprints import sketch_of
from tests.cluster.conftest import stoppable
from tests.cluster.keyspaces import drop, keyspace
from tests.cluster.servers import Service
from tests.cluster.servers.cassandra import PASSWORD, USER
from tests.cluster.servers.certificates import CA_FILE
from tests.cluster.servers.process import Process, free_ports
from tests.contract.world import ticket
from tests.sketches import sketch

T = TypeVar("T")

_KEYSPACE: Final = "beyond"
_TOMBSTONES: Final = re.compile(r"and (\d+) tombstone")
_FACTS: Final = {"crawl": "test", "partitions": "8"}


@pytest.fixture(scope="module")
def settings(cassandra: Service) -> Iterator[Servers]:
    """A quick-tempered client, so that what is away shows soon."""
    with keyspace(cassandra, _KEYSPACE, _FACTS, timeout=5.0) as settings:
        yield settings


def play(settings: Servers, case: Callable[[Cassandra], Awaitable[T]], timeout: float = 60) -> T:
    """Run a case with a connection of its own."""

    async def whole() -> T:
        cassandra = await Cassandra.connect(settings, _KEYSPACE, {})
        try:
            async with asyncio.timeout(timeout):
                return await case(cassandra)
        finally:
            await cassandra.close()

    return asyncio.run(whole())


def row(key: str, visits: int = 1) -> Row:
    return Row(key, key, "example.org", visits, "fetched", "fetched")


def page(key: str, fetched_at: float = 1.0, **fields: Any) -> Page:
    return Page(key, key, "example.org", 1, "new", 200, fetched_at, **fields)


def test_items_made_anew_go_with_their_page_and_its_owner_wins_later(settings: Servers) -> None:
    made = [StoredItem("job", "job", "2", b'{"title":"b"}', "[1]")]
    large = [StoredItem("job", "job", "1", b'{"title":"' + random.Random(1).randbytes(400_000).hex().encode() + b'"}')]

    async def case(cassandra: Cassandra) -> None:
        store = ClusterStore(cassandra, 3600)
        for key, items in (("anew", large), ("gone", [])):
            await store.put_page(page(key, items=items, text="x"), None, None, 100)
        sets = [ItemSet(key, 1, made, frozenset({"job"}), ("port", 0.75)) for key in ("anew", "none")]
        writer = ClusterItems(cassandra)
        for _ in range(2):
            assert await writer.put(sets) == 1
        kept = await store.page("anew", 1)
        assert kept is not None and (kept.items, kept.text) == (made, "x")
        assert (kept.page_class, kept.class_probability) == ("port", 0.75)
        ((left,),) = await cassandra.read("SELECT TTL(data) FROM pages WHERE key = ? AND visit = ?", ("anew", 1))
        assert 0 < left <= 3600
        await store.put_page(page("anew", items=large), None, None, 101 + 10)
        owned = await store.page("anew", 1)
        assert owned is not None and owned.items == large

    play(settings, case)


# ---------------------------------------------------------------- set-up


def test_set_up_is_done_once_and_says_what_it_did(settings: Servers) -> None:
    drop(settings, "beyond_once")

    async def whole() -> None:
        first = await set_up(settings, "beyond_once", _FACTS, {})
        assert [line.partition(":")[0] for line in first.done] == ["Cassandra"] * (1 + len(list(versions())))
        again = await set_up(settings, "beyond_once", _FACTS, {})
        assert again.done == ()
        assert again.crawl_id == first.crawl_id
        cassandra = await Cassandra.connect(settings, "beyond_once", {})
        try:
            assert await check(cassandra, "beyond_once", _FACTS) == first.crawl_id
            with pytest.raises(BadInput, match="partitions = 8, not 16"):
                await check(cassandra, "beyond_once", {**_FACTS, "partitions": "16"})
            with pytest.raises(BadInput, match="partitions = 8, not 16"):
                await set_up(settings, "beyond_once", {**_FACTS, "partitions": "16"}, {})
            await cassandra.write("INSERT INTO schema_versions (version, name) VALUES (?, ?)", (9999, "later"))
            with pytest.raises(BadInput, match="later version"):
                await set_up(settings, "beyond_once", _FACTS, {})
        finally:
            await cassandra.close()

    asyncio.run(whole())
    drop(settings, "beyond_once")


def test_set_up_goes_on_where_it_was_cut_short(settings: Servers) -> None:
    async def cut(cassandra: Cassandra) -> None:
        await cassandra.write("DELETE FROM schema_versions WHERE version = ?", (1,))
        with pytest.raises(BadInput, match="run `gregor init`"):
            await check(cassandra, _KEYSPACE, _FACTS)

    play(settings, cut)
    done = asyncio.run(set_up(settings, _KEYSPACE, _FACTS, {})).done
    assert len(done) == 1
    play(settings, lambda cassandra: check(cassandra, _KEYSPACE, _FACTS))


def test_a_keyspace_that_is_not_there_is_named(settings: Servers) -> None:
    with pytest.raises(BadInput, match="no keyspace nowhere: run `gregor init`"):
        asyncio.run(Cassandra.connect(settings, "nowhere", {}))


def test_a_data_center_that_is_not_there_is_named(settings: Servers) -> None:
    elsewhere = msgspec.structs.replace(settings, cassandra_datacenter="elsewhere")
    with pytest.raises((BadInput, Unavailable), match="Cassandra"):
        asyncio.run(set_up(elsewhere, "beyond_elsewhere", _FACTS, {}))


def test_the_keyspace_is_named_after_the_crawl() -> None:
    assert engine.keyspace(Config(crawl="my-crawl")) == "gregor_my_crawl"
    assert len(engine.keyspace(Config(crawl="x" * 63))) == 48
    assert engine.keyspace(Config(crawl="my-crawl", cassandra_keyspace="other")) == "other"


# ---------------------------------------------------------------- what a read meets


def test_what_is_absent_leaves_no_tombstone(settings: Servers) -> None:
    """A null that is written is a tombstone, and later reads meet all of them."""

    async def case(connection: Cassandra) -> None:
        store, keys = ClusterStore(connection), [f"http://absent.example/{number}" for number in range(20)]
        for visit in range(1, 11):
            await store.put_rows([row(key, visit) for key in keys], visit)
            for key in keys:
                await store.put_page(msgspec.structs.replace(page(key), visit=visit), None, None, visit)
        session = connection._session
        for table in ("rows", "pages"):
            for key in keys[:3]:
                statement = f"SELECT * FROM {table} WHERE key = %s"
                answer = await asyncio.to_thread(session.execute, statement, (key,), trace=True)
                events = (await asyncio.to_thread(answer.get_query_trace)).events
                met = [tombstones[1] for event in events if (tombstones := _TOMBSTONES.search(event.description))]
                assert met, [event.description for event in events]
                assert set(met) == {"0"}

    play(settings, case, 120)


# ---------------------------------------------------------------- a server that is away


def test_a_server_that_is_down_at_the_start_is_named() -> None:
    (port,) = free_ports(1)
    settings = Servers(cassandra=(f"127.0.0.1:{port}",))
    with pytest.raises(Unavailable, match=f"Cassandra is unavailable: 127.0.0.1:{port}: .*refused"):
        asyncio.run(Cassandra.connect(settings, _KEYSPACE, {}))


def test_a_name_that_is_not_known_is_named() -> None:
    with pytest.raises(Unavailable, match=r"no address is known for nowhere\.invalid"):
        asyncio.run(Cassandra.connect(Servers(cassandra=("nowhere.invalid:9042",)), _KEYSPACE, {}))


def test_the_crawl_goes_on_by_itself_after_a_restart(cassandra: Service, settings: Servers) -> None:
    stoppable(cassandra)

    async def case(connection: Cassandra) -> None:
        store = ClusterStore(connection)
        await store.put_rows([row("http://a/")], 1)
        await asyncio.to_thread(cassandra.kill)
        for _ in range(3):
            with pytest.raises(Unavailable, match="Cassandra is unavailable"):
                await store.rows(["http://a/"])
        await asyncio.to_thread(cassandra.start)
        assert await patiently(lambda: store.rows(["http://a/"])) == [row("http://a/")]

    play(settings, case, 120)


def test_a_server_that_hangs_blocks_nothing_else(cassandra: Service, settings: Servers) -> None:
    stoppable(cassandra)
    hasty = msgspec.structs.replace(settings, server_timeout=1.0)

    async def case(connection: Cassandra) -> None:
        store = ClusterStore(connection)
        await store.rows(["http://a/"])
        longest = [0.0]
        ticking = asyncio.create_task(tick(longest))
        for node in cassandra.nodes:
            node.pause()
        try:
            started = time.monotonic()
            with pytest.raises(Unavailable):
                await store.rows(["http://a/"])
            assert time.monotonic() - started < 3
        finally:
            for node in cassandra.nodes:
                node.resume()
        ticking.cancel()
        assert longest[0] < 0.7
        await patiently(lambda: store.rows(["http://a/"]))

    play(hasty, case, 120)


def test_a_statement_is_prepared_once_however_many_ask(settings: Servers, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two objects the driver knows the last, and only for as long as that lives; we might use the other."""
    asked = "SELECT key FROM rows WHERE key = ?"

    async def case(cassandra: Cassandra) -> list[str]:
        prepared: list[str] = []
        prepare = cassandra._session.prepare

        def counted(statement: str) -> object:
            prepared.append(statement)
            return prepare(statement)

        monkeypatch.setattr(cassandra._session, "prepare", counted)
        await asyncio.gather(*(cassandra.read(asked, (f"one {number}",)) for number in range(20)))
        return prepared

    assert play(settings, case) == [asked]


def test_callers_that_gave_up_leave_no_slot_taken(settings: Servers) -> None:
    async def case(connection: Cassandra) -> None:
        store = ClusterStore(connection)
        for _ in range(3):
            calls = [asyncio.create_task(store.put_rows([row(f"http://a/{n}")], 1)) for n in range(200)]
            await asyncio.sleep(0)
            for call in calls:
                call.cancel()
            await asyncio.gather(*calls, return_exceptions=True)
        await store.put_rows([row(f"http://a/{n}") for n in range(1000)], 2)

    play(settings, case)


def test_what_passes_is_told_from_what_lasts() -> None:
    wrong = NoHostAvailable("no host", {"127.0.0.1:9042": AuthenticationFailed("user x, password y")})
    told = translation(wrong)
    assert isinstance(told, BadInput)
    assert "password y" not in str(told)
    lasting = InvalidRequest("no such column")
    assert translation(lasting) is lasting
    assert isinstance(translation(NoHostAvailable("no host", {})), Unavailable)


def test_passwords_and_certificates_come_from_files(tmp_path: Path) -> None:
    secret, authority = tmp_path / "password", tmp_path / "ca.pem"
    secret.write_text("from the file\n")
    trustme.CA().cert_pem.write_to_path(authority)
    settings = Servers(
        cassandra=("192.0.2.1", "[::1]:9043"),
        cassandra_username="gregor",
        cassandra_password_file=str(secret),
        cassandra_tls=True,
        cassandra_ca_file=str(authority),
    )
    cluster = make_cluster(settings, {})
    assert (cluster.auth_provider.username, cluster.auth_provider.password) == ("gregor", "from the file")
    assert cluster.ssl_context.verify_mode == ssl.CERT_REQUIRED
    assert len(cluster.ssl_context.get_ca_certs()) == 1
    assert [(point.address, point.port) for point in cluster.endpoints_resolved] == [
        ("192.0.2.1", 9042),
        ("::1", 9043),
    ]
    public = make_cluster(msgspec.structs.replace(settings, cassandra_ca_file=""), {})
    assert public.ssl_context.check_hostname
    with pytest.raises(BadInput, match="cassandra_ca_file: cannot read"):
        make_cluster(msgspec.structs.replace(settings, cassandra_ca_file=str(tmp_path / "none")), {})
    with pytest.raises(BadInput, match="must be HOST:PORT"):
        make_cluster(msgspec.structs.replace(settings, cassandra=("node:port",)), {})


def test_passwords_and_tls(cassandra_secure: Service, tmp_path: Path) -> None:
    node = stoppable(cassandra_secure).nodes[0]
    assert isinstance(node, Process)
    (tmp_path / "password").write_text(f"{PASSWORD}\n")
    trustme.CA().cert_pem.write_to_path(tmp_path / "other.pem")
    good = Servers(
        cassandra=cassandra_secure.addresses,
        cassandra_username=USER,
        cassandra_password_file=str(tmp_path / "password"),
        cassandra_tls=True,
        cassandra_ca_file=str(node.folder / CA_FILE),
        cassandra_replication=1,
        server_timeout=20.0,
    )
    asyncio.run(set_up(good, _KEYSPACE, _FACTS, {}))

    async def case(connection: Cassandra) -> None:
        store = ClusterStore(connection)
        await store.put_rows([row("http://a/")], 1)
        assert await store.rows(["http://a/"]) == [row("http://a/")]

    play(good, case)
    (tmp_path / "password").write_text("not-this-one\n")
    with pytest.raises(BadInput, match="refused the user name and password") as refused:
        play(good, case)
    assert "not-this-one" not in str(refused.value)
    for bad in ({"cassandra_ca_file": str(tmp_path / "other.pem")}, {"cassandra_tls": False}):
        with pytest.raises(Unavailable, match="Cassandra"):
            play(msgspec.structs.replace(good, server_timeout=2.0, **bad), case)


# ---------------------------------------------------------------- tables


def test_a_page_larger_than_a_chunk(settings: Servers) -> None:
    noise = random.Random(1)
    links = [Link(f"http://a/{noise.getrandbits(256):x}", "a") for _ in range(20_000)]
    large = page("http://a/large", links=links, simhash=5, sketch=sketch(5))

    async def case(connection: Cassandra) -> None:
        store, reader = ClusterStore(connection), ClusterReader(connection, 8)
        await store.put_page(large, None, None, 1)
        assert await reader.page(large.key) == large
        assert large in [found async for found in reader.pages()]
        small = page("http://a/large")
        await store.put_page(small, None, None, 2)
        assert await reader.page(large.key) == small
        await store.put_page(large, None, None, 1)
        assert await reader.page(large.key) == small
        await store.put_page(large, None, None, 3)
        assert await reader.page(large.key) == large

    play(settings, case)


def test_a_body_of_whole_chunks_and_an_empty_one(settings: Servers) -> None:
    bodies = [b"", b"x" * 524_288, b"y" * 524_289, bytes(2 * 524_288)]

    async def case(connection: Cassandra) -> None:
        store, reader = ClusterStore(connection), ClusterReader(connection, 8)
        for body in bodies:
            name = sha256(body).hexdigest()
            await store.put_page(page("http://a/body", body=name), io.BytesIO(body), None, 1)
            found = await reader.body(name)
            assert found is not None
            with found:
                assert found.read() == body

    play(settings, case)


def test_pages_and_bodies_end_with_the_retention(settings: Servers) -> None:
    body = random.Random(2).randbytes(600_000)
    stored = page("http://a/short", body=sha256(body).hexdigest())

    async def case(connection: Cassandra) -> None:
        await ClusterStore(connection, retention=1000).put_page(stored, io.BytesIO(body), None, 1)
        name = bytes.fromhex(stored.body)
        for statement, values in (
            ("SELECT ttl(data) FROM pages WHERE key = ?", (stored.key,)),
            ("SELECT ttl(data) FROM bodies WHERE sha256 = ?", (name,)),
            ("SELECT ttl(data) FROM body_chunks WHERE sha256 = ? AND chunk = 1", (name,)),
        ):
            ((left,),) = await connection.read(statement, values)
            assert 900 < left <= 1000

    play(settings, case)


def test_a_page_that_is_gone_or_has_another_version_is_no_near_duplicate(settings: Servers) -> None:
    async def case(connection: Cassandra) -> None:
        store = ClusterStore(connection)
        for key, differing in (("http://a/1", 0), ("http://a/2", 5)):
            await store.put_page(page(key, sketch=sketch(1, differing)), None, None, 1)
        assert await store.near(sketch(1), 0.65) == "http://a/1"
        await connection.write("DELETE FROM pages WHERE key = ?", ("http://a/1",))
        assert await store.near(sketch(1), 0.65) == "http://a/2"
        await store.put_page(msgspec.structs.replace(page("http://a/2"), visit=2), None, None, 2)
        assert await store.near(sketch(1), 0.65) is None

    play(settings, case)


def test_pages_of_earlier_versions_get_their_sketches_and_what_is_cut_short_goes_on(settings: Servers) -> None:
    texts = [" ".join(f"w{number}x{word}" for word in range(40)) for number in range(20)]

    async def case(connection: Cassandra) -> None:
        store = ClusterStore(connection)
        for number, text in enumerate(texts):
            await store.put_page(page(f"http://old/{number}", text=text), None, None, 1)
        first = await Sketching(connection, Part(0, 2)).run(lambda _: None)
        did = await Sketching(connection, WHOLE).run(lambda _: None)
        assert (first.before, first.done, did.before, did.done) == (0, 128, 128, 128)
        for number, text in enumerate(texts):
            assert await store.near(sketch_of(text), 0.9) == f"http://old/{number}"
        assert (await Sketching(connection, WHOLE).run(lambda _: None)).before == 0

    play(settings, case)


def test_the_calendar_keeps_what_is_newer_than_every_drop(settings: Servers) -> None:
    """Writes and drops in any order of their stamps, as late ones of an old epoch come; the index never errs."""
    chance = random.Random(3)
    partition = 1_000_003

    async def case(connection: Cassandra) -> None:
        store = ClusterStore(connection)
        written: dict[tuple[int, str], int] = {}
        dropped: dict[int, int] = {}
        for stamp in chance.sample(range(1, 1000), 150):
            bucket = chance.choice([3, 16_383, 16_384, 40_000])
            if chance.random() < 0.7:
                for path in {chance.choice("abc"), chance.choice("abc")}:
                    written[bucket, path] = max(stamp, written.get((bucket, path), 0))
                    await store.put_entries(partition, [Entry(bucket, ticket(path))], stamp)
            else:
                dropped[bucket] = max(stamp, dropped.get(bucket, 0))
                await store.drop_bucket(partition, bucket, stamp)
            left = {name for name, at in written.items() if at >= dropped.get(name[0], 0)}
            numbers = sorted({number for number, _ in left})
            assert await store.buckets(partition, 0, 1 << 53, 100) == numbers
            assert await store.waiting(partition) == bool(left)
            found = {one.key[-1] for one in await store.read_bucket(partition, bucket)}
            assert found == {path for number, path in left if number == bucket}

    play(settings, case)


def test_spans_that_passed_are_forgotten(settings: Servers) -> None:
    partition = 1_000_004
    spans = "SELECT span FROM calendar_spans WHERE partition = ?"

    async def case(connection: Cassandra) -> None:
        store = ClusterStore(connection)
        for stamp, bucket in enumerate((5, 100_000, 200_000), 1):
            await store.put_entries(partition, [Entry(bucket, ticket("a"))], stamp)
        await store.drop_bucket(partition, 5, 10)
        await store.put_partition(PartitionRecord(partition, 1, cursor=99_999), 11)
        assert await connection.read(spans, (partition,)) == [(100_000 >> 14,), (200_000 >> 14,)]
        assert await store.buckets(partition, 0, 1 << 53, 10) == [100_000, 200_000]
        await store.drop_bucket(partition, 100_000, 12)
        await store.put_entries(partition, [Entry(100_001, ticket("b"))], 13)
        assert await store.buckets(partition, 0, 1 << 53, 10) == [100_001, 200_000]
        later = ClusterStore(connection)
        await later.put_partition(PartitionRecord(partition, 2, cursor=100_000), 1 << 33)
        assert await later.buckets(partition, 0, 1 << 53, 10) == [100_001, 200_000]

    play(settings, case)


def test_a_large_bucket_comes_back_in_the_order_of_its_stamps(settings: Servers) -> None:
    partition = 1_000_005

    async def case(connection: Cassandra) -> None:
        store = ClusterStore(connection)
        parts = [[ticket(f"{part}/{n}") for n in range(700)] for part in range(3)]
        for stamp, part in enumerate(parts, 1):
            await store.put_entries(partition, [Entry(7, one) for one in part], stamp)
            await store.put_chunk(partition, "example.org", 4, part, stamp)
        for found in (await store.read_bucket(partition, 7), await store.read_chunk(partition, "example.org", 4)):
            assert [one.key.split("/")[3] for one in found] == ["0"] * 700 + ["1"] * 700 + ["2"] * 700
            assert len(set(found)) == 2100

    play(settings, case)


async def patiently(call: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Repeat a call until its service is back, as the crawl does."""
    while True:
        try:
            return await call()
        except Unavailable:
            await asyncio.sleep(0.05)


async def tick(longest: list[float]) -> None:
    """Note the longest time in which the event loop did nothing for us."""
    while True:
        before = time.monotonic()
        await asyncio.sleep(0.01)
        longest[0] = max(longest[0], time.monotonic() - before)
