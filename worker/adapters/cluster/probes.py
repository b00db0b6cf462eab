"""Whether each server answers a worker: what accepts connections may still hang, or refuse a password."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from gregor.worker.adapters.cluster import cassandra_setup, kafka_setup
from gregor.worker.adapters.cluster.redis_client import RedisClient
from gregor.worker.adapters.cluster.seen import probe
from gregor.worker.adapters.cluster.zookeeper_client import ZooKeeper
from gregor.worker.borders.clock import Clock
from gregor.worker.config.servers import Servers

Probe = Callable[[Servers, Clock, Mapping[str, str]], Awaitable[None]]


async def _kafka(servers: Servers, _clock: Clock, _environ: Mapping[str, str]) -> None:
    await asyncio.to_thread(kafka_setup.all_topics, servers)


async def _zookeeper(servers: Servers, clock: Clock, environ: Mapping[str, str]) -> None:
    await (await ZooKeeper.open(servers, clock, environ)).close()


async def _redis(servers: Servers, _clock: Clock, environ: Mapping[str, str]) -> None:
    """It may answer, and have no room for what is written, or forbid it: a few bytes are."""
    client = RedisClient(servers, environ)
    try:
        await client.check()
        await probe(client, "doctor")
    finally:
        await client.close()


async def _cassandra(servers: Servers, _clock: Clock, environ: Mapping[str, str]) -> None:
    await asyncio.to_thread(cassandra_setup.reach, servers, environ)


PROBES: Final[Mapping[str, Probe]] = {
    "kafka": _kafka,
    "zookeeper": _zookeeper,
    "redis": _redis,
    "cassandra": _cassandra,
}
"""By the server's setting. Each raises `Unavailable`, `BadInput`."""
