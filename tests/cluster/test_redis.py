"""What is particular to the seen set in Redis: how it grows, and what becomes of it when Redis is not well."""

import asyncio
import random
import uuid
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import pytest
import trustme
from redis import Redis
from redis.exceptions import ResponseError

from gregor.worker.adapters.cluster import redis_contents, redis_scripts
from gregor.worker.adapters.cluster.contents import number_of
from gregor.worker.adapters.cluster.redis_addresses import RedisAddresses
from gregor.worker.adapters.cluster.redis_client import RedisClient
from gregor.worker.adapters.cluster.redis_contents import NOBODY, Claim, RedisContents
from gregor.worker.adapters.cluster.seen import RedisSeen
from gregor.worker.base.errors import BadInput
from gregor.worker.borders.addresses import AddressTurns
from gregor.worker.borders.errors import Unavailable
from gregor.worker.config.servers import Servers
from tests.cluster.conftest import stoppable
from tests.cluster.redis_engine import Named
from tests.cluster.servers import Missing, Service
from tests.cluster.servers.packages import program
from tests.cluster.servers.process import Process, free_ports, listens
from tests.contract.address_turns import CASES, Pause

T = TypeVar("T")
Case = Callable[[RedisSeen], Awaitable[None]]


def settings(service: Service, **more: Any) -> Servers:
    return msgspec.structs.replace(Servers(redis=service.addresses[:1], server_timeout=5.0), **more)


def run(servers: Servers, case: Case, crawl: str | None = None, named: Named | None = None) -> None:
    """A case over a seen set of its own."""

    async def whole() -> None:
        async with asyncio.timeout(60):
            seen = await RedisSeen.open(servers, crawl or uuid.uuid4().hex, named or Named(), {})
            try:
                await case(seen)
            finally:
                await seen.close()

    asyncio.run(whole())


def server(redis: Service, number: int = 0) -> Redis:
    host, _, port = redis.addresses[number].rpartition(":")
    return Redis(host, int(port))


@contextmanager
def configured(redis: Service, name: str, value: str) -> Iterator[None]:
    with server(redis) as client:
        before = client.config_get(name)[name]
        client.config_set(name, value)
        try:
            yield
        finally:
            client.config_set(name, before)


