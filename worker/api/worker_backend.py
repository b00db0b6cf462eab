"""The API's view of a worker: it reads the worker on its own event loop."""

import asyncio
import math
from collections.abc import Awaitable, Callable
from pathlib import Path

from gregor.worker.api import problems
from gregor.worker.api.archive import StoredCrawl
from gregor.worker.api.archive_views import Brief, brief
from gregor.worker.api.backend import Backend, Counts, HostsQuery, Status
from gregor.worker.borders.clock import Clock
from gregor.worker.borders.members import Members
from gregor.worker.config.settings import Config
from gregor.worker.inspect import host_views, machine, worker_state
from gregor.worker.inspect.host_views import HostView
from gregor.worker.inspect.metric_list import METRICS
from gregor.worker.inspect.metrics import Exposition, Look
from gregor.worker.inspect.outlook import outlook, slowest
from gregor.worker.inspect.rates import Meter
from gregor.worker.inspect.worker_state import Condition, Lag
from gregor.worker.observe.course import Course
from gregor.worker.operate.control import Control
from gregor.worker.run.runtime import Runtime

_SAMPLE = 1.0  # seconds between two samples of the rates
_PATIENCE = 1.0  # seconds for which a scrape waits for the ends of the log
_SLOW_AGAIN = 10.0  # seconds between two looks at how long each host's queue takes
_LISTS = 10  # of hosts, that wait to be made before more are refused
_REST = 9.0  # so many times as long as a list of hosts took, the loop has to itself


class WorkerBackend(Backend):
    """One worker's."""

    def __init__(
        self,
        runtime: Runtime,
        config: Config,
        clock: Clock,
        archive: StoredCrawl,
        control: Control,
        measure: Callable[[list[str]], None],
        members: Callable[[], Awaitable[Members]] | None = None,
    ) -> None:
        """``measure`` makes new hosts of seeds known to the scope.

        ``members``: how others of the crawl are heard of; None when it is alone.
        """
        super().__init__(runtime.name, runtime.services.coordinator, clock, archive, control)
        self._measure = measure
        self._members = members
        self._runtime = runtime
        self._config = config
        self._lag = Lag(runtime)
        self._looking: asyncio.Task[None] | None = None
        self._slowest, self._slow_at = 0.0, -math.inf
        self._listing, self._lists, self._rested = asyncio.Lock(), 0, -math.inf
        self._meter, self._course = Meter(), Course()
        self._sampled = clock.monotonic()
        self._rates = self._meter.sample(self._sampled, runtime.stats)
        self._exposition = Exposition(METRICS, self._look, config.crawl)
        self._scraped, self._scraped_at = b"", -math.inf

    def _now(self) -> float:
        return self._clock.monotonic()

    def unhealthy(self) -> str:
        return worker_state.unhealthy(self._runtime, self._now())

    def unready(self) -> str:
        return worker_state.unready(self._runtime, self._now())

    async def status(self) -> Status:
        stats, now = self._runtime.stats, self._now()
        if now - self._sampled >= _SAMPLE:
            self._sampled, self._rates = now, self._meter.sample(now, stats)
        counts = Counts(
            stats.pages,
            stats.pages_200,
            stats.bytes,
            stats.requests,
            stats.outcomes,
            {str(status): count for status, count in sorted(stats.statuses.items())},
            dict(stats.troubles.most_common(50)),
            stats.total_pages_200,
            stats.total_bytes,
        )
        self._look_at_log()
        condition = self._condition()
        if now - self._slow_at >= _SLOW_AGAIN:
            self._slowest, self._slow_at = slowest(self._runtime), now
        ahead = outlook(self._config, self._runtime, condition, self._lag, self._rates, self._slowest, self._course)
        return Status(condition, self._rates, counts, ahead)

    def _look_at_log(self) -> asyncio.Task[None]:
        """The look at the ends of the log that is under way; `Lag` itself sees to it that it is not asked too often."""
        if self._looking is None or self._looking.done():
            if self._looking is not None:
                self._looking.result()  # raises what no log may raise
            self._looking = asyncio.create_task(self._lag.look(self._now()))
        return self._looking

    async def recent(self) -> list[Brief]:
        visits = [brief(row) for row in reversed(self._runtime.stats.recent)]  # by when they were settled
        return sorted(visits, key=lambda visit: visit.at, reverse=True)

    async def hosts(self, asked: HostsQuery) -> list[HostView]:
        """One list after another, a tenth of the loop's time at most: of 50,000 hosts one takes a tenth of a second.

        Raises `Problem` (429).
        """
        if self._lists >= _LISTS:
            raise problems.too_many()
        self._lists += 1
        try:
            async with self._listing:
                await asyncio.sleep(self._rested - self._now())
                begun = self._now()
                hosts = self._list(asked, begun)
                ended = self._now()
                self._rested = ended + _REST * (ended - begun)
        finally:
            self._lists -= 1
        return hosts

    def _list(self, asked: HostsQuery, now: float) -> list[HostView]:
        return host_views.hosts(
            self._runtime,
            now,
            asked.limit,
            state=asked.state,
            after=asked.after,
            search=asked.search,
            sort=asked.sort,
            reverse=asked.order == "last",
        )

    async def members(self) -> Members:
        if self._members is not None:
            return await self._members()
        return worker_state.alone(self._runtime, self._config, (await self.status()).rates, self._clock.wall())

    async def metrics(self) -> bytes:
        """The answer to a scrape, told anew once a second at most: it takes some milliseconds of the crawl.

        It does not wait for a log that is away: the lag is then what was known.
        """
        if self._now() - self._scraped_at < _SAMPLE:
            return self._scraped
        looking = self._look_at_log()
        await asyncio.wait((looking,), timeout=_PATIENCE)
        if looking.done():
            looking.result()  # raises what no log may raise
        self._scraped, self._scraped_at = self._exposition.text(), self._now()
        return self._scraped

    def _stop(self) -> None:
        self._runtime.stop("by order")

    async def _seeded(self) -> None:
        self._measure(await self._runtime.services.store.seed_hosts())

    def _condition(self) -> Condition:
        """What it is doing now."""
        return worker_state.look(self._runtime, self._config, self._now())

    def _look(self) -> Look:
        stats = self._runtime.stats
        here = machine.look(Path(self._config.data))
        return Look(stats, self._condition(), self._lag, here, stats.margin.value(self._now()))
