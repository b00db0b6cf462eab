"""The leader: the member that came first. It says what each member should own, in their own nodes.

A leader that is one no more, without knowing it yet, writes nothing: its own node is gone, or a version has changed.
"""

import asyncio
from collections.abc import Sequence

import msgspec

from gregor.partitioner.assignment import assign
from gregor.worker.adapters.cluster.zookeeper_tree import (
    CheckVersion,
    LiveWorker,
    Operation,
    PutNode,
    Tree,
    ZooKeeperNodes,
)


class Leader:
    """What the leader knows of the members: as long as it leads nobody else writes their nodes."""

    def __init__(self, nodes: ZooKeeperNodes, tree: Tree, partitions: int) -> None:
        self._nodes = nodes
        self._tree = tree
        self._partitions = partitions
        self._members: dict[str, tuple[LiveWorker, int]] = {}

    async def assign(self, own: str, names: Sequence[str]) -> bool:
        """Assign all partitions to the members; False when something was not as known, so look again."""
        await self._read(names)
        previous = {partition: name for name, (member, _) in self._members.items() for partition in member.wanted}
        weights = {name: member.weight for name, (member, _) in self._members.items()}
        wanted: dict[str, list[int]] = {name: [] for name in self._members}
        for partition, name in sorted(assign(self._partitions, weights, previous).items()):
            wanted[name].append(partition)
        changed = {
            name: msgspec.structs.replace(member, wanted=tuple(wanted[name]))
            for name, (member, _) in self._members.items()
            if list(member.wanted) != wanted[name]
        }
        return not changed or await self._write(own, changed)

    async def _read(self, names: Sequence[str]) -> None:
        """Forget who has gone, get to know who has come."""
        self._members = {name: self._members[name] for name in names if name in self._members}
        new = [name for name in names if name not in self._members]
        nodes = await asyncio.gather(*(self._nodes.get(self._tree.member(name)) for name in new))
        for name, node in zip(new, nodes, strict=True):
            if node is not None:  # else it has gone already
                self._members[name] = msgspec.json.decode(node[0], type=LiveWorker), node[1].version

    async def _write(self, own: str, changed: dict[str, LiveWorker]) -> bool:
        before, self._members = self._members, {}  # unless all of it is acknowledged nothing is known
        puts: list[Operation] = [
            PutNode(self._tree.member(name), msgspec.json.encode(member), before[name][1])
            for name, member in changed.items()
        ]
        if not await self._nodes.commit([CheckVersion(self._tree.member(own)), *puts]):
            return False
        self._members = before | {name: (member, before[name][1] + 1) for name, member in changed.items()}
        return True
