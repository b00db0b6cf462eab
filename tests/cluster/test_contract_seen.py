"""The contract of `SeenSet` over Redis: each case as it is, after a reopen, and after a restart of the servers.

The same over a Redis Cluster.
"""

import asyncio
from collections.abc import Iterator

import pytest

import tests.contract.test_seen as contract
from gregor.worker.adapters.cluster.redis_client import RedisClient
from gregor.worker.adapters.cluster.seen import RedisSeen
from gregor.worker.borders.errors import Unavailable
from gregor.worker.config.servers import Servers
from tests.cluster.conftest import stoppable
from tests.cluster.redis_cluster import start_cluster
from tests.cluster.redis_engine import Named, RedisFactory
from tests.cluster.restart import cases_of, over_restart
from tests.cluster.servers import Missing, Service
from tests.contract.test_seen import *  # noqa: F403 - the cases
from tests.contract.world import World


@pytest.fixture(scope="session")
def redis_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Three primaries."""
    try:
        service = start_cluster(tmp_path_factory.mktemp("redis-cluster"))
    except Missing as error:
        pytest.skip(str(error))
    try:
        yield service
    finally:
        service.kill()


@pytest.fixture(params=["redis", "redis_cluster"])
def settings(request: pytest.FixtureRequest) -> Servers:
    service: Service = request.getfixturevalue(request.param)
    if request.param == "redis_cluster":
        return Servers(redis=service.addresses, redis_cluster=True)
    return Servers(redis=service.addresses[:1])


@pytest.fixture(params=[False, True], ids=["plain", "reopen"])
def world(request: pytest.FixtureRequest, settings: Servers) -> World:
    return World(RedisFactory(settings), reopens=request.param)


def test_a_cluster_waits_for_replicas(redis_cluster: Service) -> None:
    servers = Servers(redis=redis_cluster.addresses, redis_cluster=True, redis_replicas=1, server_timeout=2.0)

    async def case() -> None:
        with pytest.raises(Unavailable, match="0 of 1 replicas connected"):
            await RedisSeen.open(servers, "crawl", Named())
        client = RedisClient(servers, {})
        seen = RedisSeen(client, "crawl", Named())
        try:
            with pytest.raises(Unavailable, match="0 of 1 replicas acknowledged"):
                await seen.mark([number << 50 for number in range(100)])
            assert all(await seen.seen([number << 50 for number in range(100)]))
        finally:
            await seen.close()

    asyncio.run(case())


def test_all_over_a_restart(redis: Service) -> None:
    stoppable(redis)
    servers = Servers(redis=redis.addresses[:1], redis_replicas=len(redis.addresses) - 1)
    over_restart(cases_of(contract), lambda: RedisFactory(servers), redis.restart)
