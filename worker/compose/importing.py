"""`gregor import`: a data folder taken for as long as recorded pages are put into it. No network is ever made."""

import asyncio
import math
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final

from gregor.partitioner.hashing import partition_of
from gregor.worker.archives.book import RecordBook
from gregor.worker.archives.files import WarcFile
from gregor.worker.archives.recorded import Recordings
from gregor.worker.archives.take_in import DATE, LeftOut, OwnedPartition, TakesIn
from gregor.worker.base.errors import BadInput
from gregor.worker.borders.effects import Retries
from gregor.worker.borders.resolver import DnsFailure
from gregor.worker.borders.services import Services
from gregor.worker.borders.transport import Failure, FetchResult, Limits, Permit, Request
from gregor.worker.compose.engine import OpenEngine, engine_of
from gregor.worker.compose.extraction import extraction_of
from gregor.worker.compose.process import worker_name
from gregor.worker.config.settings import Config
from gregor.worker.examine import Examiner
from gregor.worker.frontier.sent import RecentlySent
from gregor.worker.links.configured import scope_rules, urls_of
from gregor.worker.links.scope import OutOfScope, Scope, ScopeRules
from gregor.worker.links.traps import Traps
from gregor.worker.observe.stats import Stats
from gregor.worker.orders.in_force import OrdersInForce
from gregor.worker.read.configured import configured
from gregor.worker.read.processors import installed
from gregor.worker.run.takeover import TakeOver
from gregor.worker.settle.page_writer import PageWriter
from gregor.worker.settle.verdicts import Policy
from gregor.worker.web.urls import Url

_NONE: Final = "an import makes no requests"
_ROBOTS: Final = "/robots.txt"


@asynccontextmanager
async def taking_in(
    config: Config, files: Sequence[WarcFile], book: RecordBook, *, scoped: bool, host: str | None
) -> AsyncIterator[TakesIn]:
    """What takes the records of files into the crawl of a data folder, which is made if need be.

    ``scoped``: only what the scope of the crawl allows; ``host``: only that one's. Raises `BadInput`, `FolderInUse`.
    """
    if not config.on_one_machine:
        raise BadInput("recorded pages are taken into a data folder: name one with --data, without servers")
    async with AsyncExitStack() as stack:
        engine = await engine_of(config).open()
        stack.push_async_callback(engine.close)
        reader = await engine.reader(stack)
        anywhere = Scope(ScopeRules("any"))  # links are recorded, whatever their scope: none is followed
        hosts, urls, stats = await engine.store.seed_hosts(), urls_of(config), Stats()
        scope, orders = Scope(scope_rules(config), hosts), OrdersInForce(engine.coordinator.orders)

        def refusal(url: Url) -> LeftOut | None:
            if orders.opted_out(url.host):
                return "opted out"
            if host not in (None, url.host) or (scoped and isinstance(scope.allows(url), OutOfScope)):
                return "scope"
            return "robots.txt" if url.target.partition("?")[0] == _ROBOTS else None

        extraction = extraction_of(config)
        examiner = Examiner(
            config,
            urls=urls,
            scope=lambda: anywhere,
            now=DATE.get,
            stats=stats,
            processors=configured(extraction.processors or installed(), config),
            sent=_AllSent(0),
            traps=Traps(),
            extraction=extraction,
        )
        owners = _Owners(config, engine, stats)
        stack.push_async_callback(owners.release)
        yield TakesIn(
            Recordings(files, book, reader, urls, config.max_body),
            store=engine.store,
            seen=engine.seen,
            examiner=examiner,
            policy=Policy.of(config),
            urls=urls,
            owner_of=owners.of,
            refusal=refusal,
            longest_wait=config.retry_after_max,
            name=worker_name(),
        )


class _Owners:
    """The partitions that are owned meanwhile, each taken when a host of it comes first."""

    def __init__(self, config: Config, engine: OpenEngine, stats: Stats) -> None:
        self._config = config
        self._engine = engine
        self._stats = stats
        self._chance = random.Random()
        self._retries = Retries(stats, self._chance)
        services = Services(engine.log, engine.seen, engine.store, engine.coordinator, _NoTransport(), _NoResolver())
        self._take_over = TakeOver(config, services, stats, worker_name())
        self._owners: dict[int, asyncio.Task[OwnedPartition]] = {}

    async def of(self, host: str) -> OwnedPartition:
        """That of a host's partition."""
        number = partition_of(host, self._config.partitions)
        if number not in self._owners:
            self._owners[number] = asyncio.create_task(self._taken(number))
        return await self._owners[number]

    async def _taken(self, number: int) -> OwnedPartition:
        store, seen = self._engine.store, self._engine.seen
        record = await store.partition(number)
        lease = await self._engine.coordinator.acquire(number, record.epoch)
        assert lease is not None  # the folder is ours, and each partition is asked for once
        effects = self._retries.under(lease)
        partition, _ = await self._take_over.take(lease, effects)
        pages = PageWriter(
            partition,
            store=store,
            seen=seen,
            effects=effects,
            traps=Traps(),
            stats=self._stats,
            near_duplicate_share=self._config.near_duplicate_share,
        )
        return OwnedPartition(partition, effects, pages)

    async def release(self) -> None:
        """Let them go."""
        for owner in await asyncio.gather(*self._owners.values(), return_exceptions=True):
            if isinstance(owner, OwnedPartition):
                await self._engine.coordinator.release(owner.partition.lease)


class _AllSent(RecentlySent):
    """Knows every link: no ticket is made of any."""

    def knows(self, fingerprint: int, depth: int = 0) -> bool:
        return True


class _NoTransport:
    """In the place of a transport, which nothing asks."""

    async def fetch(self, request: Request, limits: Limits, permit: Permit) -> FetchResult:
        return Failure("local", _NONE)

    async def close(self) -> None:
        return


class _NoResolver:
    """In the place of a resolver, which nothing asks."""

    def remembered(self, hostname: str, port: int) -> DnsFailure:
        return DnsFailure("local", _NONE, math.inf)

    async def resolve(self, hostname: str, port: int) -> DnsFailure:
        return DnsFailure("local", _NONE, math.inf)
