"""What every partition of a worker shares: settings, services, clock, schedule, caches."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final, TypeVar

import msgspec

from gregor.schemas.messages import Ticket
from gregor.worker.borders.clock import Clock
from gregor.worker.borders.coordinator import Lease
from gregor.worker.borders.effects import LeaseLost
from gregor.worker.borders.errors import Unavailable
from gregor.worker.borders.services import Services
from gregor.worker.config.settings import Config
from gregor.worker.frontier.domain_budget import DomainPages
from gregor.worker.frontier.host import Host
from gregor.worker.frontier.partition import Partition
from gregor.worker.frontier.schedule import Schedule
from gregor.worker.links.scope import Scope
from gregor.worker.observe.stats import Stats
from gregor.worker.observe.tracing import Tracer
from gregor.worker.orders.in_force import OrdersInForce, places_of
from gregor.worker.orders.model import Orders
from gregor.worker.web.urls import Urls

T = TypeVar("T")


class _Always:
    """In the place of a lease, where none is needed."""

    def holds(self) -> bool:
        return True


_ALWAYS: Final = _Always()
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0


@dataclass
class Tools:
    """Shared by the partitions of one worker; none of it outlives the process."""

    config: Config
    services: Services
    clock: Clock
    chance: random.Random
    urls: Urls
    scope: Scope
    stats: Stats
    name: str
    schedule: Schedule[Host] = field(default_factory=Schedule)
    woken: asyncio.Event = field(default_factory=asyncio.Event)
    standing: OrdersInForce = field(default_factory=OrdersInForce)
    domain_pages: DomainPages = field(default_factory=DomainPages)
    share: float = 1.0  # the part of the crawl's partitions that the worker owns
    tracer: Tracer | None = None
    idle: bool = False  # capacity is free, and no turn is due soon

    def now(self) -> float:
        """The coordinator's time, unix seconds: what durable records hold."""
        return self.services.coordinator.now()

    def orders(self) -> Orders:
        """The orders that stand."""
        return self.services.coordinator.orders()

    def concurrency(self) -> int:
        """How many visits may run at once, by order or else as configured."""
        ordered = self.standing.crawl(self.orders(), "concurrency")
        return self.config.concurrency if ordered is None else places_of(ordered, self.share)

    def drained(self) -> bool:
        """Whether the worker is to own nothing."""
        return self.orders().drains(self.name)

    def monotonic(self, at: float) -> float:
        """A coordinator's time as the worker's own."""
        return self.clock.monotonic() + at - self.now()

    async def effect(self, lease: "Lease | _Always", call: Callable[[], Awaitable[T]]) -> T:
        """Ask a border under a lease: again while the service is away, never once the lease may be over."""
        pause = FIRST_PAUSE
        while True:
            if not lease.holds():
                raise LeaseLost
            try:
                result = await call()
            except Unavailable as error:
                self.stats.away(error)
                self.stats.retries[error.service] += 1
                await asyncio.sleep(pause * (1.0 + self.chance.random()))
                pause = min(2.0 * pause, LONGEST_PAUSE)
            else:
                self.stats.back()
                return result

    async def patiently(self, call: Callable[[], Awaitable[T]]) -> T:
        """Ask a border where no lease is needed: again while the service is away."""
        return await self.effect(_ALWAYS, call)

    def ranked(self, tickets: list[Ticket]) -> list[Ticket]:
        """Tickets of links with the priorities that were ordered."""
        orders, standing = self.orders(), self.standing
        if not standing.table(orders, "priority"):
            return tickets
        wanted = ((one, standing.priority(orders, one.host)) for one in tickets)
        return [one if rank is None else msgspec.structs.replace(one, priority=rank) for one, rank in wanted]

    def turn(self, partition: Partition, host: Host) -> None:
        """Put a host into the schedule if it has something to do."""
        if host.alive and not host.busy:
            if host.queue:
                self.schedule.put(host, host.next_turn)
                self.woken.set()
            else:
                partition.forget_idle(self.clock.monotonic())
