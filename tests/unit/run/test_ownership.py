"""Members and owners over a ZooKeeper in memory: whoever comes and goes, every partition has one owner in the end."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.moves import fewest_moves, moves
from benchmarks.ownership import Cluster
from benchmarks.zookeeper_memory import MemoryNodes, MemoryServer
from gregor.worker.adapters.cluster.lease import Session
from gregor.worker.adapters.cluster.ownership import OwnerNodes
from gregor.worker.adapters.cluster.zookeeper_tree import Operation, Tree
from gregor.worker.borders.errors import Unavailable
from tests.contract.world import ManualClock

PARTITIONS = 16
TREE = Tree("/gregor", "test")
CHANGES = st.lists(st.tuples(st.sampled_from(["join", "leave", "fail"]), st.integers(0, 7)), min_size=1, max_size=12)


@settings(deadline=None, max_examples=60)
@given(CHANGES)
def test_settled_every_partition_has_one_owner_and_few_have_moved(changes: list[tuple[str, int]]) -> None:
    asyncio.run(_settled(changes))


@settings(deadline=None, max_examples=60)
@given(CHANGES, st.integers(0, 9))
def test_changes_may_meet(changes: list[tuple[str, int]], steps: int) -> None:
    """A change comes while some workers have not heard of the one before."""
    asyncio.run(_met(changes, steps))


async def _change(cluster: Cluster, kind: str, number: int) -> None:
    if kind == "join" or len(cluster.workers) < 2:
        await cluster.join(1)
    else:
        place = number % len(cluster.workers)
        await (cluster.leave(place) if kind == "leave" else cluster.fail(place))


async def _settled(changes: list[tuple[str, int]]) -> None:
    cluster = Cluster(PARTITIONS)
    for change in changes:
        before = cluster.owners()
        await _change(cluster, *change)
        await cluster.settle()
        after = cluster.owners()  # one owner each, or it fails
        assert after.keys() == set(range(PARTITIONS))
        assert moves(before, after) == fewest_moves(PARTITIONS, {worker.name: 1 for worker in cluster.workers}, before)


async def _met(changes: list[tuple[str, int]], steps: int) -> None:
    cluster = Cluster(PARTITIONS)
    epochs = dict.fromkeys(range(PARTITIONS), 0)
    for change in changes:
        await _change(cluster, *change)
        await cluster.settle(steps)
        cluster.owners()
        for worker in cluster.workers:
            for partition, lease in worker.leases.items():
                assert lease.epoch >= epochs[partition]
                epochs[partition] = lease.epoch
    await cluster.settle()
    assert cluster.owners().keys() == set(range(PARTITIONS))


class LossyNodes(MemoryNodes):
    """Loses the answers of transactions, after letting something else come first."""

    first: Callable[[], Awaitable[object]] | None = None

    async def commit(self, operations: Sequence[Operation]) -> bool:
        if self.first is None:
            return await super().commit(operations)
        first, self.first = self.first, None
        await first()
        await super().commit(operations)
        raise Unavailable("ZooKeeper", "the answer was lost")


def test_a_lost_answer_leaves_no_node_behind() -> None:
    async def whole() -> None:
        lossy, other = _pair()
        lossy.nodes.first = _nothing
        with pytest.raises(Unavailable):
            await lossy.acquire(3, 0)
        assert await other.acquire(3, 0) is None
        await lossy.settle()
        assert await other.acquire(3, 0) is not None

    asyncio.run(whole())


def test_a_lost_refusal_never_costs_another_its_node() -> None:
    """Two workers read the same epoch; the second is refused, does not hear of it, and cleans up."""

    async def whole() -> None:
        lossy, other = _pair()
        lossy.nodes.first = lambda: other.acquire(3, 0)
        with pytest.raises(Unavailable):
            await lossy.acquire(3, 0)
        await lossy.settle()
        assert await lossy.acquire(3, 0) is None

    asyncio.run(whole())


def test_a_lost_release_is_made_good() -> None:
    async def whole() -> None:
        lossy, other = _pair()
        lease = await lossy.acquire(3, 0)
        assert lease is not None
        lossy.nodes.first = _nothing
        with pytest.raises(Unavailable):
            await lossy.release(lease)
        taken = await other.acquire(3, 0)
        assert taken is not None
        await lossy.settle()  # what it removes is its own
        assert await lossy.acquire(3, 0) is None
        assert taken.holds()

    asyncio.run(whole())


class _Owners(OwnerNodes):
    def __init__(self, nodes: LossyNodes, name: str) -> None:
        super().__init__(nodes, TREE, name, ManualClock(), lambda: 0.0)
        self.nodes = nodes


def _pair() -> tuple[_Owners, _Owners]:
    server = MemoryServer()
    server.make(TREE.epoch(3), b"0")
    first, second = (LossyNodes(server, Session(number, float("inf"))) for number in (1, 2))
    for nodes in (first, second):
        nodes.session.answered(0.0)
    return _Owners(first, "a"), _Owners(second, "b")


async def _nothing() -> None:
    return None
