"""What a worker of a crawl's index on servers has open, together or not at all."""

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Final, NamedTuple

import msgspec

from gregor.worker.adapters.cluster.coordinator import ClusterCoordinator
from gregor.worker.adapters.cluster.engine import Opening
from gregor.worker.adapters.cluster.index_log import IndexLog
from gregor.worker.adapters.cluster.index_shelf import CassandraShelf
from gregor.worker.adapters.cluster.kafka_setup import check_topics
from gregor.worker.adapters.cluster.reader import ClusterReader
from gregor.worker.adapters.cluster.store import ClusterStore
from gregor.worker.adapters.cluster.zookeeper_client import ZooKeeper
from gregor.worker.adapters.cluster.zookeeper_setup import ensure_tree
from gregor.worker.adapters.cluster.zookeeper_tree import Tree
from gregor.worker.borders.clock import Clock
from gregor.worker.config.settings import Config

_INDEX: Final = "index"
"""The name below the crawl's own, in ZooKeeper, of those who index it."""


class IndexParts(NamedTuple):
    """What a worker of the crawl's index has open."""

    crawl_id: str
    log: IndexLog
    shelf: CassandraShelf
    reader: ClusterReader
    letters: ClusterStore
    coordinator: ClusterCoordinator


async def indexing(
    config: Config, canonical: str, name: str, clock: Clock, environ: Mapping[str, str], stack: AsyncExitStack
) -> IndexParts:
    """Connect a worker of the index; it is one of those of the index alone, which have a tree below the crawl's.

    All ends with ``stack``. Raises `BadInput`.
    """
    opening = Opening(config, environ)
    async with opening.stack:
        cassandra, crawl_id = await opening.cassandra(canonical)
        await opening(lambda: asyncio.to_thread(check_topics, config, config.crawl, config.partitions))
        log = IndexLog(config, config.crawl, config.partitions)
        opening.keep(log)
        below = msgspec.structs.replace(config, zookeeper_root=f"{config.zookeeper_root}/{config.crawl}")
        zookeeper = await opening(lambda: ZooKeeper.open(below, clock, environ))
        try:
            tree = Tree(below.zookeeper_root, _INDEX)
            await opening(lambda: ensure_tree(zookeeper, tree, config.partitions, {"id": crawl_id}))
        finally:
            await zookeeper.close()
        coordinator = await opening(
            lambda: ClusterCoordinator.open(
                below, _INDEX, config.partitions, name, clock, facts={"id": crawl_id}, environ=environ
            )
        )
        opening.keep(coordinator)
        await stack.enter_async_context(opening.stack.pop_all())
    reader = ClusterReader(cassandra, config.partitions, config.bucket_width)
    return IndexParts(crawl_id, log, CassandraShelf(cassandra), reader, ClusterStore(cassandra), coordinator)
