"""The engine on servers: Kafka, ZooKeeper, Redis and Cassandra, for any number of workers."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TypeVar

from gregor.schemas.messages import DeadLetter
from gregor.worker.adapters.cluster import engine as cluster
from gregor.worker.adapters.cluster import verifying
from gregor.worker.adapters.cluster.coordinator import ClusterCoordinator
from gregor.worker.adapters.cluster.probes import PROBES
from gregor.worker.adapters.cluster.rebuild import Rebuilt
from gregor.worker.adapters.when_there import nobody, when_there
from gregor.worker.base.errors import BadInput
from gregor.worker.base.tasks import cancel
from gregor.worker.borders.changes import ChangeFeed
from gregor.worker.borders.clock import Clock
from gregor.worker.borders.coordinator import Coordinator
from gregor.worker.borders.errors import TellDamage, Unavailable
from gregor.worker.borders.items import ItemWriter
from gregor.worker.borders.members import ClusterStatus, Members
from gregor.worker.borders.reader import Part, Reader
from gregor.worker.borders.stock import Mending, Stock
from gregor.worker.compose import opensearch_findings
from gregor.worker.compose.engine import CrawlPlace, Prepared
from gregor.worker.compose.findings import Finding, hurried, no_connection
from gregor.worker.compose.housekeeping import keep_house, recount
from gregor.worker.compose.process import SystemClock, tokens_are_there, worker_name
from gregor.worker.compose.rebuilding import Tell, rebuild_seen
from gregor.worker.compose.staleness import LOOSE_FOR, StaleUrls
from gregor.worker.config.servers import SERVERS, check_server, password
from gregor.worker.config.settings import Config
from gregor.worker.config.sources import Settings
from gregor.worker.frontier.ahead import MARGIN, apart, days
from gregor.worker.links.configured import canonical_rules, urls_of
from gregor.worker.links.known_ranks import HighestRanks
from gregor.worker.observe.instrumented import instrumented
from gregor.worker.operate.control import Control
from gregor.worker.operate.erase import Erased, HowFar, Looked, Whose
from gregor.worker.operate.sketching import Sketched
from gregor.worker.orders.model import Change, Orders
from gregor.worker.run.ending import has_ended
from gregor.worker.run.runtime import Runtime
from gregor.worker.web.urls import Urls

T = TypeVar("T")


class OpenServers:
    """The engine as one worker has it open; see `OpenEngine`."""

    def __init__(self, config: Config, engine: cluster.ClusterEngine) -> None:
        self.log, self.seen, self.store, self.coordinator = engine.log, engine.seen, engine.store, engine.coordinator
        self.addresses = engine.seen.addresses
        self.settler = None
        self.close = engine.close
        self._config = config
        self._engine = engine

    async def reader(self, stack: AsyncExitStack) -> Reader:
        """It has the worker's own connections."""
        return self._engine.reader

    def members(self, runtime: Runtime, clock: Clock) -> Callable[[], Awaitable[Members]]:
        """By ZooKeeper; what it takes is measured."""
        return instrumented(self.coordinator, "coordinator", runtime.stats, clock=clock.monotonic).members

    @asynccontextmanager
    async def housekeeping(
        self, runtime: Runtime, api: str, measure: Callable[[list[str]], None]
    ) -> AsyncIterator[None]:
        """What the workers tell and learn of each other, every few seconds; what is counted, once before they start."""
        await when_there(lambda: recount(self._config, self._engine, runtime), self._config.start_timeout, self._config)
        keeping = [asyncio.create_task(keep_house(self._config, self._engine, runtime, api, measure))]
        if (stale := self._stale(lambda: 0 in runtime.owned)) is not None:
            keeping.append(asyncio.create_task(stale.keep(SystemClock.monotonic)))
        for task in keeping:  # none ends by itself: what failed is raised once the worker has let go
            task.add_done_callback(lambda _: runtime.stop("because what it does beside the crawl failed"))
        try:
            yield
        finally:
            await cancel(keeping)
        for task in keeping:
            if not task.cancelled():
                task.result()

    async def stale(self, stack: AsyncExitStack) -> StaleUrls | None:
        """What drops stale URLs; None where they are kept."""
        return self._stale(lambda: True)

    def _stale(self, is_mine: Callable[[], bool]) -> StaleUrls | None:
        """``is_mine``: of all workers only the owner of the first partition looks."""
        after, engine = self._config.stale_after, self._engine
        if after is None:
            return None
        return StaleUrls(
            after,
            log=engine.log,
            reader=engine.reader,
            now=engine.coordinator.now,
            collect=lambda: engine.collect_bodies(LOOSE_FOR),
            visits_again=self._config.revisit is not None,
            has_ended=partial(has_ended, engine.log, engine.store, self._config.partitions),
            is_mine=is_mine,
        )

    async def known_ranks(self, seen: int) -> HighestRanks | None:
        """Those that `gregor rank` put into the crawl's keyspace."""
        return await self._engine.known_ranks(seen)

    async def go_on(self, settings: Settings, tell: Callable[[str], None]) -> int:
        """On servers the settings are those of the deployment; what is looked at is whose time the crawl has."""
        now = self.coordinator.now()
        if text := of_servers_clock(now - SystemClock().wall()):
            tell(text)
        newest = await when_there(
            lambda: self._engine.newest(self._config.bucket_width), self._config.start_timeout, self._config
        )
        if newest - now > MARGIN:
            tell(
                f"the dates of this crawl are {days(newest - now)} ahead of ZooKeeper's clock, which was "
                "ahead: stop all workers, then `gregor check --mend` sets them right"
            )
        return 0


