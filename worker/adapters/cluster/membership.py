"""One worker's part among the members: its own node, and the lead when it is the one that came first."""

import uuid

import msgspec

from gregor.worker.adapters.cluster.leader import Leader
from gregor.worker.adapters.cluster.lease import Session
from gregor.worker.adapters.cluster.zookeeper_tree import LiveWorker, Tree, ZooKeeperNodes
from gregor.worker.borders.errors import Unavailable

_NOWHERE: frozenset[int] = frozenset()


class Membership:
    """What `join` and `leave` ask for is brought about by them or, when ZooKeeper is away, by a later `look`.

    Everybody but the leader watches the member before itself only, so that a leave is heard by one.
    """

    def __init__(self, nodes: ZooKeeperNodes, tree: Tree, partitions: int, name: str, weight: int) -> None:
        self._nodes = nodes
        self._tree = tree
        self._self = LiveWorker(name, weight)
        self._id = f"{uuid.uuid4().hex[:8]}-"
        self._partitions = partitions
        self._leader = Leader(nodes, tree, partitions)
        self._session: Session | None = None
        self._node: str | None = None
        self._left: str | None = None  # a node that may still be there
        self._leads = False
        self._wanted = _NOWHERE
        self._wanted_known = False
        self._members_known = False

    @property
    def path(self) -> str | None:
        """The own node, when it is of the session that lives."""
        if self._node is None or self._session is None or self._session.lost:
            return None
        return self._tree.member(self._node)

    @property
    def wanted(self) -> frozenset[int]:
        """What this worker should own, as last heard."""
        return _NOWHERE if self.path is None else self._wanted

    async def join(self) -> None:
        """Have a node, once a session."""
        if self.path is not None:
            return
        session = self._nodes.session
        if session is None or session.lost:
            raise Unavailable("ZooKeeper", "no session")
        prefix = f"{self._id}{session.number & (1 << 64) - 1:016x}-"
        made = await self._made(prefix) or await self._nodes.create(
            self._tree.member(prefix), msgspec.json.encode(self._self), ephemeral=True, sequence=True
        )
        if session.lost or made is None:
            raise Unavailable("ZooKeeper", "the session ended")
        self._session, self._node, self._left, self._leads = session, made, None, False
        self._wanted = _NOWHERE
        # In a tree that was made anew members have the names of earlier ones: what was known of those is not theirs.
        self._leader = Leader(self._nodes, self._tree, self._partitions)
        self.forget()

    async def _made(self, prefix: str) -> str | None:
        """The node of an earlier join whose answer was lost; any that was made for another session is removed."""
        names = await self._nodes.children(self._tree.members)
        for name in names:
            if name.startswith(self._id) and not name.startswith(prefix):
                await self._nodes.delete(self._tree.member(name))
        return next((name for name in names if name.startswith(prefix)), None)

    async def leave(self) -> None:
        """Have no node."""
        self._left, self._node, self._wanted = self.path or self._left, None, _NOWHERE
        await self._clear()

    def forget(self) -> None:
        """No watch is set any more: read everything at the next look."""
        self._wanted_known = self._members_known = False

    def hear(self, path: str) -> bool:
        """A node has changed; False when it is none that was watched here."""
        if path == self.path:
            self._wanted_known = False
        elif path.startswith(self._tree.members):
            self._members_known = False
        else:
            return False
        return True

    async def look(self) -> bool:
        """Read what is new, and lead; whether what is wanted has changed."""
        before = self.wanted
        await self._clear()
        if self.path is not None and not self._members_known:
            await self._follow(self.path)
        if self.path is not None and not self._wanted_known:
            await self._read(self.path)
        return self.wanted != before

    async def _clear(self) -> None:
        if self._left is not None:
            await self._nodes.delete(self._left)
            self._left = None

    async def _read(self, path: str) -> None:
        self._wanted_known = True  # unless a watch fires meanwhile
        try:
            node = await self._nodes.get(path, watch=True)
        except Unavailable:
            self._wanted_known = False
            raise
        if path != self.path:
            return
        if node is None:  # somebody removed it: a member no more
            self._node, self._wanted = None, _NOWHERE
        else:
            self._wanted = frozenset(msgspec.json.decode(node[0], type=LiveWorker).wanted)

    async def _follow(self, path: str) -> None:
        """Watch the member before this one, or lead."""
        self._members_known = True  # unless a watch fires meanwhile
        try:
            while not await self._placed(path.rpartition("/")[2]):
                pass
        except Unavailable:
            self._members_known = False
            raise

    async def _placed(self, own: str) -> bool:
        """One try; False when the members changed meanwhile."""
        names = sorted(await self._nodes.children(self._tree.members, watch=self._leads), key=_order)
        if own not in names:
            return True  # the watch on the own node tells the same
        if names[0] != own:
            before = self._tree.member(names[names.index(own) - 1])
            return await self._nodes.exists(before, watch=True) is not None
        if not self._leads:
            self._leads = True
            return False  # again, with a watch
        return await self._leader.assign(own, names)


def _order(name: str) -> int:
    return int(name.rpartition("-")[2])
