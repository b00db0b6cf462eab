"""The ownership nodes of one worker: one owner a partition, with an epoch that grows."""

import asyncio
from collections.abc import Callable

import msgspec

from gregor.worker.adapters.cluster.lease import ClusterLease, Session
from gregor.worker.adapters.cluster.zookeeper_tree import Check, Create, Delete, Nodes, Owner, Put, Tree
from gregor.worker.borders import Clock, Lease, Unavailable


class Ownership:
    """Takes and lets go of partitions.

    A node that may be ours although no lease says so (an answer was lost, a call was cancelled) is remembered, and
    removed at the next chance: else nobody could own its partition before the session ends.
    """

    def __init__(self, nodes: Nodes, tree: Tree, name: str, clock: Clock, now: Callable[[], float]) -> None:
        """``name`` of the worker; ``now`` is the coordinator's time."""
        self._nodes = nodes
        self._tree = tree
        self._name = name
        self._clock = clock
        self._now = now
        self._leases: dict[int, ClusterLease] = {}
        self._taking: set[int] = set()
        self._left: dict[int, int] = {}
        """By partition, the version of its epoch under which a node of ours may be there."""

    async def acquire(self, partition: int, above: int) -> ClusterLease | None:
        """Take a partition, if no node is there and no other call takes it."""
        session, mine = self._nodes.session, self._leases.get(partition)
        if session is None or partition in self._taking or (mine is not None and mine.holds()):
            return None
        self._taking.add(partition)
        try:
            if mine is not None:
                await self.release(mine)
            if partition in self._left:
                await self._remove(partition)
            return await self._take(partition, above, session)
        finally:
            self._taking.discard(partition)

    async def release(self, lease: Lease) -> None:
        """Let a partition go, if this is its lease; what another session owns stays."""
        held = self._leases.get(lease.partition)
        if held is None or held is not lease:
            return
        held.release()
        del self._leases[lease.partition]
        if not held.session.lost:
            self._left[lease.partition] = held.version
            await self._remove(lease.partition)

    async def settle(self) -> None:
        """Remove what was left."""
        await asyncio.gather(*(self._remove(partition) for partition in self._left.keys() - self._taking))

    async def _take(self, partition: int, above: int, session: Session) -> ClusterLease | None:
        owner = self._tree.owner(partition)
        # The watch tells when it can be had.
        taken, known = await asyncio.gather(
            self._nodes.get(owner, watch=True), self._nodes.get(self._tree.epoch(partition))
        )
        if taken is not None:
            return None
        if known is None:
            raise Unavailable("ZooKeeper", f"no node {self._tree.epoch(partition)}")
        epoch, version = max(int(known[0]), above) + 1, known[1].version
        self._left[partition] = version + 1
        content = msgspec.json.encode(Owner(self._name, epoch))
        took = await self._nodes.commit(
            [Put(self._tree.epoch(partition), b"%d" % epoch, version), Create(owner, content)]
        )
        if self._nodes.session is not session:
            return None  # the node is of another session than what is known of it: it is left
        del self._left[partition]
        if not took:
            return None
        lease = ClusterLease(
            partition, epoch, taken_at=self._now(), version=version + 1, session=session, clock=self._clock
        )
        self._leases[partition] = lease
        return lease

    async def _remove(self, partition: int) -> None:
        version = self._left[partition]
        # Another owner's node has another epoch. Refused: it is gone, or never was.
        await self._nodes.commit([Check(self._tree.epoch(partition), version), Delete(self._tree.owner(partition))])
        if self._left.get(partition) == version:
            del self._left[partition]
