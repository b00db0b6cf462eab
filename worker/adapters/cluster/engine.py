"""The cluster engine: the four borders on Kafka, ZooKeeper, Redis and Cassandra, opened together or not at all."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from gregor.worker.adapters.cluster import cassandra_setup, dropping, erasing, known_ranks
from gregor.worker.adapters.cluster.ahead import newest_of_partitions, robots_ahead
from gregor.worker.adapters.cluster.cassandra_client import Cassandra
from gregor.worker.adapters.cluster.contents import Contents
from gregor.worker.adapters.cluster.coordinator import ClusterCoordinator
from gregor.worker.adapters.cluster.item_writer import ClusterItems
from gregor.worker.adapters.cluster.kafka_setup import check_topics, create_topics
from gregor.worker.adapters.cluster.log import KafkaLog
from gregor.worker.adapters.cluster.look import look
from gregor.worker.adapters.cluster.reader import ClusterReader
from gregor.worker.adapters.cluster.rebuild import Rebuilding, Rebuilt
from gregor.worker.adapters.cluster.redis_client import RedisClient
from gregor.worker.adapters.cluster.seen import RedisSeen, probe
from gregor.worker.adapters.cluster.sketching import Sketching
from gregor.worker.adapters.cluster.store import ClusterStore
from gregor.worker.adapters.cluster.zookeeper_client import ZooKeeper
from gregor.worker.adapters.cluster.zookeeper_setup import ensure_tree
from gregor.worker.adapters.cluster.zookeeper_tree import Tree
from gregor.worker.adapters.when_there import nobody, when_there
from gregor.worker.borders.clock import Clock
from gregor.worker.borders.errors import Unavailable
from gregor.worker.borders.members import ClusterStatus
from gregor.worker.borders.reader import WHOLE, Part
from gregor.worker.config.servers import SERVERS, check_server
from gregor.worker.config.settings import Config
from gregor.worker.links.known_ranks import HighestRanks
from gregor.worker.operate.erase import Erased, Looked, Whose
from gregor.worker.operate.sketching import Sketched

T = TypeVar("T")


@dataclass(frozen=True)
class ClusterEngine:
    """The borders of one worker, and what reads beside them."""

    log: KafkaLog
    seen: RedisSeen
    store: ClusterStore
    coordinator: ClusterCoordinator
    reader: ClusterReader
    _cassandra: Cassandra
    _stack: AsyncExitStack

    async def known_ranks(self, seen: int) -> HighestRanks | None:
        """Those of the crawl's index; None where they are as they were when ``made`` was ``seen``."""
        return await known_ranks.read(self._cassandra, seen)

    async def collect_bodies(self, least: float) -> int:
        """See `dropping.collect`."""
        return await dropping.collect(self._cassandra, least)

    async def newest(self, bucket_width: float) -> float:
        """The latest time, unix seconds, that the crawl's partitions went by."""
        return await newest_of_partitions(self._cassandra, bucket_width)

    async def close(self) -> None:
        """End the session and every connection."""
        await self._stack.aclose()


def keyspace(config: Config) -> str:
    """The keyspace of a crawl: as configured, else made of its name."""
    return config.cassandra_keyspace or f"gregor_{config.crawl.replace('-', '_')}"[:48]


def facts(config: Config, canonical: str) -> dict[str, str]:
    """What a crawl is made for; none of it can change later."""
    return {
        "crawl": config.crawl,
        "partitions": str(config.partitions),
        "canonical": canonical,
        "bucket_width": f"{config.bucket_width:g}",
    }


