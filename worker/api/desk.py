"""What the API can say and do: it reads the worker on its own event loop and gives orders through the coordinator."""

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec

from gregor.worker import condition, machine
from gregor.worker.borders import Clock, Orders
from gregor.worker.condition import Condition, HostView, Lag
from gregor.worker.config import Config
from gregor.worker.live import Meter, Rates
from gregor.worker.logging import Log
from gregor.worker.metric_list import METRICS
from gregor.worker.metrics import Look, exposition, registry
from gregor.worker.orders import Kind, Order, give, listed, name_of, take_back
from gregor.worker.runtime import Runtime

_LOG = Log("api")
_SAMPLE = 1.0  # seconds between two samples of the rates
_PATIENCE = 1.0  # seconds for which a scrape waits for the ends of the log


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
    """How the worker is."""

    now: Condition
    rates: Rates
    counts: Counts


class Desk:
    """One worker's."""

    def __init__(self, runtime: Runtime, config: Config, clock: Clock) -> None:
        self._runtime = runtime
        self._config = config
        self._clock = clock
        self._lag = Lag(runtime)
        self._looking: asyncio.Task[None] | None = None
        self._meter = Meter()
        self._sampled = clock.monotonic()
        self._rates = self._meter.sample(self._sampled, runtime.stats)
        self._registry = registry(METRICS, self._look)

    def _now(self) -> float:
        return self._clock.monotonic()

    def unhealthy(self) -> str:
        """Why the process should be started again; empty when all is well."""
        return condition.unhealthy(self._runtime, self._now())

    def unready(self) -> str:
        """Why it does not crawl; empty when it does."""
        return condition.unready(self._runtime, self._now())

    def condition(self) -> Condition:
        """What it is doing now."""
        return condition.look(self._runtime, self._config, self._now())

    def status(self) -> Status:
        """Condition, rates and counts."""
        stats, now = self._runtime.stats, self._now()
        if now - self._sampled >= _SAMPLE:
            self._sampled, self._rates = now, self._meter.sample(now, stats)
        counts = Counts(
            stats.pages,
            stats.pages_200,
            stats.bytes,
            stats.requests,
            dict(stats.states),
            {str(status): count for status, count in sorted(stats.statuses.items())},
            dict(stats.errors.most_common(50)),
            stats.total_pages_200,
            stats.total_bytes,
        )
        return Status(self.condition(), self._rates, counts)

    def hosts(self, limit: int, state: str, after: str) -> list[HostView]:
        """Hosts in memory."""
        return condition.hosts(self._runtime, self._now(), limit, state=state, after=after)

    async def metrics(self) -> bytes:
        """The answer to a scrape. It does not wait for a log that is away: the lag is then what was known."""
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._lag.look(self._now()))
        await asyncio.wait((self._looking,), timeout=_PATIENCE)
        if self._looking.done():
            self._looking.result()  # raises what no log may raise
        return exposition(self._registry)

    def _look(self) -> Look:
        stats = self._runtime.stats
        here = machine.look(Path(self._config.data))
        return Look(stats, self.condition(), self._lag, here, stats.margin.value(self._now()))

    def orders(self) -> list[Order]:
        """Those that stand."""
        return list(listed(self._runtime.tools.services.coordinator.orders()))

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
        await self._runtime.tools.services.coordinator.change_orders(change)

    def stop(self, who: str, why: str) -> None:
        """End this worker cleanly; nothing is lost."""
        _LOG.info("stop ordered", who=who, why=why)
        self._runtime.stop("by order")
