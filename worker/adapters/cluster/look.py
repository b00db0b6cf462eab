"""What `gregor status` finds: each server is asked by itself, for seconds at most; what is away hides nothing else."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, TypeVar

from msgspec.structs import replace

from gregor.schemas.messages import PartitionRecord, decode
from gregor.worker.adapters.cluster.cassandra_client import Cassandra
from gregor.worker.adapters.cluster.kafka_setup import check_topics
from gregor.worker.adapters.cluster.log import KafkaLog
from gregor.worker.adapters.cluster.redis_client import RedisClient
from gregor.worker.adapters.cluster.status import owners, statuses
from gregor.worker.adapters.cluster.zookeeper_client import ZooKeeper
from gregor.worker.adapters.cluster.zookeeper_setup import check_tree
from gregor.worker.adapters.cluster.zookeeper_tree import Tree
from gregor.worker.borders.clock import Clock
from gregor.worker.borders.errors import Unavailable
from gregor.worker.borders.members import ClusterStatus, WorkerStatus
from gregor.worker.config.settings import Config
from gregor.worker.frontier.counts import total

T = TypeVar("T")
_MOST_SECONDS: Final = 4.0
"""Seconds for one answer of a server; several are asked at once."""
_PARTITIONS: Final = "SELECT data FROM partitions"


async def look(config: Config, keyspace: str, clock: Clock, environ: Mapping[str, str]) -> ClusterStatus:
    """Ask all servers at once. Raises `BadInput` for a crawl that is not there, or settings that no server takes."""
    patient = replace(config, server_timeout=min(config.server_timeout, _MOST_SECONDS))
    away: dict[str, str] = {}

    async def unless_away(ask: Callable[[], Awaitable[T]]) -> T | None:
        try:
            return await ask()
        except Unavailable as error:
            away[error.service] = str(error)
            return None

    members, lag, counts, _ = await asyncio.gather(
        unless_away(lambda: _members(patient, clock, environ)),
        unless_away(lambda: _lag(patient)),
        unless_away(lambda: _counts(patient, keyspace, environ)),
        unless_away(lambda: _redis(patient, environ)),
    )
    workers, owned = members or (None, None)
    return ClusterStatus(workers, owned, lag, counts, dict(sorted(away.items())))


async def _members(
    config: Config, clock: Clock, environ: Mapping[str, str]
) -> tuple[list[WorkerStatus], dict[int, tuple[str, int]]]:
    zookeeper = await ZooKeeper.open(config, clock, environ)
    try:
        tree = Tree(config.zookeeper_root, config.crawl)
        await check_tree(zookeeper, tree, config.partitions, {})
        return await statuses(zookeeper, tree), await owners(zookeeper, tree)
    finally:
        await zookeeper.close()


async def _lag(config: Config) -> dict[int, int]:
    await asyncio.to_thread(check_topics, config, config.crawl, config.partitions)
    log = KafkaLog(config, config.crawl, config.partitions)
    try:
        return await log.lag()
    finally:
        await log.close()


async def _counts(config: Config, keyspace: str, environ: Mapping[str, str]) -> dict[str, int]:
    cassandra = await Cassandra.connect(config, keyspace, environ)
    try:
        records = await cassandra.read(_PARTITIONS)
        return total(decode(data, PartitionRecord).counts for (data,) in records)
    finally:
        await cassandra.close()


async def _redis(config: Config, environ: Mapping[str, str]) -> None:
    redis = RedisClient(config, environ)
    try:
        await redis.check()
    finally:
        await redis.close()
