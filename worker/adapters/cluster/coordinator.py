"""The coordinator on ZooKeeper: who is a member, what each should own, and one owner a partition."""

import asyncio
import os
import uuid
from collections.abc import Callable, Mapping
from typing import Final, Self

import msgspec

from gregor.worker.adapters.cluster.lease import ClusterLease
from gregor.worker.adapters.cluster.membership import Membership
from gregor.worker.adapters.cluster.ownership import OwnerNodes
from gregor.worker.adapters.cluster.status import members, owners, put_status
from gregor.worker.adapters.cluster.zookeeper_client import SERVICE, ZooKeeper
from gregor.worker.adapters.cluster.zookeeper_setup import ServerFacts, check_tree
from gregor.worker.adapters.cluster.zookeeper_tree import LiveWorker, PutNode, Stat, Tree
from gregor.worker.adapters.when_there import nobody
from gregor.worker.borders.clock import Clock
from gregor.worker.borders.coordinator import Lease
from gregor.worker.borders.errors import Unavailable
from gregor.worker.borders.members import Members, WorkerStatus
from gregor.worker.config.servers import Servers
from gregor.worker.observe.logging import logs
from gregor.worker.orders import codec as orders_codec
from gregor.worker.orders.model import NEWEST, Change, Orders, archived, continue_numbering

_log = logs("steering")
_KEEP: Final = 1 / 6
"""How often the session is asked for, as a part of its time-out."""


