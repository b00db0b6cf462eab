"""The four services of a crawl in memory, shared by several simulated workers, and the network between them.

A `World` is what survives any worker: the servers' state and the journal of all effects. A `Wire` is one worker's
connection to one server: every call travels there and back with a latency, takes effect at the server at one moment
(whatever has become of the caller meanwhile), and meets the faults that are scripted for it.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from contextvars import Context
from dataclasses import dataclass, field
from random import Random
from typing import Any, TypeVar

from gregor.worker.borders.errors import Unavailable
from tests.simulation.addresses import AddressServer
from tests.simulation.clock import WALL_EPOCH, Process, VirtualLoop
from tests.simulation.faults import Fault, Faults, Way
from tests.simulation.servers import LogServer, SeenServer, StoreServer
from tests.simulation.zookeeper import Expired, ZooKeeper

T = TypeVar("T")


@dataclass(frozen=True)
class Effect:
    """A call as its server saw it. ``sent`` is when the caller made it; ``result`` is what the server answered."""

    time: float
    client: str
    service: str
    op: str
    args: tuple[Any, ...]
    result: Any
    sent: float


@dataclass
class Incident:
    """A moment from which a client's running visits may have been for nothing: killed, stopped, cut off, ended."""

    time: float
    client: str
    what: str


class World:
    """Everything outside the workers but the web."""

    def __init__(
        self,
        *,
        partitions: int = 4,
        seed: int = 0,
        faults: Faults | None = None,
        latency: float = 0.01,
        session_timeout: float = 10.0,
        call_timeout: float = 3.0,
        now: Callable[[], float] | None = None,
        at_once: bool = False,
    ) -> None:
        """``at_once``: log, seen set and store share a transaction, in which a visit is settled."""
        self.at_once = at_once
        self.partitions = partitions
        self._now = now or (lambda: WALL_EPOCH + asyncio.get_running_loop().time())
        self.random = Random(seed)
        self.faults = faults or Faults()
        self.latency = latency
        self.latencies: dict[str, float] = {}
        """Of single services, where it differs: log, seen, store, coordinator, dns; mean seconds of a way."""
        self.call_timeout = call_timeout
        self.journal: list[Effect] = []
        self.incidents: list[Incident] = []
        self.observers: list[Callable[[Effect], None]] = []
        self.log = LogServer(partitions, self.random)
        self.seen = SeenServer(self.now)
        self.addresses = AddressServer(self.now)
        self.store = StoreServer()
        self.zookeeper = ZooKeeper(partitions, session_timeout, self.now)
        self.starts_wanted = 0
        self._cuts: dict[tuple[str, str], tuple[float, Way]] = {}

    def now(self) -> float:
        """True unix seconds, as the servers have them."""
        return self._now()

    def note(self, effect: Effect) -> None:
        """Write an effect into the journal; observers see the state right after it."""
        self.journal.append(effect)
        for observer in self.observers:
            observer(effect)

    def happen(self, client: str, what: str) -> None:
        """Note that a client's running visits may end for nothing."""
        self.incidents.append(Incident(asyncio.get_running_loop().time(), client, what))

    def cut(self, client: str, service: str, seconds: float, way: Way) -> None:
        """Drop what travels between a client and a service."""
        self._cuts[client, service] = (asyncio.get_running_loop().time() + seconds, way)

    def reachable(self, client: str, service: str, way: Way) -> bool:
        """Whether a packet gets through now."""
        until, cut = self._cuts.get((client, service), (0.0, "both"))
        return asyncio.get_running_loop().time() >= until or cut not in (way, "both")


@dataclass
class Machine:
    """Where one worker runs: its process, if the loop simulates one, and its wall clock."""

    name: str
    process: Process | None = None
    jump: Callable[[float], None] = field(default=lambda seconds: None)

    def check(self) -> None:
        """A killed process calls nothing, not even while what is left of it is unwound."""
        if self.process is not None and not self.process.alive:
            raise asyncio.CancelledError


