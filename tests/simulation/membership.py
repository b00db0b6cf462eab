"""One simulated worker's client of the coordinator: a session kept alive by pings, and the leases that hang on it."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context

from gregor.worker.borders.clock import Clock
from gregor.worker.borders.coordinator import Lease
from gregor.worker.borders.errors import Unavailable
from gregor.worker.orders.model import Change, Orders
from tests.simulation.engine import Machine, Wire, World
from tests.simulation.zookeeper import Expired, Left

MARGIN = 2.0
"""Seconds that a lease ends before its session may."""


class _Session:
    """A session as its client sees it; ``renewed`` is when the last answered request was sent, by the own clock."""

    def __init__(self, number: int, renewed: float) -> None:
        self.number = number
        self.renewed = renewed
        self.lost = False


class SimulatedLease:
    """`Lease`."""

    def __init__(self, owner: "SimulatedCoordinator", session: _Session, place: tuple[int, int], taken: float) -> None:
        self.partition, self.epoch = place
        self.taken_at = taken
        self.session = session
        self.released = False
        self._over = False
        self._owner = owner

    def holds(self) -> bool:
        holds = not self.released and not self.session.lost and self._owner.time_left(self.session) > 0
        if not holds and not self.released and not self._over:
            self._over = True
            self._owner.noticed_the_end()
        return holds


class SimulatedCoordinator:
    """`Coordinator`."""

    def __init__(self, world: World, machine: Machine, clock: Clock) -> None:
        self._world = world
        self._server = world.zookeeper
        self._wire = Wire(world, machine, "coordinator")
        self._client = machine.name
        self._clock = clock
        self._session: _Session | None = None
        self._pinger: asyncio.Task[None] | None = None
        self._member = False
        self._members: list[str] = []
        self._orders = Orders()
        self._version = 0
        self._offset = 0.0
        self._changed = asyncio.Event()
        self._watching = False
        self._leases: dict[int, SimulatedLease] = {}
        self._taking: set[int] = set()

    async def join(self) -> None:
        await self.connect()
        if self._session is None or not await self._asked("join", self._server.enter, self._session):
            return
        self._member = True
        await self._refresh()

    async def connect(self) -> None:
        """Have a session that is not lost."""
        if self._session is None or self._session.lost:
            if self._pinger is not None:
                self._pinger.cancel()
            sent = self._clock.monotonic()
            number, stamp = await self._wire.call("join", self._server.open, self._client)
            self._offset = stamp - self._clock.monotonic()
            self._session = _Session(number, sent)
            self._pinger = asyncio.get_running_loop().create_task(self._keep(self._session))
        self._watch()
        await self._refresh()

    def wanted(self) -> frozenset[int]:
        if not self._member or self._session is None or self._session.lost or self._client not in self._members:
            return frozenset()
        place, count = self._members.index(self._client), len(self._members)
        return frozenset(p for p in range(self._world.partitions) if p % count == place)

    async def changed(self) -> None:
        await self._changed.wait()
        self._changed.clear()

    async def acquire(self, partition: int, above: int) -> Lease | None:
        session = self._session
        mine = self._leases.get(partition)
        if session is None or session.lost or partition in self._taking or (mine is not None and mine.holds()):
            return None
        self._taking.add(partition)
        try:
            taken = await self._wire.call("acquire", self._server.acquire, session.number, partition, above)
            if isinstance(taken, Left):  # never owned again under its epoch: stamps would begin anew
                await self._wire.call("release", self._server.release, session.number, partition, taken.epoch)
                taken = await self._wire.call("acquire", self._server.acquire, session.number, partition, above)
        except Expired:
            self._lose(session)
            return None
        finally:
            self._taking.discard(partition)
        if taken is None or isinstance(taken, Left):
            return None
        self._leases[partition] = SimulatedLease(self, session, (partition, taken[0]), taken[1])
        return self._leases[partition]

    async def release(self, lease: Lease) -> None:
        assert isinstance(lease, SimulatedLease)
        lease.released = True
        await self._wire.call("release", self._server.release, lease.session.number, lease.partition, lease.epoch)

    async def leave(self) -> None:
        self._member = False
        if self._session is not None:
            await self._wire.call("leave", self._server.leave, self._session.number)

    def now(self) -> float:
        return self._clock.monotonic() + self._offset

    def orders(self) -> Orders:
        return self._orders

    async def change_orders(self, change: Callable[[Orders], Orders]) -> Orders:
        return await self._wire.call("change_orders", self._server.change_orders, change)

    async def changes(self, before: int, limit: int) -> list[Change]:
        orders = await self._wire.call("changes", lambda: self._server.orders)
        return [one for one in reversed(orders.changes) if one.number < before][:limit]

    async def close(self) -> None:
        if self._pinger is not None:
            self._pinger.cancel()
        if self._session is not None and not self._session.lost:
            self._lose(self._session)
            await self._wire.call("close", self._server.close, self._session.number)

    @property
    def leased(self) -> bool:
        """Whether the leases of the session certainly hold now, whatever a lease says."""
        return self._session is not None and not self._session.lost and self.time_left(self._session) > 0

    def noticed_the_end(self) -> None:
        """A lease was found to be over, without having been released."""
        self._world.happen(self._client, "lease over")

    def time_left(self, session: _Session) -> float:
        """Seconds that the leases of a session still hold, by the worker's own clock."""
        return session.renewed + self._server.session_timeout - MARGIN - self._clock.monotonic()

    async def _asked(self, op: str, effect: Callable[[int], None], session: _Session) -> bool:
        try:
            await self._wire.call(op, effect, session.number)
        except Expired:
            self._lose(session)
            return False
        return True

    def _lose(self, session: _Session) -> None:
        session.lost = True
        self._changed.set()

    async def _keep(self, session: _Session) -> None:
        pause = self._server.session_timeout / 4
        while not session.lost:
            await asyncio.sleep(pause)
            sent = self._clock.monotonic()
            try:
                alive = await self._wire.call("ping", self._server.ping, session.number, patience=pause)
            except Unavailable:
                self._changed.set()  # the lease may have come to its end
                continue
            if alive:
                session.renewed = sent
                await self._settle(session)
            else:
                self._world.happen(self._client, "session lost")
                self._lose(session)

    async def _settle(self, session: _Session) -> None:
        """Let go of what the session owns and no lease says so, since an answer was lost: nobody else could own it."""
        known = self._server.sessions.get(session.number)
        for partition, epoch in list(known.owned.items()) if known is not None else ():
            lease = self._leases.get(partition)
            held = lease is not None and lease.epoch == epoch and not lease.released
            if not held and partition not in self._taking:
                with suppress(Unavailable):
                    await self._wire.call("release", self._server.release, session.number, partition, epoch)

    def _watch(self) -> None:
        if self._watching:
            return
        self._watching = True
        context = copy_context()
        chance = self._world.random

        def news() -> None:
            asyncio.get_running_loop().call_later(chance.expovariate(20), self._look, context=context)

        self._server.watchers.append(news)

    def _look(self) -> None:
        """A watch fired: read what changed. What is seen is at least as new as the watch."""
        if self._world.reachable(self._client, "coordinator", "answers"):
            self._see(*self._server.view())

    async def _refresh(self) -> None:
        self._see(*await self._wire.call("join", self._server.view))

    def _see(self, version: int, members: list[str], orders: Orders) -> None:
        """Answers may overtake each other; what is older tells nothing."""
        if version < self._version:
            return
        self._version = version
        if (members, orders) != (self._members, self._orders):
            self._members, self._orders = members, orders
            self._changed.set()