async def patiently(call: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Again while Redis is away, as the crawl does."""
    while True:
        try:
            return await call()
        except Unavailable:
            await asyncio.sleep(0.05)


def test_a_group_grows_without_losing_or_inventing_anything(redis: Service) -> None:
    crawl, chance = uuid.uuid4().hex, random.Random(1)
    marked = [chance.getrandbits(redis_scripts.MEMBER_BITS) for _ in range(10_000)]
    others = [chance.getrandbits(redis_scripts.MEMBER_BITS) for _ in range(2_000)]

    async def case(seen: RedisSeen) -> None:
        for at in range(0, len(marked), 700):
            await seen.mark(marked[at : at + 700])
            assert all(await seen.seen(marked[: at + 700]))
        assert not any(await seen.seen(others))

    run(settings(redis), case, crawl)
    with server(redis) as client:
        buckets = [key for key in client.scan_iter(f"{{{crawl}:*}}*") if not key.endswith(b"}")]
        sizes = [client.scard(key) for key in buckets]
        assert {client.object("encoding", key) for key in buckets} == {b"intset"}
    assert sum(sizes) == len(set(marked))
    assert max(sizes) <= 512
    assert sum(sizes) / len(sizes) > redis_scripts.LIMIT / 2


def test_crawls_share_nothing(redis: Service) -> None:
    async def marks(seen: RedisSeen) -> None:
        await seen.mark([1, 2])
        assert await seen.seen([1, 2, 3]) == [True, True, False]
        await seen.claim(b"c" * 16, "http://a/")

    async def sees_nothing(seen: RedisSeen) -> None:
        assert await seen.seen([1, 2]) == [False, False]
        assert await seen.content(b"c" * 16) is None

    run(settings(redis), marks)
    run(settings(redis), sees_nothing)


def test_a_content_is_owned_as_long_as_its_page_is_kept(redis: Service) -> None:
    named = Named()

    async def case(seen: RedisSeen) -> None:
        assert await seen.claim(b"c" * 16, "http://a/") == "http://a/"
        assert await seen.claim(b"c" * 16, "http://b/") == "http://a/"
        named.keys.pop((b"c" * 16, number_of("http://a/")))  # its time is over
        assert await seen.content(b"c" * 16) is None
        answers = await asyncio.gather(*(seen.claim(b"c" * 16, f"http://{name}/") for name in "bcde"))
        assert len(set(answers)) == 1 and answers[0] != "http://a/"
        assert await seen.content(b"c" * 16) == answers[0]
        await seen.disown(b"c" * 16, "http://other/")
        assert await seen.content(b"c" * 16) == answers[0]
        await seen.disown(b"c" * 16, answers[0])
        assert await seen.content(b"c" * 16) is None

    run(settings(redis), case, named=named)


def test_what_begins_alike_is_no_duplicate(redis: Service) -> None:
    """Two contents that Redis cannot tell apart: whom it names did not claim the other."""
    one, other = b"c" * 16, b"c" * 8 + b"d" * 8

    async def case(seen: RedisSeen) -> None:
        assert await seen.claim(one, "http://a/") == "http://a/"
        assert await seen.content(other) is None
        assert await seen.claim(other, "http://b/") == "http://b/"
        assert await seen.claim(one, "http://c/") == "http://c/"

    run(settings(redis), case)


def test_contents_are_packed_and_keep_their_owners_while_a_group_grows(redis: Service) -> None:
    crawl, chance = uuid.uuid4().hex, random.Random(2)
    claims = {b"\0" + chance.randbytes(15): chance.getrandbits(64) | 1 for _ in range(20_000)}

    async def case(seen: RedisSeen) -> None:
        client = RedisClient(settings(redis), {})
        contents = RedisContents(client, crawl)
        items = [Claim(fingerprint, owner) for fingerprint, owner in claims.items()]
        for at in range(0, len(items), 1700):
            some = items[at : at + 1700]
            assert await contents.claim(some) == [claim.claimant for claim in some]
        rivals = [Claim(claim.fingerprint, 5) for claim in items]
        assert await contents.claim(rivals) == list(claims.values())
        assert await contents.owners(list(claims)) == list(claims.values())
        assert await contents.owners([b"\0" + chance.randbytes(15) for _ in range(100)]) == [NOBODY] * 100
        for claim in items[:50]:
            await contents.release(claim.fingerprint, claim.claimant)
        assert await contents.owners([claim.fingerprint for claim in items[:100]]) == [
            *([NOBODY] * 50),
            *(claim.claimant for claim in items[50:100]),
        ]
        await client.close()

    run(settings(redis), case, crawl)
    with server(redis) as client:
        sizes = [client.strlen(key) / 14 for key in client.scan_iter(f"{{{crawl}:*}}c*") if not key.endswith(b"c")]
    assert sum(sizes) == len(claims) - 50
    assert max(sizes) <= 2 * redis_contents.LIMIT
    assert sum(sizes) / len(sizes) > redis_contents.LIMIT / 2


def test_scripts_are_loaded_again(redis: Service) -> None:
    async def case(seen: RedisSeen) -> None:
        await seen.mark([7])
        with server(redis) as client:
            client.script_flush()
        assert await seen.seen([7]) == [True]
        with server(redis) as client:
            client.script_flush()
        await seen.mark([8])
        assert await seen.seen([8]) == [True]

    run(settings(redis), case)


def test_a_connection_that_the_server_closed_is_made_again(redis: Service) -> None:
    async def case(seen: RedisSeen) -> None:
        steps: list[tuple[Callable[[], Awaitable[Any]], Any]] = [
            (lambda: seen.mark([7]), None),
            (lambda: seen.seen([7, 9]), [True, False]),
            (lambda: seen.claim(b"c" * 16, "http://a/"), "http://a/"),
            (lambda: seen.content(b"c" * 16), "http://a/"),
        ]
        for step, expected in steps:
            await step()
            with server(redis) as client:
                client.client_kill_filter(_type="normal", skipme=True)
            assert await step() == expected

    run(settings(redis), case)


def test_a_redis_that_may_evict_is_refused(redis: Service) -> None:
    async def case(seen: RedisSeen) -> None:
        raise AssertionError("opened")

    with configured(redis, "maxmemory-policy", "allkeys-lru"), pytest.raises(BadInput, match="noeviction"):
        run(settings(redis), case)


def test_a_replica_is_refused(redis: Service) -> None:
    async def case(seen: RedisSeen) -> None:
        raise AssertionError("opened")

    with pytest.raises(BadInput, match="replica"):
        run(settings(redis, redis=redis.addresses[1:]), case)


def test_a_full_redis_is_away_and_comes_back(redis: Service) -> None:
    async def case(seen: RedisSeen) -> None:
        await seen.mark([1])
        with configured(redis, "maxmemory", "1"):
            with pytest.raises(Unavailable, match="Redis is full"):
                await seen.mark([2])
            with pytest.raises(Unavailable, match="Redis is full"):
                await seen.claim(b"c" * 16, "http://a/")
            assert await seen.seen([1, 2]) == [True, False]
        await seen.mark([2])
        assert await seen.seen([2]) == [True]

    run(settings(redis), case)


def test_a_redis_that_is_away_answers_nothing(redis: Service) -> None:
    stoppable(redis)

    async def case(seen: RedisSeen) -> None:
        await seen.mark([1])
        redis.nodes[0].pause()
        try:
            with pytest.raises(Unavailable):
                while True:  # a signal takes its time
                    await seen.seen([1])
            for call in (seen.seen([1]), seen.mark([2]), seen.content(b"c"), seen.claim(b"c", "http://a/")):
                with pytest.raises(Unavailable, match="Redis"):
                    await call
        finally:
            redis.nodes[0].resume()
        assert await patiently(lambda: seen.seen([1])) == [True]
        redis.nodes[0].kill()
        with pytest.raises(Unavailable, match="Redis"):
            await seen.seen([1])
        await asyncio.to_thread(redis.start)
        assert await seen.seen([1]) == [True]

    run(settings(redis, server_timeout=0.3), case)


def test_a_write_that_no_replica_has_is_not_acknowledged(redis: Service) -> None:
    stoppable(redis)
    servers = settings(redis, redis_replicas=1, server_timeout=1.0)

    async def case(seen: RedisSeen) -> None:
        await patiently(lambda: seen.mark([1]))
        with server(redis, 1) as replica:
            assert replica.dbsize() > 0
        redis.nodes[1].pause()
        try:
            with pytest.raises(Unavailable, match="0 of 1 replicas"):
                while True:  # a signal takes its time
                    await seen.mark([2])
        finally:
            redis.nodes[1].resume()
        await patiently(lambda: seen.mark([2]))
        assert await patiently(lambda: seen.claim(b"c", "http://a/")) == "http://a/"

    run(servers, case)


def test_replicas_are_there_at_the_start(redis: Service) -> None:
    async def case(seen: RedisSeen) -> None:
        raise AssertionError("opened")

    with pytest.raises(Unavailable, match="1 of 2 replicas"):
        run(settings(redis, redis_replicas=2), case)


def test_the_primary_that_sentinels_name(sentinel: Service) -> None:
    stoppable(sentinel)
    servers = settings(sentinel, redis=sentinel.addresses[2:], redis_sentinel="gregor", redis_replicas=1)

    async def case(seen: RedisSeen) -> None:
        await seen.mark([1, 2])
        with server(sentinel, 2) as client:
            before = client.sentinel_get_master_addr_by_name("gregor")
            while not promoted(client):
                await seen.seen([1])
            while client.sentinel_get_master_addr_by_name("gregor") == before:
                await patiently(lambda: seen.seen([1]))
        await patiently(lambda: seen.mark([3]))
        assert await patiently(lambda: seen.seen([1, 2, 3, 4])) == [True, True, True, False]

    run(servers, case)


def promoted(client: Redis) -> bool:
    """Whether a Sentinel agrees to promote the replica, which it first has to hear of."""
    try:
        client.sentinel_failover("gregor")
    except ResponseError:
        return False
    return True


def test_users_and_tls(tmp_path: Path) -> None:
    try:
        binary = program("redis-server", "redis-server")
    except Missing as error:
        pytest.skip(str(error))
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(tmp_path / "server.pem")
    (tmp_path / "password").write_text("s3cret\n")
    (port,) = free_ports(1)
    options = (
        *("--bind", "127.0.0.1", "--port", "0", "--tls-port", str(port), "--tls-auth-clients", "no"),
        *("--tls-cert-file", str(tmp_path / "server.pem"), "--tls-key-file", str(tmp_path / "server.pem")),
        *("--tls-ca-cert-file", str(tmp_path / "ca.pem"), "--save", ""),
        *("--user", "gregor", "on", ">s3cret", "~*", "+@all", "--user", "default", "off"),
    )
    process = Process("redis", [binary, *options], tmp_path, None)
    address = f"127.0.0.1:{port}"
    service = Service(name="redis", addresses=(address,), nodes=(process,), answers=lambda: listens(address))
    good = settings(
        service,
        redis_username="gregor",
        redis_password_file=str(tmp_path / "password"),
        redis_tls=True,
        redis_ca_file=str(tmp_path / "ca.pem"),
    )

    async def case(seen: RedisSeen) -> None:
        await seen.mark([1])
        assert await seen.seen([1, 2]) == [True, False]

    try:
        service.start()
        run(good, case)
        for bad in ({"redis_username": "other"}, {"redis_ca_file": ""}, {"redis_password_file": ""}):
            with pytest.raises(Unavailable, match="Redis"):
                run(msgspec.structs.replace(good, **bad), case)
    finally:
        process.kill()


@pytest.mark.parametrize(
    "may",
    ["~* +info +client", "~* +info +client +evalsha +script", "~other +@all", "~* +@all -set", "~* +@all -del"],
)
def test_a_user_who_may_not_do_all_that_a_crawl_does_is_told_at_once(redis: Service, tmp_path: Path, may: str) -> None:
    async def case(seen: RedisSeen) -> None:
        raise AssertionError("opened")

    (tmp_path / "password").write_text("s3cret\n")
    named = settings(redis, redis_username="clerk", redis_password_file=str(tmp_path / "password"))
    with server(redis) as client:
        client.execute_command("ACL", "SETUSER", "clerk", "on", ">s3cret", *may.split())
        try:
            with pytest.raises(Unavailable, match=r"permission|can't run"):
                run(named, case)
        finally:
            client.execute_command("ACL", "DELUSER", "clerk")


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"redis": ("localhost",)}, "HOST:PORT"),
        ({"redis": ("a:1", "b:1")}, "redis_sentinel or redis_cluster"),
        ({"redis_sentinel": "s", "redis_cluster": True}, "exclude each other"),
        ({"redis_password_env": "NOT_SET"}, "NOT_SET"),
    ],
)
def test_settings_that_cannot_work(wrong: dict[str, Any], told: str) -> None:
    async def case(seen: RedisSeen) -> None:
        raise AssertionError("opened")

    with pytest.raises(BadInput, match=told):
        run(msgspec.structs.replace(Servers(), **wrong), case)


@pytest.mark.parametrize("case", CASES)
def test_turns_of_addresses(redis: Service, case: Callable[[AddressTurns, Pause], Awaitable[None]]) -> None:
    async def run() -> None:
        client = RedisClient(Servers(redis=redis.addresses[:1]), {})
        try:
            await case(RedisAddresses(client, uuid.uuid4().hex), asyncio.sleep)
        finally:
            await client.close()

    asyncio.run(run())
