"""Members and owners over a ZooKeeper in memory: whoever comes and goes, every partition has one owner in the end."""

import asyncio

from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.ownership import Cluster
from gregor.partitioner.assignment import fewest_moves, moves

PARTITIONS = 16
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