class Opening:
    """Opens services one after another, each again while it is away, until the time to start is over.

    Raises `BadInput` at once for what cannot be used of the settings: no server has to be there for that.
    """

    def __init__(
        self, config: Config, environ: Mapping[str, str], away: Callable[[Unavailable], None] = nobody
    ) -> None:
        self._away = away
        for server in SERVERS:
            check_server(config, server, environ)
        self._settings = config
        self._environ = environ
        self._end = time.monotonic() + config.start_timeout
        self.stack = AsyncExitStack()

    async def __call__(self, opened: Callable[[], Awaitable[T]]) -> T:
        return await when_there(opened, self._end - time.monotonic(), self._settings, self._away)

    def keep(self, service: Any) -> None:
        """Close it with the others."""
        self.stack.push_async_callback(service.close)

    async def kafka(self) -> KafkaLog:
        """The log of the crawl, which is kept."""
        config = self._settings
        await self(lambda: asyncio.to_thread(check_topics, config, config.crawl, config.partitions))
        log = KafkaLog(config, config.crawl, config.partitions)
        self.keep(log)
        return log

    async def cassandra(self, canonical: str) -> tuple[Cassandra, str]:
        """That of the crawl, which is kept, and the crawl's random id."""
        config, name = self._settings, keyspace(self._settings)
        cassandra = await self(lambda: Cassandra.connect(config, name, self._environ))
        self.keep(cassandra)
        return cassandra, await self(lambda: cassandra_setup.check(cassandra, name, facts(config, canonical)))


async def set_up(
    config: Config, canonical: str, clock: Clock, environ: Mapping[str, str]
) -> tuple[list[str], list[str]]:
    """Make topics, keyspace, tables and tree where they are missing, and check Redis.

    A line for each thing that was made, and for each that was there already and had to be looked at.
    Raises `BadInput` when one was made for another crawl or number of partitions, or a server stays away.
    """
    opening = Opening(config, environ)
    async with opening.stack:
        made = await opening(
            lambda: cassandra_setup.set_up(config, keyspace(config), facts(config, canonical), environ)
        )
        topics = await opening(lambda: asyncio.to_thread(create_topics, config, config.crawl, config.partitions))
        zookeeper = await opening(lambda: ZooKeeper.open(config, clock, environ))
        opening.keep(zookeeper)
        tree = Tree(config.zookeeper_root, config.crawl)
        nodes = await opening(lambda: ensure_tree(zookeeper, tree, config.partitions, {"id": made.crawl_id}))
        redis = RedisClient(config, environ)
        opening.keep(redis)
        checked = await opening(redis.check)
        await opening(lambda: probe(redis, made.crawl_id))
    kafka = (f"Kafka: topic {name} with {config.partitions} partitions" for name in topics)
    return [*made.done, *kafka, *nodes], checked


async def open_engine(
    config: Config,
    canonical: str,
    name: str,
    clock: Clock,
    environ: Mapping[str, str],
    away: Callable[[Unavailable], None] = nobody,
) -> ClusterEngine:
    """Connect a worker to a crawl that `gregor init` made; ``away`` hears whom it waits for. Raises `BadInput`."""
    opening = Opening(config, environ, away)
    async with opening.stack:
        cassandra, crawl_id = await opening.cassandra(canonical)
        log = await opening.kafka()
        seen = await opening(lambda: RedisSeen.open(config, crawl_id, _contents(config, cassandra), environ))
        opening.keep(seen)
        coordinator = await opening(
            lambda: ClusterCoordinator.open(
                config, config.crawl, config.partitions, name, clock, facts={"id": crawl_id}, environ=environ
            )
        )
        opening.keep(coordinator)
        reader = ClusterReader(cassandra, config.partitions, config.bucket_width, log)
        robots = await opening(lambda: robots_ahead(cassandra))
        store = ClusterStore(cassandra, config.cassandra_retention, robots)
        return ClusterEngine(log, seen, store, coordinator, reader, cassandra, opening.stack.pop_all())
    raise AssertionError("an exit stack swallows nothing")


async def cluster_status(config: Config, clock: Clock, environ: Mapping[str, str]) -> ClusterStatus:
    """Who is there, who owns what, how much is done and unfinished, as far as servers answer. Raises `BadInput`."""
    for server in SERVERS:
        check_server(config, server, environ)
    return await look(config, keyspace(config), clock, environ)


