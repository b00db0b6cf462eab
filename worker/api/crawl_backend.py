"""The API of a whole crawl on servers: a process that owns nothing reads the stores, and asks the workers."""

import asyncio
import math
import os
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager
from heapq import nlargest
from urllib.parse import urlencode

import msgspec
import prometheus_client as prometheus

from gregor.worker.api.aggregate import added_up, first_hosts
from gregor.worker.api.archive import StoredCrawl
from gregor.worker.api.archive_views import Brief
from gregor.worker.api.backend import Backend, HostsQuery, Status
from gregor.worker.api.peers import Peers
from gregor.worker.api.serving import serving
from gregor.worker.base.tasks import cancel
from gregor.worker.borders.clock import Clock
from gregor.worker.borders.coordinator import Coordinator, listen
from gregor.worker.borders.errors import Unavailable
from gregor.worker.borders.members import Members, Worker
from gregor.worker.config.api import token
from gregor.worker.config.settings import Config
from gregor.worker.inspect.host_views import HostView
from gregor.worker.observe.logging import Log
from gregor.worker.observe.stats import RECENT
from gregor.worker.operate.control import Control

_LOG = Log("api")
_SAMPLE = 1.0  # seconds for which an answer of all workers is good enough
_COUNT_AGAIN = 2.0  # seconds for which the crawl's counts are: a record of each partition is read for them


class _Recent(msgspec.Struct):
    urls: list[Brief]


class _Hosts(msgspec.Struct):
    hosts: list[HostView]


class CrawlBackend(Backend):
    """Every worker's. ``members``: who they are; ``counts``: of the crawl; ``stop`` ends this process."""

    def __init__(
        self,
        name: str,
        crawl: str,
        coordinator: Coordinator,
        clock: Clock,
        archive: StoredCrawl,
        control: Control,
        peers: Peers,
        *,
        members: Callable[[], Awaitable[Members]],
        counts: Callable[[], Awaitable[dict[str, int]]],
        stop: Callable[[], None],
    ) -> None:
        super().__init__(name, coordinator, clock, archive, control)
        self._crawl = crawl
        self._peers = peers
        self._look = members
        self._count = counts
        self._kept: dict[str, int] | None = None
        self._counted = -math.inf
        self._end = stop
        self._last_members = Members([], [])
        self._away = ""
        self._asking: asyncio.Task[Status] | None = None
        self._asked = 0.0
        self._registry = prometheus.CollectorRegistry()
        prometheus.ProcessCollector(registry=self._registry)

    def unhealthy(self) -> str:
        return ""

    def unready(self) -> str:
        return f"{self._away} is away" if self._away else ""

    async def members(self) -> Members:
        try:
            self._last_members = await self._look()
        except Unavailable as error:
            self._away = error.service
            raise
        self._away = ""
        return self._last_members

    async def status(self) -> Status:
        """All workers' as one. While the coordinator is away those are asked that were there last."""
        now = self._clock.monotonic()
        if self._asking is None or (self._asking.done() and now - self._asked >= _SAMPLE):
            self._asking, self._asked = asyncio.create_task(self._ask()), now
        return await asyncio.shield(self._asking)

    async def hosts(self, asked: HostsQuery) -> list[HostView]:
        fields = {name: value for name, value in msgspec.structs.asdict(asked).items() if value}
        found = await self._peers.ask(await self._workers(), f"hosts?{urlencode(fields)}", _Hosts)
        return first_hosts((host for one in found for host in one.hosts), asked)

    async def recent(self) -> list[Brief]:
        answers = await self._peers.ask(await self._workers(), "recent", _Recent)
        return nlargest(RECENT, (visit for answer in answers for visit in answer.urls), key=lambda visit: visit.at)

    async def metrics(self) -> bytes:
        """Of this process; the workers have their own."""
        return prometheus.generate_latest(self._registry)

    def _stop(self) -> None:
        self._end()

    async def _workers(self) -> list[Worker]:
        """Those that are there, or were when that could be asked last."""
        try:
            return (await self.members()).workers
        except Unavailable:
            return self._last_members.workers

    async def _ask(self) -> Status:
        workers = await self._workers()
        statuses = await self._peers.ask(workers, "status", Status)
        return added_up(statuses, self._crawl, self.name, len(workers), await self._counts())

    async def _counts(self) -> dict[str, int] | None:
        """Of the crawl. While the store is away, what was known."""
        now = self._clock.monotonic()
        if now - self._counted >= _COUNT_AGAIN:
            try:
                self._kept = await self._count()
            except Unavailable as error:
                _LOG.warning("counts are not to be had", error=str(error))
            self._counted = self._clock.monotonic()
        return self._kept


@contextmanager
def backend_of(
    config: Config,
    name: str,
    coordinator: Coordinator,
    clock: Clock,
    archive: StoredCrawl,
    control: Control,
    members: Callable[[], Awaitable[Members]],
    stop: Callable[[], None],
) -> Iterator[CrawlBackend]:
    """The crawl's, which asks the workers while the block runs. Raises `BadInput`."""
    secret = token(config, "viewer", os.environ) or token(config, "operator", os.environ)
    with closing(Peers(secret)) as peers:
        yield CrawlBackend(
            name,
            config.crawl,
            coordinator,
            clock,
            archive,
            control,
            peers,
            members=members,
            counts=archive.counts,
            stop=stop,
        )


async def serve(
    config: Config,
    name: str,
    coordinator: Coordinator,
    clock: Clock,
    archive: StoredCrawl,
    control: Control,
    members: Callable[[], Awaitable[Members]],
    stop: asyncio.Event,
    started: Callable[[str], None],
) -> None:
    """Serve until `stop`; `started` gets the URL. Raises `BadInput`, and what ended the coordinator."""
    with backend_of(config, name, coordinator, clock, archive, control, members, stop.set) as backend:
        async with serving(config, backend, os.environ, stop.set) as url:
            started(url)
            ends = [asyncio.create_task(stop.wait()), asyncio.create_task(listen(coordinator))]
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            if ends[1].done():
                ends[1].result()
            await cancel(ends)
