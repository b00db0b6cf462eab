"""Ownership nodes and leases over a ZooKeeper in memory: epochs grow, and a lease is one session's."""

import asyncio
from collections.abc import Sequence

import msgspec
import pytest

from benchmarks.zookeeper_memory import MemoryNodes, MemoryServer
from gregor.worker.adapters.cluster.lease import ClusterLease, Session
from gregor.worker.adapters.cluster.ownership import OwnerNodes
from gregor.worker.adapters.cluster.zookeeper_tree import Operation, OwnerNode, Stat, Tree
from gregor.worker.borders.errors import Unavailable
from tests.contract.world import ManualClock

TREE = Tree("/gregor", "test")
LENGTH = 8.0


class Disturbed(MemoryNodes):
    """A connection whose session may be replaced, or to which another is first, while a transaction runs."""

    replaced = False
    beaten = False

    async def commit(self, operations: Sequence[Operation]) -> bool:
        if self.beaten:
            self._server.make(TREE.owner(3), msgspec.json.encode(OwnerNode("b", 9)), owner=2)
        if self.replaced:
            self.session = Session(self.session.number + 100, LENGTH)
        return await super().commit(operations)


class Unheard(MemoryNodes):
    """A connection that breaks before the answer to its first transaction; ``asked``: what was asked since."""

    asked: list[str] | None = None

    async def commit(self, operations: Sequence[Operation]) -> bool:
        took = await super().commit(operations)
        if self.asked is None:
            self.asked = []
            raise Unavailable("ZooKeeper", "no answer")
        self.asked.append("commit")
        return took

    async def get(self, path: str, *, watch: bool = False) -> tuple[bytes, Stat] | None:
        if self.asked is not None:
            self.asked.append(f"get {path.split('/')[-2]}")
        return await super().get(path, watch=watch)


class Site:
    """One partition, whose epoch was ``epoch``, and a worker."""

    def __init__(self, epoch: int = 0) -> None:
        self.clock, self.server = ManualClock(), MemoryServer()
        self.server.make(TREE.epoch(3), b"%d" % epoch)
        self.nodes = Disturbed(self.server, Session(1, LENGTH))
        self.nodes.session.answered(self.clock.monotonic())
        self.owners = OwnerNodes(self.nodes, TREE, "a", self.clock, lambda: 77.0)

    def acquire(self, above: int = 0) -> ClusterLease | None:
        return asyncio.run(self.owners.acquire(3, above))

    @property
    def epoch(self) -> int:
        """The one in ZooKeeper."""
        found = self.server.find(TREE.epoch(3))
        assert found is not None
        return int(found[0])

    @property
    def owner(self) -> OwnerNode | None:
        """Whose node is there."""
        found = self.server.find(TREE.owner(3))
        return None if found is None else msgspec.json.decode(found[0], type=OwnerNode)


def test_an_epoch_is_greater_than_the_one_before_and_than_what_the_store_knows() -> None:
    """A tree that was lost begins anew; the store's stamps do not."""
    for epoch, above, expected in ((4, 0, 5), (0, 9, 10), (9, 4, 10)):
        site = Site(epoch)
        lease = site.acquire(above)
        assert lease is not None
        assert (lease.epoch, site.epoch, site.owner) == (expected, expected, OwnerNode("a", expected))
        assert lease.taken_at == 77.0


def test_what_another_owns_is_not_taken_and_costs_no_epoch() -> None:
    site = Site(4)
    site.server.make(TREE.owner(3), msgspec.json.encode(OwnerNode("b", 4)), owner=2)
    assert site.acquire() is None
    assert (site.epoch, site.owner) == (4, OwnerNode("b", 4))


def test_a_node_of_a_session_that_was_replaced_meanwhile_is_no_lease() -> None:
    site = Site()
    site.nodes.replaced = True
    assert site.acquire() is None


def test_who_comes_second_has_no_lease() -> None:
    site = Site(4)
    site.nodes.beaten = True
    assert site.acquire() is None
    assert (site.epoch, site.owner) == (4, OwnerNode("b", 9))


def test_a_node_whose_making_nobody_heard_of_is_looked_for_after_a_write_and_removed() -> None:
    """Else what was asked before might still happen after it was looked for."""
    site = Site(4)
    nodes = Unheard(site.server, site.nodes.session)
    owners = OwnerNodes(nodes, TREE, "a", site.clock, lambda: 77.0)
    with pytest.raises(Unavailable):
        asyncio.run(owners.acquire(3, 0))
    assert site.owner == OwnerNode("a", 5)
    lease = asyncio.run(owners.acquire(3, 0))
    assert nodes.asked is not None
    assert nodes.asked[:4] == ["commit", "get epochs", "get owners", "commit"]
    assert lease is not None
    assert (lease.epoch, site.owner) == (6, OwnerNode("a", 6))


def test_a_partition_is_taken_once_as_long_as_it_is_held() -> None:
    site = Site()
    lease = site.acquire()
    assert lease is not None
    assert site.acquire() is None
    assert lease.holds()


def test_a_lease_that_was_let_go_holds_no_more_and_its_node_is_gone() -> None:
    site = Site()
    lease = site.acquire()
    assert lease is not None
    asyncio.run(site.owners.release(lease))
    assert not lease.holds()
    assert site.owner is None
    again = site.acquire()
    assert again is not None
    assert (lease.holds(), again.holds(), again.epoch) == (False, True, 2)
    asyncio.run(site.owners.release(lease))
    assert again.holds(), "an old lease lets nothing go"
    assert site.owner == OwnerNode("a", 2)


def test_a_lease_ends_with_its_session_and_by_the_clock() -> None:
    site = Site()
    lease, session = site.acquire(), site.nodes.session
    assert lease is not None
    site.clock.pass_(LENGTH - 0.1)
    assert lease.holds()
    session.answered(site.clock.monotonic() - 4.0)
    session.answered(site.clock.monotonic() - 6.0)  # an answer that came late says nothing
    site.clock.pass_(3.9)
    assert lease.holds()
    site.clock.pass_(0.2)
    assert not lease.holds()
    session.answered(site.clock.monotonic())
    assert lease.holds()
    session.lose()
    assert not lease.holds()


def test_a_server_that_grants_less_shortens_what_was_granted_before() -> None:
    site = Site()
    lease = site.acquire()
    assert lease is not None
    site.nodes.session.grant(LENGTH - 3.0)
    site.clock.pass_(LENGTH - 2.9)
    assert not lease.holds()
    longer = Session(2, 4.0)
    longer.answered(0.0)
    longer.grant(9.0)
    assert not longer.holds(4.1), "more holds from the next answer on"
