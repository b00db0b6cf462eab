"""The coordinator over a ZooKeeper in memory: orders given at once, what a connection that broke leaves, the time."""

import asyncio
from typing import Any

import msgspec
import pytest

from benchmarks.zookeeper_memory import MemoryNodes, MemoryServer
from gregor.worker.adapters.cluster.coordinator import ClusterCoordinator
from gregor.worker.adapters.cluster.zookeeper_tree import LiveWorker, Operation, Stat, Tree
from gregor.worker.borders.errors import Unavailable
from gregor.worker.orders.model import By, Order, Orders, give
from tests.contract.world import ManualClock

TREE = Tree("/gregor", "test")
PARTITIONS = 4
HOUR = 1_790_000_000.0


class Connection(MemoryNodes):
    """Lets others run between what it is asked and what is asked next; ``breaks``: at the next transaction."""

    granted = 8.0
    breaks = False

    async def get(self, path: str, *, watch: bool = False) -> tuple[bytes, Stat] | None:
        found = await super().get(path, watch=watch)
        await asyncio.sleep(0)
        return found

    async def set(self, path: str, data: bytes) -> Stat | None:
        stat = await super().set(path, data)
        return None if stat is None else msgspec.structs.replace(stat, mtime=HOUR)

    async def commit(self, operations: list[Operation]) -> bool:  # type: ignore[override]
        if self.breaks:
            self.breaks = False
            raise Unavailable("ZooKeeper", "no answer")
        return await super().commit(operations)

    async def close(self) -> None:
        """Nothing to do."""


class Town:
    """A server with the nodes of a crawl, and a clock."""

    def __init__(self) -> None:
        self.server, self.clock = MemoryServer(), ManualClock()
        for path in (TREE.orders, TREE.clock):
            self.server.make(path, b"")
        for partition in range(PARTITIONS):
            self.server.make(TREE.epoch(partition), b"0")

    def worker(self, name: str) -> tuple[ClusterCoordinator, Connection]:
        nodes: Any = Connection(self.server, self.server.connect().session)
        return ClusterCoordinator(nodes, TREE, PARTITIONS, (name, 1), self.clock), nodes


def delay(host: str, orders: Orders) -> Orders:
    return give(orders, Order("delay", host, 5.0), By("me", 1.0))


def test_of_orders_that_are_given_at_once_none_is_lost() -> None:
    async def case() -> Orders:
        town = Town()
        (one, _), (other, _) = town.worker("a"), town.worker("b")
        await asyncio.gather(
            one.change_orders(lambda orders: delay("a.test", orders)),
            other.change_orders(lambda orders: delay("b.test", orders)),
        )
        await one._read_orders()
        return one.orders()

    orders = asyncio.run(case())
    assert [change.number for change in orders.changes] == [1, 2]
    assert [host in change.what for change, host in zip(orders.changes, ("a.test", "b.test"), strict=True)] == [
        True
    ] * 2


def test_after_a_broken_connection_all_is_read_anew_since_no_watch_is_left() -> None:
    async def case() -> None:
        town = Town()
        worker, _ = town.worker("a")
        await worker.join()
        await worker._look()
        assert worker.wanted() == frozenset(range(PARTITIONS))
        town.server._watches.clear()
        path = worker._membership.path
        assert path is not None
        town.server.replace(path, msgspec.json.encode(LiveWorker("a", 1, (2,))))
        town.server.make(TREE.member("b-00000000000000ff-0000000007"), msgspec.json.encode(LiveWorker("b")))
        worker._hear(None)
        await worker._look()
        assert len(worker.wanted()) == PARTITIONS // 2

    asyncio.run(case())


def test_what_could_not_be_let_go_is_let_go_at_the_next_look() -> None:
    async def case() -> None:
        town = Town()
        worker, nodes = town.worker("a")
        lease = await worker.acquire(3, 0)
        assert lease is not None
        nodes.breaks = True
        with pytest.raises(Unavailable):
            await worker.release(lease)
        assert town.server.find(TREE.owner(3)) is not None
        await worker._look()
        assert town.server.find(TREE.owner(3)) is None, "else nobody could own it until the session ends"

    asyncio.run(case())


def test_the_time_is_the_servers_and_goes_on_by_the_own_clock() -> None:
    async def case() -> None:
        town = Town()
        worker, _ = town.worker("a")
        await worker._begin()
        assert worker.now() == pytest.approx(HOUR)
        town.clock.pass_(30.0)
        assert worker.now() == pytest.approx(HOUR + 30.0)
        await worker.close()

    asyncio.run(case())
