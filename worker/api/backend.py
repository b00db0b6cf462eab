"""What the API can say and do. Orders go through the coordinator; the rest depends on whose API it is."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from gregor.worker.api.archive import StoredCrawl
from gregor.worker.api.archive_views import Brief
from gregor.worker.api.history import EVERY, Past, Point
from gregor.worker.borders.clock import Clock
from gregor.worker.borders.coordinator import OrderBook
from gregor.worker.borders.errors import DiskFull, Unavailable
from gregor.worker.borders.members import Members
from gregor.worker.inspect.host_views import HostSort, HostState, HostView
from gregor.worker.inspect.outlook import Outlook
from gregor.worker.inspect.rates import Rates
from gregor.worker.inspect.worker_state import Condition
from gregor.worker.observe.logging import Log
from gregor.worker.operate.control import Control, FolderControl
from gregor.worker.operate.seeds import Seed
from gregor.worker.orders.model import By, Orders

_LOG = Log("api")


class Counts(msgspec.Struct, frozen=True):
    """Of a worker since it started; of a whole crawl, all that were ever its own. ``total_…``: of the whole crawl."""

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
    outlook: Outlook = Outlook()


class HostsQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``after``: go on behind this host, by name; without it those come first that ``sort`` says: whose turn is due
    first (those without anything to do last), by name, most queued, most failures, longest delay, by state, by last
    failure; with the ``order`` "last" the other way round. ``search``: a part of the name."""

    limit: Annotated[int, Meta(ge=1, le=500)] = 100
    state: HostState | Literal[""] = ""
    after: Annotated[str, Meta(max_length=300)] = ""
    search: Annotated[str, Meta(max_length=300)] = ""
    sort: HostSort = "turn"
    order: Literal["first", "last"] = "first"


class Backend(ABC):
    """Answers the endpoints. ``name``: of the process that does."""

    def __init__(
        self, name: str, coordinator: OrderBook, clock: Clock, archive: StoredCrawl, control: Control | FolderControl
    ) -> None:
        self.name = name
        self.control = control
        self._coordinator = coordinator
        self._clock = clock
        self.archive = archive
        self.history = Past()

    async def keep(self) -> None:
        """Remember how fast it goes, for ever."""
        while True:
            status = await self.status()
            now, rates = status.now, status.rates
            at, backing_off = self._clock.wall(), now.hosts.get("backing_off", 0) + now.hosts.get("robots", 0)
            rate = (rates.pages, rates.requests, rates.bytes)
            waiting, memory_used = status.outlook.waiting, status.outlook.memory_used
            left = status.outlook.left or 0.0
            self.history.add(Point(at, *rate, now.running, now.back_queues, backing_off, waiting, memory_used, left))
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
    async def hosts(self, asked: HostsQuery) -> list[HostView]:
        """Hosts in memory."""

    @abstractmethod
    async def recent(self) -> list[Brief]:
        """What the last visits came to, the newest first."""

    @abstractmethod
    async def members(self) -> Members:
        """Workers, and who owns what. Raises `Unavailable`."""

    @abstractmethod
    async def metrics(self) -> bytes:
        """The answer to a scrape."""

    @abstractmethod
    def _stop(self) -> None:
        """End this process cleanly; nothing is lost."""

    async def _seeded(self) -> None:  # noqa: B027 - whoever measures no scope has nothing to do
        """Seeds were added."""

    async def stop(self, by: By) -> None:
        """End this process cleanly; nothing is lost. It ends also when that cannot be put on record."""
        try:
            await self.control.note(f"stop {self.name}", by)
        except (Unavailable, DiskFull) as error:
            _LOG.warning("a stop is not on record", who=by.who, why=by.why, where=by.where, error=str(error))
        self._stop()

    async def seed(self, seeds: Sequence[Seed], by: By) -> int:
        """Publish seeds, which the scope is measured by from now on; how many. Raises as `Control`."""
        count = await self.control.seed(seeds, by)
        await self._seeded()
        return count

    def orders(self) -> Orders:
        """Those that stand."""
        return self._coordinator.orders()

    def wall(self) -> float:
        """What time it is for people, unix seconds."""
        return self._clock.wall()