async def rebuild_seen(
    config: Config,
    canonical: str,
    environ: Mapping[str, str],
    tell: Callable[[Rebuilt], None],
    *,
    part: Part,
    anew: bool,
) -> Rebuilt:
    """Mark in Redis all that Cassandra knows, or a part of it. Raises `BadInput`, `Unavailable`."""
    async with _rebuilding(config, canonical, environ, part) as rebuilding:
        if anew:
            await rebuilding.forget()
        return await rebuilding.run(tell)


async def forget_rebuilt(config: Config, canonical: str, environ: Mapping[str, str]) -> None:
    """The next `rebuild_seen` begins anew. Raises `BadInput`, `Unavailable`."""
    async with _rebuilding(config, canonical, environ, WHOLE) as rebuilding:
        await rebuilding.forget()


@asynccontextmanager
async def _rebuilding(
    config: Config, canonical: str, environ: Mapping[str, str], part: Part
) -> AsyncIterator[Rebuilding]:
    opening = Opening(config, environ)
    async with opening.stack:
        cassandra, crawl_id = await opening.cassandra(canonical)
        redis = RedisClient(config, environ)
        opening.keep(redis)
        await opening(redis.check)
        yield Rebuilding(cassandra, redis, crawl_id, config.partitions, config.cassandra_retention, part)


def _contents(config: Config, cassandra: Cassandra) -> Contents:
    return Contents(cassandra, config.cassandra_retention)


async def erase(config: Config, canonical: str, whose: Whose, looked: Looked, environ: Mapping[str, str]) -> Erased:
    """Delete what the crawl has of hosts, beside its workers. Raises `BadInput`, `Unavailable`."""
    opening = Opening(config, environ)
    async with opening.stack:
        cassandra, crawl_id = await opening.cassandra(canonical)
        seen = await opening(lambda: RedisSeen.open(config, crawl_id, _contents(config, cassandra), environ))
        opening.keep(seen)
        log = await opening.kafka()
        return await erasing.erase(cassandra, seen, whose, log.announce, looked)
    raise AssertionError("an exit stack swallows nothing")


async def rebuild_near(
    config: Config, canonical: str, environ: Mapping[str, str], part: Part, tell: Callable[[Sketched], None]
) -> Sketched:
    """Make the sketches that pages of earlier versions lack. Raises `BadInput`, `Unavailable`."""
    opening = Opening(config, environ)
    async with opening.stack:
        cassandra, _ = await opening.cassandra(canonical)
        return await Sketching(cassandra, part).run(tell)
    raise AssertionError("an exit stack swallows nothing")


class _CrawlReader(ClusterReader):
    """A reader that owns its connections."""

    def __init__(self, config: Config, cassandra: Cassandra, log: KafkaLog) -> None:
        super().__init__(cassandra, config.partitions, config.bucket_width, log)
        self._owned = (log, cassandra)

    async def close(self) -> None:
        for service in self._owned:
            await service.close()


async def open_reader(config: Config, canonical: str, environ: Mapping[str, str]) -> ClusterReader:
    """Read a crawl beside its workers. Raises `BadInput`."""
    opening = Opening(config, environ)
    async with opening.stack:
        cassandra, _ = await opening.cassandra(canonical)
        log = await opening.kafka()
        opening.stack.pop_all()
        return _CrawlReader(config, cassandra, log)
    raise AssertionError("an exit stack swallows nothing")


async def open_items(config: Config, canonical: str, environ: Mapping[str, str]) -> ClusterItems:
    """Make items of stored pages anew, beside the workers. Raises `BadInput`."""
    opening = Opening(config, environ)
    async with opening.stack:
        cassandra, _ = await opening.cassandra(canonical)
        opening.stack.pop_all()
        return ClusterItems(cassandra)
    raise AssertionError("an exit stack swallows nothing")
