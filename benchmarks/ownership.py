"""What it takes to own partitions: `python -m benchmarks.ownership [WORKERS] [PARTITIONS]`, by default 1000 and 4096.

So many workers, each with the coordinator's own code for membership, leading and ownership, over a ZooKeeper in memory
that counts what is asked. Workers join, leave and fail, one at a time and many at once; after each change everything
settles, and a line says: the least and the most partitions of a worker; partitions that changed their owner, against
the fewest that can and against modulo N; requests to ZooKeeper (a transaction is one) and watches that fired.

Then, as Whirlpool's figure 3.9 does for its virtual nodes: what moves when workers join one by one.
"""

import asyncio
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping

from benchmarks.moves import fewest_moves, modulo, moves
from benchmarks.zookeeper_memory import MemoryServer
from gregor.partitioner.assignment import assign
from gregor.worker.adapters.cluster.lease import ClusterLease
from gregor.worker.adapters.cluster.membership import Membership
from gregor.worker.adapters.cluster.ownership import OwnerNodes
from gregor.worker.adapters.cluster.zookeeper_tree import Tree

_TREE = Tree("/gregor", "benchmark")
_HEAD = ("change", "workers", "each", "moved", "fewest", "modulo N", "requests", "a move", "events")
_LINE = "{:<28} {:>7} {:>6} {:>6} {:>6} {:>8} {:>8} {:>6} {:>7}"


class _Still:
    """A clock that stands still: no lease ends by time here."""

    def monotonic(self) -> float:
        return 0.0

    def wall(self) -> float:
        return 0.0


class Worker:
    """What `Runtime` does about ownership, without a crawl."""

    def __init__(self, cluster: "Cluster", name: str) -> None:
        self.name = name
        self.nodes = cluster.server.connect()
        self.nodes.on_event = self._hear
        self.membership = Membership(self.nodes, _TREE, cluster.partitions, name, 1)
        self.leases: dict[int, ClusterLease] = {}
        self._ownership = OwnerNodes(self.nodes, _TREE, name, _Still(), lambda: 0.0)
        self._cluster = cluster

    def _hear(self, path: str) -> None:
        self.membership.hear(path)
        self._cluster.busy[self] = None

    async def step(self) -> None:
        """Read what is new, let go of what is not wanted, take what is and can be had."""
        await self.membership.look()
        for partition in self.leases.keys() - self.membership.wanted:
            await self._ownership.release(self.leases.pop(partition))
        for partition in self.membership.wanted - self.leases.keys():
            if (lease := await self._ownership.acquire(partition, 0)) is not None:
                self.leases[partition] = lease

    async def leave(self) -> None:
        """The clean stop."""
        for lease in self.leases.values():
            await self._ownership.release(lease)
        self.leases.clear()
        await self.membership.leave()


class Cluster:
    """The workers, and those that have heard something."""

    def __init__(self, partitions: int) -> None:
        self.server = MemoryServer()
        self.partitions = partitions
        self.workers: list[Worker] = []
        self.busy: dict[Worker, None] = {}
        for partition in range(partitions):
            self.server.make(_TREE.epoch(partition), b"0")
        self._names = 0

    async def join(self, number: int) -> None:
        for _ in range(number):
            worker = Worker(self, f"w{self._names:05}")
            self._names += 1
            await worker.membership.join()
            self.workers.append(worker)
            self.busy[worker] = None

    async def leave(self, *places: int) -> None:
        for worker in [self.workers[place] for place in places]:
            await worker.leave()
            self._remove(worker)

    async def fail(self, *places: int) -> None:
        for worker in [self.workers[place] for place in places]:
            self._remove(worker)

    def _remove(self, worker: Worker) -> None:
        self.workers.remove(worker)
        self.server.end(worker.nodes.session)
        self.busy.pop(worker, None)

    async def settle(self, steps: float = float("inf")) -> None:
        """Until nobody has heard anything new, or for so many steps of workers."""
        while self.busy and steps > 0:
            worker = next(iter(self.busy))
            del self.busy[worker]
            await worker.step()
            steps -= 1

    def owners(self) -> dict[int, str]:
        owners: dict[int, str] = {}
        for worker in self.workers:
            for partition in worker.leases:
                assert partition not in owners, f"two owners of {partition}"
                owners[partition] = worker.name
        return owners


async def change(cluster: Cluster, title: str, happen: Callable[[], Awaitable[None]]) -> None:
    """One change, and a line about it."""
    before, members = cluster.owners(), [worker.name for worker in cluster.workers]
    counts: Counter[str] = Counter()
    cluster.server.counts = counts
    await happen()
    await cluster.settle()
    after, weights = cluster.owners(), {worker.name: 1 for worker in cluster.workers}
    assert after.keys() == set(range(cluster.partitions)), "a partition has no owner"
    each = Counter(after.values()).values()
    moved = moves(before, after)
    least = fewest_moves(cluster.partitions, weights, before)
    by_modulo = moves(modulo(cluster.partitions, members) if members else {}, modulo(cluster.partitions, weights))
    requests = sum(number for kind, number in counts.items() if kind not in ("parts", "events"))
    spread = f"{min(each)}-{max(each)}"
    a_move = f"{requests / moved:.1f}" if moved else "-"
    events = counts["events"]
    print(_LINE.format(title, len(weights), spread, moved, least, by_modulo, requests, a_move, events), flush=True)


async def many_workers(workers: int, partitions: int) -> None:
    """Joins, leaves and failures in a large cluster."""
    print(_LINE.format(*_HEAD))
    cluster, many = Cluster(partitions), max(1, workers // 20)
    await change(cluster, f"{workers} join at once", lambda: cluster.join(workers))
    await change(cluster, "1 joins", lambda: cluster.join(1))
    await change(cluster, "1 leaves", lambda: cluster.leave(workers // 2))
    await change(cluster, "1 fails", lambda: cluster.fail(workers // 3))
    await change(cluster, "1 joins instead", lambda: cluster.join(1))
    await change(cluster, "the leader fails", lambda: cluster.fail(0))
    await change(cluster, "the leader leaves", lambda: cluster.leave(0))
    await change(cluster, f"{many} fail at once", lambda: cluster.fail(*range(many, 2 * many)))
    await change(cluster, f"{many} join at once", lambda: cluster.join(many))
    await change(cluster, f"{many} leave at once", lambda: cluster.leave(*range(many, 2 * many)))


def joins_one_by_one(most: int, partitions: int) -> None:
    """Moves at each join, from 1 worker to ``most``."""
    print(f"\n{partitions} partitions, workers join one by one:\nworkers   moved  fewest  modulo N")
    owners: Mapping[int, str] = assign(partitions, {"w000": 1}, {})
    for number in range(1, most):
        weights = {f"w{joined:03}": 1 for joined in range(number + 1)}
        after = assign(partitions, weights, owners)
        before_modulo = modulo(partitions, list(weights)[:-1])
        counted = moves(owners, after), fewest_moves(partitions, weights, owners)
        print("{:>7} {:>7} {:>7} {:>9}".format(number + 1, *counted, moves(before_modulo, modulo(partitions, weights))))
        owners = after


def main() -> None:
    workers, partitions = [*map(int, sys.argv[1:]), *(1000, 4096)[len(sys.argv) - 1 :]]
    asyncio.run(many_workers(workers, partitions))
    joins_one_by_one(16, 256)


if __name__ == "__main__":
    main()
