"""The ownership nodes of one worker: one owner a partition, with an epoch that grows."""

import asyncio
from collections.abc import Callable

import msgspec

from gregor.worker.adapters.cluster.lease import ClusterLease, Session
from gregor.worker.adapters.cluster.zookeeper_tree import (
    CheckVersion,
    Create,
    Delete,
    OwnerNode,
    PutNode,
    Tree,
    ZooKeeperNodes,
)
from gregor.worker.borders.clock import Clock
from gregor.worker.borders.coordinator import Lease
from gregor.worker.borders.errors import Unavailable


class OwnerNodes:
    """Takes and lets go of partitions.

    A node that may be ours although no lease says so (an answer was lost, a call was cancelled) is remembered, and
    removed at the next chance: else nobody could own its partition before the session ends.
    """

    def __init__(self, nodes: ZooKeeperNodes, tree: Tree, name: str, clock: Clock, now: Callable[[], float]) -> None:
        """``name`` of the worker; ``now`` is the coordinator's time."""
        self._nodes = nodes
        self._tree = tree
        self._name = name
        self._clock = clock
        self._now = now
        self._leases: dict[int, ClusterLease] = {}
        self._busy: set[int] = set()
        """Partitions that a call is about: one at a time."""
        self._left: dict[int, int | None] = {}
        """Partitions of which a node of ours may be there; the version of the epoch it was made with, if it was."""

    async def acquire(self, partition: int, above: int) -> ClusterLease | None:
        """Take a partition, if no node is there and no other call is about it."""
        session, mine = self._nodes.session, self._leases.get(partition)
        if session is None or partition in self._busy or (mine is not None and mine.holds()):
            return None
        self._busy.add(partition)
        try:
            if mine is not None:
                self._leave(mine)
            if partition in self._left:
                await self._remove(partition)
            return await self._take(partition, above, session)
        finally:
            self._busy.discard(partition)

    async def release(self, lease: Lease) -> None:
        """Let a partition go, if this is its lease; what another session owns stays."""
        held = self._leases.get(lease.partition)
        if held is not None and held is lease:
            self._leave(held)
            await self._clear(lease.partition)

    async def settle(self) -> None:
        """Remove what was left."""
        await asyncio.gather(*map(self._clear, list(self._left)))

    def _leave(self, lease: ClusterLease) -> None:
        """It never holds again; its node goes with its session, or is to be removed."""
        lease.release()
        del self._leases[lease.partition]
        if not lease.session.lost:
            self._left[lease.partition] = lease.version

    async def _take(self, partition: int, above: int, session: Session) -> ClusterLease | None:
        epoch_path, owner_path = self._tree.epoch(partition), self._tree.owner(partition)
        # The watch tells when it can be had.
        taken, counted = await asyncio.gather(self._nodes.get(owner_path, watch=True), self._nodes.get(epoch_path))
        if taken is not None:
            return None
        if counted is None:
            raise Unavailable("ZooKeeper", f"no node {epoch_path}")
        epoch, version = max(int(counted[0]), above) + 1, counted[1].version
        content = msgspec.json.encode(OwnerNode(self._name, epoch))
        self._left[partition] = None
        took = await self._nodes.commit([PutNode(epoch_path, b"%d" % epoch, version), Create(owner_path, content)])
        if self._nodes.session is not session:
            return None  # it was made in another session than it was asked for, or not: that is found out
        del self._left[partition]
        if not took:
            return None
        lease = ClusterLease(
            partition, epoch, taken_at=self._now(), version=version + 1, session=session, clock=self._clock
        )
        self._leases[partition] = lease
        return lease

    async def _clear(self, partition: int) -> None:
        """Remove what was left of a partition, unless another call is about it."""
        if partition in self._left and partition not in self._busy:
            self._busy.add(partition)
            try:
                await self._remove(partition)
            finally:
                self._busy.discard(partition)

    async def _remove(self, partition: int) -> None:
        version = self._left[partition]
        if version is None:
            version = await self._version_of_ours(partition)
        if version is not None:
            # With that version of the epoch nobody has made a node since. Refused: ours is gone.
            await self._nodes.commit(
                [CheckVersion(self._tree.epoch(partition), version), Delete(self._tree.owner(partition))]
            )
        del self._left[partition]

    async def _version_of_ours(self, partition: int) -> int | None:
        """The version of the epoch, if the node that is there now is ours.

        Another worker may have made the version that ours would have had. So this is looked up, in this order: a
        write, after which all that was asked before has happened or never will; the epoch; the node.
        """
        epoch, session = self._tree.epoch(partition), self._nodes.session
        await self._nodes.commit([CheckVersion(epoch)])
        counted, taken = await self._nodes.get(epoch), await self._nodes.get(self._tree.owner(partition))
        if counted is None or taken is None or session is None or taken[1].owner != session.number:
            return None
        return counted[1].version
