"""What the API can say and do. Orders go through the coordinator; the rest depends on whose API it is."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial

import msgspec

from gregor.worker.api.archive import Archive
from gregor.worker.api.history import EVERY, Past, Point
from gregor.worker.borders import Clock, Coordinator, Orders
from gregor.worker.condition import Condition, HostView
from gregor.worker.live import Rates
from gregor.worker.logging import Log
from gregor.worker.members import Members
from gregor.worker.orders import Kind, Order, give, listed, name_of, take_back

_LOG = Log("api")


class Counts(msgspec.Struct, frozen=True):
    """Since the worker started; ``total_…``: of the whole crawl."""

    pages: int
    pages_200: int
    bytes: int
    requests: int
    states: dict[str, int]
    statuses: dict[str, int]
    errors: dict[str, int]
    total_pages_200: int
    total_bytes: int


class Status(msgspec.Struct, frozen=True):
    """How a worker is, or all of them."""

    now: Condition
    rates: Rates
    counts: Counts


class Desk(ABC):
    """Answers the endpoints."""

    def __init__(self, coordinator: Coordinator, clock: Clock, archive: Archive) -> None:
        self._coordinator = coordinator
        self._clock = clock
        self.archive = archive
        self.history = Past()

    async def keep(self) -> None:
        """Remember how fast it goes, for ever."""
        while True:
            status = await self.status()
            now, rates = status.now, status.rates
            at, backing_off = self._clock.wall(), now.hosts.get("backing_off", 0)
            rate = (rates.pages, rates.requests, rates.bytes)
            self.history.add(Point(at, *rate, now.running, now.back_queues, backing_off))
            await asyncio.sleep(EVERY)

    @abstractmethod
    def unhealthy(self) -> str:
        """Why the process should be started again; empty when all is well."""

    @abstractmethod
    def unready(self) -> str:
        """Why it does not do its work; empty when it does."""

    @abstractmethod
    async def status(self) -> Status:
        """Condition, rates and counts."""

    @abstractmethod
    async def hosts(self, limit: int, state: str, after: str) -> list[HostView]:
        """Hosts in memory."""

    @abstractmethod
    async def members(self) -> Members:
        """Workers, and who owns what. Raises `Unavailable`."""

    @abstractmethod
    async def metrics(self) -> bytes:
        """The answer to a scrape."""

    @abstractmethod
    def stop(self, who: str, why: str) -> None:
        """End this process cleanly; nothing is lost."""

    def orders(self) -> list[Order]:
        """Those that stand."""
        return list(listed(self._coordinator.orders()))

    async def give(self, kind: Kind, host: str, seconds: float | None, who: str, why: str) -> Order:
        """Give an order. Raises `BadInput`, `Unavailable`."""
        order = Order(kind, host, seconds, who, self._clock.wall(), why)
        await self._change(partial(give, order=order))
        _LOG.info("order given", order=name_of(kind, host), seconds=seconds, who=who, why=why)
        return order

    async def take_back(self, kind: Kind, host: str, who: str) -> None:
        """Take an order back; nothing when it does not stand. Raises `Unavailable`."""
        await self._change(partial(take_back, kind=kind, host=host))
        _LOG.info("order taken back", order=name_of(kind, host), who=who)

    async def _change(self, change: Callable[[Orders], Orders]) -> None:
        await self._coordinator.change_orders(change)