def of_servers_clock(ahead: float) -> str:
    """What is to be said of a ZooKeeper whose clock is so many seconds ahead of this machine's; empty for little."""
    if abs(ahead) <= MARGIN:
        return ""
    return (
        f"ZooKeeper's clock, which dates this crawl, is {apart(ahead)} this machine's: stop the workers and set it "
        "right, or pages are visited again by wrong dates"
    )


class Cluster:
    """A crawl on the servers that the settings name; see `Engine`."""

    def __init__(self, config: Config) -> None:
        self._config = config

    @property
    def place(self) -> CrawlPlace:
        return CrawlPlace(f"crawl {self._config.crawl}", counted=False)

    def there(self) -> None:
        """The servers say it."""

    def workers(self) -> set[str] | None:
        async def read(coordinator: ClusterCoordinator) -> set[str]:
            return {worker.name for worker in (await coordinator.members()).workers}

        return asyncio.run(self._by_coordinator(read))

    def orders(self) -> Orders:
        async def read(coordinator: Coordinator) -> Orders:
            return coordinator.orders()

        return asyncio.run(self._by_coordinator(read))

    def changes(self, before: int, limit: int) -> list[Change]:
        return asyncio.run(self._by_coordinator(lambda coordinator: coordinator.changes(before, limit)))

    def change_orders(self, change: Callable[[Orders], Orders]) -> Orders:
        return asyncio.run(self._by_coordinator(lambda coordinator: coordinator.change_orders(change)))

    async def open(self, *, listening: bool = False) -> OpenServers:
        """Raises `BadInput` when a server stays away longer than ``start_timeout``."""
        if not (listening and self._config.listen):
            return await self._open(nobody)
        from gregor.worker.api.starting import starting

        async with starting(self._config) as away:
            return await self._open(away)

    async def _open(self, away: Callable[[Unavailable], None]) -> OpenServers:
        engine = await cluster.open_engine(
            self._config, self._canonical, worker_name(), SystemClock(), os.environ, away
        )
        return OpenServers(self._config, engine)

    async def read(self) -> tuple[Reader, Urls]:
        return await cluster.open_reader(self._config, self._canonical, os.environ), urls_of(self._config)

    async def feed(self, on_damage: TellDamage) -> ChangeFeed:
        raise BadInput("an index is made of a crawl on one machine: name its data folder with --data")

    async def identity(self) -> str:
        raise BadInput("the index of a crawl on servers knows it by its tables")

    def put_letter(self, letter: DeadLetter) -> None:
        raise BadInput("a crawl on servers has its dead letters from who follows its events")

    @asynccontextmanager
    async def controlled(self, *, make: bool = False) -> AsyncIterator[Control]:
        """``make`` makes nothing: `init` does."""
        async with AsyncExitStack() as stack:
            engine = await self.open()
            stack.push_async_callback(engine.close)
            yield Control(engine.log, engine.store, engine.coordinator, await engine.reader(stack))

    async def stock(self) -> Stock:
        return await verifying.open_stock(self._config, self._canonical, os.environ)

    async def mending(self) -> Mending:
        return await verifying.open_mending(self._config, self._canonical, os.environ, SystemClock())

    async def items(self) -> ItemWriter:
        return await cluster.open_items(self._config, self._canonical, os.environ)

    async def erase(self, target: str, tell: HowFar) -> Erased:
        whose = Whose.of(target, urls_of(self._config))
        return await cluster.erase(self._config, self._canonical, whose, Looked(tell), os.environ)

    async def rebuild_near(self, part: Part, tell: Callable[[Sketched], None]) -> Sketched:
        return await cluster.rebuild_near(self._config, self._canonical, os.environ, part, tell)

    async def serve_console(self, name: str, clock: Clock, stop: asyncio.Event, started: Callable[[str], None]) -> None:
        """Raises what ended the coordinator, too."""
        from gregor.worker.api.crawl_backend import serve
        from gregor.worker.compose.stored_crawl import stored_crawl

        async with AsyncExitStack() as stack:
            engine = await self.open(listening=True)
            stack.push_async_callback(engine.close)
            reader, coordinator = await engine.reader(stack), engine.coordinator
            control = Control(engine.log, engine.store, coordinator, reader)
            archive = stored_crawl(self._config, reader, clock)
            await serve(self._config, name, coordinator, clock, archive, control, coordinator.members, stop, started)

    async def counted(self) -> dict[str, int]:
        """Nothing: counting would read all of it."""
        return {}

    async def status(self) -> ClusterStatus:
        return await cluster.cluster_status(self._config, SystemClock(), os.environ)

    async def init(self) -> Prepared:
        tokens_are_there(self._config)
        return Prepared(*await cluster.set_up(self._config, self._canonical, SystemClock(), os.environ))

    def rebuild_seen(self, part: Part, processes: int, tell: Tell, *, anew: bool) -> list[Rebuilt]:
        return rebuild_seen(self._config, part, processes, tell, anew=anew)

    def joinable(self) -> None:
        """By any number of workers."""

    def check(self, environ: Mapping[str, str]) -> None:
        for server in SERVERS:
            password(self._config, server, environ)

    async def examine(self, environ: Mapping[str, str]) -> AsyncIterator[Finding]:
        for server in SERVERS:
            reached = [await _reach(server, where) for where in getattr(self._config, server)]
            for finding in reached:
                yield finding
            if all(finding.level == "ok" for finding in reached):
                yield await self._ask(server, environ)
        async for finding in opensearch_findings.examine(self._config, environ):
            yield finding

    async def _ask(self, server: str, environ: Mapping[str, str]) -> Finding:
        """Whether it answers a worker's own client, which has a name and a password, and speaks TLS or not."""
        config = hurried(self._config)
        try:
            check_server(config, server, environ)
            await PROBES[server](config, SystemClock(), environ)
        except (BadInput, Unavailable) as error:
            return Finding("fail", server, str(error))
        return Finding("ok", server, "answers as it is configured")

    @property
    def _canonical(self) -> str:
        return canonical_rules(self._config).fingerprint()

    async def _by_coordinator(self, call: Callable[[ClusterCoordinator], Awaitable[T]]) -> T:
        config = self._config
        check_server(config, "zookeeper", os.environ)
        coordinator = await ClusterCoordinator.open(
            config, config.crawl, config.partitions, worker_name(), SystemClock()
        )
        try:
            return await call(coordinator)
        finally:
            await coordinator.close()


async def _reach(server: str, where: str) -> Finding:
    host, _, port = where.rpartition(":")
    if not port.isdecimal():
        return Finding("fail", server, f"{where} must be HOST:PORT")
    problem = await no_connection(host.strip("[]"), int(port))
    return Finding("fail" if problem else "ok", server, f"{where} {problem or 'accepts connections'}")
