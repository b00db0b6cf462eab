"""Members and their leader over a ZooKeeper in memory: what a member knows ends with its session, and who leads no more
writes nothing."""

import asyncio

import msgspec
import pytest

from benchmarks.zookeeper_memory import MemoryNodes, MemoryServer
from gregor.worker.adapters.cluster.leader import Leader
from gregor.worker.adapters.cluster.lease import Session
from gregor.worker.adapters.cluster.membership import Membership
from gregor.worker.adapters.cluster.zookeeper_tree import LiveWorker, Tree
from gregor.worker.borders.errors import Unavailable

TREE = Tree("/gregor", "test")
PARTITIONS = 4


def wanted(server: MemoryServer, name: str) -> tuple[int, ...]:
    """What stands in a member's node."""
    found = server.find(TREE.member(name))
    assert found is not None
    return msgspec.json.decode(found[0], type=LiveWorker).wanted


def lead(*names: str) -> tuple[MemoryServer, Leader]:
    server = MemoryServer()
    for name in names:
        server.make(TREE.member(name), msgspec.json.encode(LiveWorker(name)))
    return server, Leader(MemoryNodes(server, Session(1, 8.0)), TREE, PARTITIONS)


def test_a_member_whose_session_ended_is_none_until_it_joins_again() -> None:
    server = MemoryServer()
    nodes = server.connect()
    member = Membership(nodes, TREE, PARTITIONS, "a", 1)
    asyncio.run(member.join())
    asyncio.run(member.look())
    first = member.path
    assert first is not None
    assert member.wanted == frozenset(range(PARTITIONS))
    server.end(nodes.session)
    assert (member.path, member.wanted) == (None, frozenset())
    nodes.session = server.connect().session
    asyncio.run(member.join())
    assert member.path not in (None, first)
    asyncio.run(member.look())
    assert member.wanted == frozenset(range(PARTITIONS))


def test_who_leads_no_more_writes_nothing() -> None:
    server, leader = lead("a-1", "b-2")
    assert asyncio.run(leader.assign("a-1", ["a-1", "b-2"]))
    before = wanted(server, "b-2")
    assert len(before) == PARTITIONS // 2
    server.remove(TREE.member("a-1"))
    server.make(TREE.member("c-3"), msgspec.json.encode(LiveWorker("c-3")))
    assert not asyncio.run(leader.assign("a-1", ["b-2", "c-3"]))
    assert (wanted(server, "b-2"), wanted(server, "c-3")) == (before, ())


def test_a_leader_that_was_wrong_about_a_member_reads_it_anew() -> None:
    server, leader = lead("a-1", "b-2")
    assert asyncio.run(leader.assign("a-1", ["a-1", "b-2"]))
    server.replace(TREE.member("b-2"), msgspec.json.encode(LiveWorker("b-2", 3)))
    server.make(TREE.member("c-3"), msgspec.json.encode(LiveWorker("c-3")))
    assert [asyncio.run(leader.assign("a-1", ["a-1", "b-2", "c-3"])) for _ in range(2)] == [False, True]
    given = [wanted(server, name) for name in ("a-1", "b-2", "c-3")]
    assert sorted(number for numbers in given for number in numbers) == list(range(PARTITIONS))


def test_who_joins_takes_from_the_others_only_what_is_its_share_and_is_given_it_at_once() -> None:
    server = MemoryServer()
    for name in ("a-1", "b-2"):
        server.make(TREE.member(name), msgspec.json.encode(LiveWorker(name)))
    leader = Leader(MemoryNodes(server, Session(1, 8.0)), TREE, 64)
    assert asyncio.run(leader.assign("a-1", ["a-1", "b-2"]))
    before = {name: set(wanted(server, name)) for name in ("a-1", "b-2")}
    server.make(TREE.member("0-3"), msgspec.json.encode(LiveWorker("0-3")))
    assert asyncio.run(leader.assign("a-1", ["a-1", "b-2", "0-3"])), "it knows what it wrote"
    for name, kept in before.items():
        assert set(wanted(server, name)) < kept
    assert len(wanted(server, "0-3")) in (21, 22)


def test_a_member_whose_node_somebody_removed_is_none() -> None:
    server = MemoryServer()
    member = Membership(server.connect(), TREE, PARTITIONS, "a", 1)
    asyncio.run(member.join())
    asyncio.run(member.look())
    path = member.path
    assert path is not None
    assert member.wanted
    server.remove(path)
    member.forget()
    assert asyncio.run(member.look()), "what it should own has changed"
    assert (member.path, member.wanted) == (None, frozenset())


def test_a_join_whose_answer_was_lost_is_found_again_and_makes_no_second_member() -> None:
    class Lossy(MemoryNodes):
        lost = False

        async def create(
            self, path: str, data: bytes, *, ephemeral: bool = False, sequence: bool = False
        ) -> str | None:
            made = await super().create(path, data, ephemeral=ephemeral, sequence=sequence)
            if not self.lost:
                self.lost = True
                raise Unavailable("ZooKeeper", "no answer")
            return made

    server = MemoryServer()
    nodes = Lossy(server, server.connect().session)
    member = Membership(nodes, TREE, PARTITIONS, "a", 1)
    with pytest.raises(Unavailable):
        asyncio.run(member.join())
    asyncio.run(member.join())
    names = asyncio.run(nodes.children(TREE.members))
    assert [TREE.member(name) for name in names] == [member.path]