class ClusterCoordinator:
    """`Coordinator`. `open` it."""

    def __init__(
        self, zookeeper: ZooKeeper, tree: Tree, partitions: int, member: tuple[str, int], clock: Clock
    ) -> None:
        """``member``: the worker's name and weight."""
        self._zookeeper = zookeeper
        self._tree = tree
        self._partitions = partitions
        self._clock = clock
        self._id = uuid.uuid4().hex
        self._orders = Orders()
        self._orders_known = False
        self._origin = 0.0
        self._membership = Membership(zookeeper, tree, partitions, *member)
        self._ownership = OwnerNodes(zookeeper, tree, member[0], clock, self.now)
        self._change = asyncio.Event()
        self._news = asyncio.Event()
        self._keeper: asyncio.Task[None] | None = None
        self.away: Callable[[Unavailable], None] = nobody
        """Hears of what fails between the calls; their own failures are told by these."""
        zookeeper.on_event = self._hear

    @classmethod
    async def open(
        cls,
        servers: Servers,
        crawl: str,
        partitions: int,
        name: str,
        clock: Clock,
        *,
        facts: ServerFacts | None = None,
        environ: Mapping[str, str] = os.environ,
    ) -> Self:
        """Connect, without becoming a member. Raises `Unavailable`, BadInput when `gregor init` made no such crawl."""
        zookeeper = await ZooKeeper.open(servers, clock, environ)
        tree = Tree(servers.zookeeper_root, crawl)
        try:
            await check_tree(zookeeper, tree, partitions, facts or {})
            coordinator = cls(zookeeper, tree, partitions, (name, servers.worker_weight), clock)
            await coordinator._begin()
        except BaseException:
            await zookeeper.close()
            raise
        return coordinator

    async def _begin(self) -> None:
        stat = await self._zookeeper.set(self._tree.clock, b"")
        if stat is None:
            raise Unavailable(SERVICE, f"no node {self._tree.clock}")
        self._origin = stat.mtime - self._clock.monotonic()
        await self._look()
        self._keeper = asyncio.create_task(self._keep())
        # A keeper that dies must be heard by whoever awaits `changed`.
        self._keeper.add_done_callback(lambda _: self._change.set())

    async def join(self) -> None:
        """As the border says; raises what ended the keeper."""
        self._check()
        await self._membership.join()
        self._news.set()

    def wanted(self) -> frozenset[int]:
        return self._membership.wanted

    async def changed(self) -> None:
        """As the border says; raises what ended the keeper."""
        while not self._change.is_set():
            session = self._zookeeper.session
            left = 0.0 if session is None else session.end - self._clock.monotonic()
            try:
                async with asyncio.timeout(left if left > 0 else None):
                    await self._change.wait()
            except TimeoutError:
                if session is not None and not session.holds(self._clock.monotonic()):
                    break  # the leases have come to their end
        self._check()
        self._change.clear()

    async def acquire(self, partition: int, above: int) -> ClusterLease | None:
        return await self._ownership.acquire(partition, above)

    async def release(self, lease: Lease) -> None:
        self._change.set()
        await self._ownership.release(lease)

    async def leave(self) -> None:
        self._change.set()
        await self._membership.leave()

    def now(self) -> float:
        """The server's time when this was opened plus own elapsed time, whatever becomes of the session."""
        return self._origin + self._clock.monotonic()

    def orders(self) -> Orders:
        return self._orders

    async def change_orders(self, change: Callable[[Orders], Orders]) -> Orders:
        while True:
            node = await self._zookeeper.get(self._tree.orders)
            if node is None:
                raise Unavailable(SERVICE, f"no node {self._tree.orders}")
            data, stat = node
            orders = orders_codec.read(data)
            if not orders.version:
                orders = continue_numbering(orders, await self.changes(NEWEST, 1))
            orders, older = archived(change(orders))
            if older:  # whoever puts aside what begins there puts the same aside: once is enough
                await self._zookeeper.create(self._tree.changes, b"")
                path = self._tree.archive(older[0].number)
                await self._zookeeper.create(path, orders_codec.encoded_changes(older))
            if await self._zookeeper.commit([PutNode(self._tree.orders, orders_codec.encoded(orders), stat.version)]):
                break  # else somebody else was first: the change is made of theirs
        self._orders = orders
        self._change.set()
        return orders

    async def changes(self, before: int, limit: int) -> list[Change]:
        newest = await self._zookeeper.get(self._tree.orders)
        kept = orders_codec.read(newest[0]).changes if newest is not None else ()
        changes = [change for change in reversed(kept) if change.number < before]
        firsts = sorted(map(int, await self._zookeeper.children(self._tree.changes)), reverse=True)
        for first in firsts:
            oldest = changes[-1].number if changes else before
            if len(changes) >= limit:
                break
            if first < oldest and (node := await self._zookeeper.get(self._tree.archive(first))) is not None:
                changes += [change for change in reversed(orders_codec.read_changes(node[0])) if change.number < oldest]
        return changes[:limit]

    async def put_status(self, status: WorkerStatus) -> None:
        """Say how it goes, for `gregor status`; it is gone with the session."""
        await put_status(self._zookeeper, self._tree, self._id, status)

    async def members(self) -> Members:
        """Workers, and who owns what. Raises `Unavailable`."""
        return await members(self._zookeeper, self._tree, self._partitions)

    async def alive(self) -> list[str]:
        """The names of workers that are members or own partitions, in order. Raises `Unavailable`."""
        nodes = [self._tree.member(name) for name in await self._zookeeper.children(self._tree.members)]
        kept = [await self._zookeeper.get(path) for path in nodes]
        names = {msgspec.json.decode(node[0], type=LiveWorker).name for node in kept if node is not None}
        return sorted(names | {name for name, _ in (await owners(self._zookeeper, self._tree)).values()})

    async def close(self) -> None:
        """End the session and with it all leases."""
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.wait([self._keeper])
        if self._zookeeper.session is not None:
            self._zookeeper.session.lose()
        await self._zookeeper.close()

    def _hear(self, path: str | None) -> None:
        """A watch fired, or the connection changed."""
        if path is None:
            self._orders_known = False
            self._membership.forget()
            self._change.set()  # the leases may be over
        elif path == self._tree.orders:
            self._orders_known = False
        elif not self._membership.hear(path):
            self._change.set()  # somebody let a partition go
            return
        self._news.set()

    def _check(self) -> None:
        """Raise what ended the keeper: without it nothing is heard, and no lease holds for long."""
        if self._keeper is not None and self._keeper.done():
            self._keeper.result()

    async def _keep(self) -> None:
        """Keep the leases, and look at what is new."""
        while True:
            try:
                async with asyncio.timeout(self._zookeeper.granted * _KEEP):
                    await self._news.wait()
            except TimeoutError:
                pass
            self._news.clear()
            try:
                await self._look()
            except Unavailable as error:  # the leases end by the own clock, or the tree is gone; it looks again
                self.away(error)

    async def _look(self) -> None:
        """Ask whether the session lives, finish what failed, read what is new."""
        await self._zookeeper.exists(self._membership.path or self._tree.crawl)
        await self._ownership.settle()
        if await self._membership.look():
            self._change.set()
        if not self._orders_known:
            await self._read_orders()

    async def _read_orders(self) -> None:
        self._orders_known = True  # unless a watch fires meanwhile
        try:
            node = await self._zookeeper.get(self._tree.orders, watch=True)
        except Unavailable:
            self._orders_known = False
            raise
        if self._orders.version and (node is None or not node[0]):
            await self._put_back(node)
            return
        self._orders_known &= node is not None  # a node that is not there has no watch
        orders = orders_codec.read(node[0]) if node is not None else Orders()
        if not orders.version and orders.unread:  # nothing of it can be read: the last orders that could be hold on
            orders = msgspec.structs.replace(self._orders, unread=orders.unread)
        if orders != self._orders:
            self._orders = orders
            self._change.set()

    async def _put_back(self, node: tuple[bytes, Stat] | None) -> None:
        """The node was deleted, or made anew by `gregor init`: what it held is still known here, and holds on."""
        self._orders_known = False  # it is read again at once, whoever of the workers was first
        kept = orders_codec.encoded(self._orders)
        if node is None:
            put = await self._zookeeper.create(self._tree.orders, kept) is not None
        else:
            put = await self._zookeeper.commit([PutNode(self._tree.orders, kept, node[1].version)])
        if put:
            _log.warning("orders were gone; put back", version=self._orders.version)
        self._news.set()
