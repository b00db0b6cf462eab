"""The API of a data folder: what is kept of a crawl, and its orders, from a process that crawls nothing."""

import asyncio
import os
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path

import prometheus_client as prometheus

from gregor import __version__
from gregor.schemas.messages import PRIORITIES
from gregor.worker.api.archive import StoredCrawl
from gregor.worker.api.archive_views import Brief, brief
from gregor.worker.api.backend import Backend, Counts, HostsQuery, Status
from gregor.worker.api.kept_rows import KeptRows
from gregor.worker.api.serving import serving
from gregor.worker.borders.clock import Clock
from gregor.worker.borders.coordinator import OrderBook
from gregor.worker.borders.members import Members, Owner
from gregor.worker.config.settings import Config
from gregor.worker.extract.drift import Fallen
from gregor.worker.frontier.counts import ERROR, STATUS, of_kind
from gregor.worker.inspect import machine
from gregor.worker.inspect.host_views import HOST_STATES, HostView
from gregor.worker.inspect.outlook import Outlook
from gregor.worker.inspect.rates import Rates
from gregor.worker.inspect.worker_state import Condition
from gregor.worker.operate.control import FolderControl


class FolderBackend(Backend):
    """A folder's. ``settled`` counts what is kept, by state, ``lag`` what waits; ``stop`` ends this process."""

    def __init__(
        self,
        name: str,
        config: Config,
        book: OrderBook,
        clock: Clock,
        archive: StoredCrawl,
        control: FolderControl,
        *,
        settled: Callable[[], Awaitable[dict[str, int]]],
        lag: Callable[[], Awaitable[int]],
        stop: Callable[[], None],
        kept: KeptRows,
    ) -> None:
        super().__init__(name, book, clock, archive, control)
        self._config = config
        self._settled = settled
        self._lag = lag
        self._end = stop
        self._kept = kept
        self._registry = prometheus.CollectorRegistry()
        prometheus.ProcessCollector(registry=self._registry)

    def unhealthy(self) -> str:
        return ""

    def unready(self) -> str:
        return ""

    async def status(self) -> Status:
        """What is kept, as counts; nothing moves here."""
        kept = Counter(await self._settled())
        pages, ok, size = (kept.pop(name, 0) for name in ("pages", "pages_200", "bytes"))
        by_kind = await self.archive.counts()
        statuses, errors = of_kind(by_kind, STATUS), of_kind(by_kind, ERROR)
        requests = by_kind.get("requests", 0)
        counts = Counts(pages, ok, size, requests, dict(kept), dict(sorted(statuses.items())), errors, ok, size)
        free, room = machine.disk(Path(self._config.data))
        waiting = await self._kept.waiting(await self._states())
        outlook = Outlook(waiting=await self._lag() if waiting is None else waiting, disk_free=free, disk_size=room)
        return Status(self._condition(await self.archive.drift()), Rates(0.0, 0.0, 0.0), counts, outlook)

    async def hosts(self, asked: HostsQuery) -> list[HostView]:
        """Those of the URLs that are kept: none takes a turn."""
        return await self._kept.hosts(await self._states(), asked)

    async def recent(self) -> list[Brief]:
        """The last that were visited before the end."""
        return [brief(row) for row in await self._kept.last(await self._states())]

    async def _states(self) -> dict[str, int]:
        """How many rows there are, by state."""
        settled = await self._settled()
        return {name: count for name, count in settled.items() if name not in ("pages", "pages_200", "bytes")}

    async def members(self) -> Members:
        return Members([], [Owner(number) for number in range(self._config.partitions)])

    async def metrics(self) -> bytes:
        """Of this process."""
        return prometheus.generate_latest(self._registry)

    def _stop(self) -> None:
        self._end()

    def _condition(self, drift: tuple[Fallen, ...]) -> Condition:
        return Condition(
            crawl=self._config.crawl,
            worker=self.name,
            version=__version__,
            state="stopped",
            limit="stopped",
            limiting="nothing: this console shows what is kept, and crawls nothing itself",
            advice="to go on, run `gregor crawl` with this data folder",
            seconds=0.0,
            partitions=0,
            running=0,
            concurrency=0,
            hosts=dict.fromkeys(HOST_STATES, 0),
            back_queues=0,
            front_queues=dict.fromkeys(PRIORITIES, 0),
            window=dict.fromkeys(PRIORITIES, 0),
            buckets=0,
            due=0,
            overdue=0.0,
            drift=drift,
        )


async def serve(config: Config, backend: FolderBackend, stop: asyncio.Event, started: Callable[[str], None]) -> None:
    """Serve until `stop`; `started` gets the URL. Raises `BadInput`."""
    async with serving(config, backend, os.environ, stop.set) as url:
        started(url)
        await stop.wait()
