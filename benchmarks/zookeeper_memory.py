"""ZooKeeper in memory, as far as the coordinator uses it: it counts what is asked, and ends sessions on request."""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import count

from gregor.worker.adapters.cluster.lease import Session
from gregor.worker.adapters.cluster.zookeeper_tree import CheckVersion, Create, Delete, Operation, PutNode, Stat


class MemoryServer:
    """The nodes. Reads see every write at once."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        """Requests by kind; "parts" are the operations inside of transactions, "events" the watches that fired."""
        self._nodes: dict[str, tuple[bytes, Stat]] = {}
        self._children: dict[str, dict[str, None]] = {}
        self._watches: dict[tuple[str, bool], dict[MemoryNodes, None]] = {}
        self._sequence = count()
        self._sessions = count(1)

    def connect(self) -> "MemoryNodes":
        """A client with a session of its own."""
        return MemoryNodes(self, Session(next(self._sessions), float("inf")))

    def make(self, path: str, data: bytes, *, owner: int = 0, sequence: bool = False) -> str | None:
        """The path of the new node; None when it is there."""
        if sequence:
            path = f"{path}{next(self._sequence):010}"
        if path in self._nodes:
            return None
        self._nodes[path] = data, Stat(0, 0.0, owner)
        parent, _, name = path.rpartition("/")
        self._children.setdefault(parent, {})[name] = None
        self._fire(path, children=False)
        self._fire(parent, children=True)
        return path

    def find(self, path: str) -> tuple[bytes, Stat] | None:
        return self._nodes.get(path)

    def list(self, path: str) -> list[str]:
        return list(self._children.get(path, ()))

    def replace(self, path: str, data: bytes) -> Stat | None:
        """The new state; None when there is no such node."""
        node = self._nodes.get(path)
        if node is None:
            return None
        stat = Stat(node[1].version + 1, 0.0, node[1].owner)
        self._nodes[path] = data, stat
        self._fire(path, children=False)
        return stat

    def remove(self, path: str) -> None:
        if self._nodes.pop(path, None) is not None:
            parent, _, name = path.rpartition("/")
            del self._children[parent][name]
            self._fire(path, children=False)
            self._fire(parent, children=True)

    def end(self, session: Session) -> None:
        """End a session, with what it made."""
        session.lose()
        for path in [path for path, (_, stat) in self._nodes.items() if stat.owner == session.number]:
            self.remove(path)

    def watch(self, path: str, client: "MemoryNodes", *, children: bool) -> None:
        self._watches.setdefault((path, children), {})[client] = None

    def _fire(self, path: str, *, children: bool) -> None:
        for client in self._watches.pop((path, children), ()):
            if not client.session.lost:
                self.counts["events"] += 1
                client.on_event(path)


class MemoryNodes:
    """`Nodes`."""

    def __init__(self, server: MemoryServer, session: Session) -> None:
        self.session = session
        self.on_event: Callable[[str], None] = lambda _: None
        self._server = server

    async def get(self, path: str, *, watch: bool = False) -> tuple[bytes, Stat] | None:
        self._server.counts["get"] += 1
        node = self._server.find(path)
        if watch and node is not None:
            self._server.watch(path, self, children=False)
        return node

    async def exists(self, path: str, *, watch: bool = False) -> Stat | None:
        self._server.counts["exists"] += 1
        if watch:
            self._server.watch(path, self, children=False)
        node = self._server.find(path)
        return None if node is None else node[1]

    async def children(self, path: str, *, watch: bool = False) -> list[str]:
        self._server.counts["children"] += 1
        if watch:
            self._server.watch(path, self, children=True)
        return self._server.list(path)

    async def create(self, path: str, data: bytes, *, ephemeral: bool = False, sequence: bool = False) -> str | None:
        self._server.counts["create"] += 1
        made = self._server.make(path, data, owner=self.session.number if ephemeral else 0, sequence=sequence)
        return None if made is None else made.rpartition("/")[2]

    async def set(self, path: str, data: bytes) -> Stat | None:
        self._server.counts["set"] += 1
        return self._server.replace(path, data)

    async def delete(self, path: str) -> None:
        self._server.counts["delete"] += 1
        self._server.remove(path)

    async def commit(self, operations: Sequence[Operation]) -> bool:
        self._server.counts["transaction"] += 1
        self._server.counts["parts"] += len(operations)
        if not all(map(self._possible, operations)):
            return False
        for operation in operations:
            match operation:
                case Create(path, data):
                    self._server.make(path, data, owner=self.session.number)
                case PutNode(path, data, _):
                    self._server.replace(path, data)
                case Delete(path):
                    self._server.remove(path)
        return True

    def _possible(self, operation: Operation) -> bool:
        node = self._server.find(operation.path)
        match operation:
            case Create():
                return node is None
            case CheckVersion(_, version) | PutNode(_, _, version):
                return node is not None and version in (-1, node[1].version)
            case Delete():
                return node is not None
