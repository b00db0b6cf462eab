"""A crawl's tree in ZooKeeper, for the contract suite and for what is particular to ZooKeeper."""

import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from gregor.worker.adapters.cluster.coordinator import ClusterCoordinator
from gregor.worker.adapters.cluster.zookeeper_client import ZooKeeper
from gregor.worker.adapters.cluster.zookeeper_setup import ensure_tree
from gregor.worker.adapters.cluster.zookeeper_tree import Tree
from gregor.worker.borders.clock import Clock
from gregor.worker.borders.reader import Reader
from gregor.worker.config.servers import Servers
from tests.contract.engines import PARTITIONS, Engine
from tests.simulation.contract import SimulatedEngine, SimulatedFactory


@dataclass(frozen=True)
class CoordinatorEngine:
    """An engine that has a coordinator, and the in-memory store, in which epochs are looked up."""

    coordinator: ClusterCoordinator
    rest: SimulatedEngine

    @property
    def store(self) -> object:
        return self.rest.store

    async def close(self) -> None:
        await self.coordinator.close()
        await self.rest.close()


class ZooKeeperFactory:
    """`EngineFactory`, for cases that use the coordinator and rows of partitions."""

    def __init__(self, servers: Servers, partitions: int = PARTITIONS) -> None:
        self.servers = servers
        self.crawl = f"test-{uuid.uuid4().hex[:12]}"
        self.partitions = partitions
        self.tree = Tree(servers.zookeeper_root, self.crawl)
        self._rest = SimulatedFactory(Path())

    async def open(self, clock: Clock) -> Engine:
        return cast(Engine, CoordinatorEngine(await self.worker("worker", clock), await self._rest.open(clock)))

    async def worker(self, name: str, clock: Clock, servers: Servers | None = None) -> ClusterCoordinator:
        """One more worker of the crawl, perhaps with settings of its own."""
        await self.set_up(clock)
        settings = servers or self.servers
        return await ClusterCoordinator.open(settings, self.crawl, self.partitions, name, clock)

    async def set_up(self, clock: Clock) -> list[str]:
        zookeeper = await ZooKeeper.open(self.servers, clock)
        try:
            return await ensure_tree(zookeeper, self.tree, self.partitions, {})
        finally:
            await zookeeper.close()

    async def reader(self) -> Reader:
        raise NotImplementedError("there is nothing to read but the coordinator")

    async def close(self) -> None:
        """The tree is small, and ends with the server."""