class Wire:
    """One worker's connection to one service."""

    def __init__(self, world: World, machine: Machine, service: str) -> None:
        self.world = world
        self.machine = machine
        self.service = service

    async def call(self, op: str, effect: Callable[..., T], *args: Any, patience: float | None = None) -> T:
        """Have ``effect(*args)`` happen at the server; raises `Unavailable` when no good answer comes in time."""
        self.machine.check()
        loop = asyncio.get_running_loop()
        fault = self.world.faults.at(loop.time(), self.machine.name, self.service, op)
        if fault is not None and fault.when == "before":
            await self.suffer(fault)
        answer: asyncio.Future[T] = loop.create_future()
        sent = loop.time()
        latency = self.world.latencies.get(self.service, self.world.latency)
        there, back = (latency * self.world.random.expovariate(1) for _ in range(2))
        slow = fault.seconds if fault is not None and fault.kind == "slow" else 0.0

        def arrive() -> None:
            if fault is not None and fault.kind == "fail":
                return refuse(Unavailable(self.service, "refused"))
            if not self.world.reachable(self.machine.name, self.service, "requests"):
                return None
            if fault is not None and fault.kind == "late":
                loop.call_later(fault.seconds, take_effect_late, context=Context())
                return refuse(Unavailable(self.service, "no answer"))
            try:
                result = take_effect()
            except Expired as error:
                loop.call_later(back, refuse, error, context=Context())
                return None
            if fault is not None and fault.when == "after":
                self._strike(fault)
            if fault is not None and fault.kind == "lost":
                return refuse(Unavailable(self.service, "the answer was lost"))
            loop.call_later(back + slow / 2, reply, result, context=Context())
            return None

        def take_effect() -> T:
            result = effect(*args)
            self.world.note(Effect(loop.time(), self.machine.name, self.service, op, args, result, sent))
            return result

        def take_effect_late() -> None:
            with suppress(Expired):  # its session has ended meanwhile: the server does nothing, and nobody hears of it
                take_effect()

        def reply(result: T) -> None:
            if not answer.done() and self.world.reachable(self.machine.name, self.service, "answers"):
                answer.set_result(result)

        def refuse(why: Exception) -> None:
            if not answer.done():
                answer.set_exception(why)

        loop.call_later(there + slow / 2, arrive, context=Context())
        timed_out = Unavailable(self.service, "timed out")
        timer = loop.call_later((patience or self.world.call_timeout) + slow, refuse, timed_out)
        try:
            return await answer
        finally:
            timer.cancel()

    async def pass_by(self, op: str) -> Fault | None:
        """Count a call whose effect is elsewhere, and meet what is scripted before it; returns what comes after it."""
        self.machine.check()
        now = asyncio.get_running_loop().time()
        fault = self.world.faults.at(now, self.machine.name, self.service, op)
        if fault is not None and fault.when == "before":
            await self.suffer(fault)
            return None
        return fault

    async def suffer(self, fault: Fault) -> None:
        """Let a fault happen to the caller, from its own code."""
        self._strike(fault)
        if self.machine.process is not None and (self.machine.process.stopped or not self.machine.process.alive):
            await asyncio.sleep(0)  # does not come back before the process goes on

    def _strike(self, fault: Fault) -> None:
        world, machine, loop = self.world, self.machine, asyncio.get_running_loop()
        match fault.kind:
            case "die" if machine.process is not None and isinstance(loop, VirtualLoop):
                world.happen(machine.name, "killed")
                loop.kill(machine.process)
            case "pause" if machine.process is not None and isinstance(loop, VirtualLoop):
                world.happen(machine.name, "stopped")
                if machine.process.alive:
                    loop.stop_process(machine.process, fault.seconds)
            case "jump":
                machine.jump(fault.seconds)
            case "cut":
                if self.service == "coordinator":
                    world.happen(machine.name, "cut off")
                world.cut(machine.name, self.service, fault.seconds, fault.way)
            case "forget":
                world.seen.forget(fault.seconds)
                world.addresses.forget(fault.seconds)
            case "start":
                world.starts_wanted += 1
            case _:
                pass  # what happens to the call itself
