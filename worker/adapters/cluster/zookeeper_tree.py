"""What a crawl keeps in ZooKeeper: paths, what stands in the nodes, and the few operations used on them.

    <root>/<crawl>                  persistent: what the crawl was made for
    …/members/<id>-<session>-<seq>  ephemeral: a worker, its weight, what it should own as the leader says
    …/epochs/<partition>            persistent: the highest epoch
    …/owners/<partition>            ephemeral: who owns it; made in one transaction with its epoch
    …/status/<id>                   ephemeral: what the worker says of itself; the id is of the process, not its name
    …/orders                        persistent: the operator's standing orders
    …/changes/<number>              persistent: changes by order that were put aside, by the number of the first
    …/clock                         persistent: written to be told the time

What a worker should own stands in its own member node, so that a change is read by whom it concerns: with one
assignment node every member would read all of it at every change.
"""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from gregor.worker.adapters.cluster.lease import Session


class LiveWorker(Struct, frozen=True):
    """A live worker, as JSON in its node."""

    name: str
    weight: int = 1
    wanted: tuple[int, ...] = ()


class OwnerNode(Struct, frozen=True):
    """Who owns a partition, as JSON in its node."""

    name: str
    epoch: int


class Stat(Struct, frozen=True):
    """``mtime``: the server's time of the last write, unix seconds. ``owner``: the session of an ephemeral node."""

    version: int
    mtime: float
    owner: int


class CheckVersion(Struct, frozen=True):
    """The node is there, with this version; -1: with any."""

    path: str
    version: int = -1


class Create(Struct, frozen=True):
    """The node is not there; afterwards it is, until the session ends."""

    path: str
    data: bytes


class PutNode(Struct, frozen=True):
    """The node is there with this version; afterwards it has this content."""

    path: str
    data: bytes
    version: int


class Delete(Struct, frozen=True):
    """The node is there; afterwards it is not."""

    path: str


Operation = CheckVersion | Create | PutNode | Delete


class ZooKeeperNodes(Protocol):
    """A connection to ZooKeeper. Every method may raise `Unavailable`, then perhaps after its effect.

    ``watch``: tell once when the node (or the list) changes.
    """

    @property
    def session(self) -> Session | None:
        """The session there is; replaced by another when it is lost."""

    async def get(self, path: str, *, watch: bool = False) -> tuple[bytes, Stat] | None:
        """Content and state; None when there is no such node, and no watch then."""

    async def exists(self, path: str, *, watch: bool = False) -> Stat | None: ...

    async def children(self, path: str, *, watch: bool = False) -> list[str]: ...

    async def create(self, path: str, data: bytes, *, ephemeral: bool = False, sequence: bool = False) -> str | None:
        """The name of the new node (its last part); None when it is there already.

        `Unavailable` while the node above it is not there: whoever keeps asking has it once the tree is made anew.
        """

    async def set(self, path: str, data: bytes) -> Stat | None:
        """None when there is no such node."""

    async def delete(self, path: str) -> None:
        """Nothing when there is no such node."""

    async def commit(self, operations: Sequence[Operation]) -> bool:
        """All or none of it."""


class Tree:
    """The paths of a crawl."""

    def __init__(self, root: str, crawl: str) -> None:
        self.crawl = f"{root}/{crawl}"
        self.members = f"{self.crawl}/members"
        self.epochs = f"{self.crawl}/epochs"
        self.owners = f"{self.crawl}/owners"
        self.statuses = f"{self.crawl}/status"
        self.orders = f"{self.crawl}/orders"
        self.changes = f"{self.crawl}/changes"
        self.clock = f"{self.crawl}/clock"

    def member(self, name: str) -> str:
        return f"{self.members}/{name}"

    def epoch(self, partition: int) -> str:
        return f"{self.epochs}/{partition}"

    def owner(self, partition: int) -> str:
        return f"{self.owners}/{partition}"

    def status(self, worker: str) -> str:
        return f"{self.statuses}/{worker}"

    def archive(self, first: int) -> str:
        return f"{self.changes}/{first}"
