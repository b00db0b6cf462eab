"""`gregor import`: a crawl owned for as long as recorded pages are put into it. No page is ever asked for."""

import asyncio
import math
import os
import random
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final

from gregor.partitioner.hashing import partition_of
from gregor.worker.adapters.when_there import when_there
from gregor.worker.archives.book import RecordBook
from gregor.worker.archives.examining import Examines, ExaminesHere, elsewhere
from gregor.worker.archives.files import WarcFile
from gregor.worker.archives.owners import OwnedPartitions
from gregor.worker.archives.recorded import Recordings
from gregor.worker.archives.take_in import LeftOut, TakesIn
from gregor.worker.base import children
from gregor.worker.base.errors import complain
from gregor.worker.borders.effects import Retries
from gregor.worker.borders.errors import Unavailable
from gregor.worker.borders.resolver import DnsFailure
from gregor.worker.borders.services import Services
from gregor.worker.borders.transport import Failure, FetchResult, Limits, Permit, Request
from gregor.worker.compose.engine import engine_of
from gregor.worker.compose.process import worker_name
from gregor.worker.compose.reading_records import examiner_of
from gregor.worker.config.settings import Config
from gregor.worker.links.configured import scope_rules, urls_of
from gregor.worker.links.scope import OutOfScope, Scope
from gregor.worker.observe.stats import Stats
from gregor.worker.orders.in_force import OrdersInForce
from gregor.worker.settle.verdicts import Policy
from gregor.worker.web.urls import Url

_NONE: Final = "an import makes no requests"
_ROBOTS: Final = "/robots.txt"


@asynccontextmanager
async def taking_in(
    config: Config, files: Sequence[WarcFile], book: RecordBook, *, scoped: bool, host: str | None, processes: int = 1
) -> AsyncIterator[TakesIn]:
    """What takes the records of files into a crawl: that of a data folder, which is made if need be, or on servers.

    ``scoped``: only what the scope of the crawl allows; ``host``: only that one's; ``processes``: how many read, beside
    this one that writes if there are several. Raises `BadInput`, `FolderInUse`.
    """
    async with AsyncExitStack() as stack:
        place = engine_of(config)
        engine = await place.open()
        stack.push_async_callback(engine.close)
        reader = await engine.reader(stack)
        hosts = await when_there(engine.store.seed_hosts, config.start_timeout, config)
        urls, stats = urls_of(config), Stats()
        scope, orders = Scope(scope_rules(config), hosts), OrdersInForce(engine.coordinator.orders)

        def refusal(url: Url) -> LeftOut | None:
            if orders.opted_out(url.host):
                return "opted out"
            if host not in (None, url.host) or (scoped and isinstance(scope.allows(url), OutOfScope)):
                return "scope"
            return "robots.txt" if url.target.partition("?")[0] == _ROBOTS else None

        examines: Examines = ExaminesHere(examiner_of(config))
        if processes > 1:
            command, inherited = children.python("gregor.worker.compose.reading_records"), dict(os.environ)
            reading = elsewhere(examines, processes, command, inherited, config)
            examines = await stack.enter_async_context(reading)
        borders = engine.log, engine.seen, engine.store, engine.coordinator
        services = Services(*borders, _NoTransport(), _NoResolver(), settler=engine.settler)

        async def workers() -> set[str]:
            return await asyncio.to_thread(place.workers) or set()

        owners = OwnedPartitions(
            config,
            services,
            orders=orders,
            retries=Retries(_Away(), random.Random()),
            stats=stats,
            name=worker_name(),
            workers=workers,
        )
        await stack.enter_async_context(owners.held(_needed(config, host)))
        yield TakesIn(
            Recordings(files, book, reader, urls, config.max_body),
            services=services,
            owners=owners,
            examines=examines,
            policy=Policy.of(config),
            urls=urls,
            refusal=refusal,
            opted_out=orders.opted_out,
            longest_wait=config.retry_after_max,
            name=worker_name(),
        )


def _needed(config: Config, host: str | None) -> Iterable[int]:
    """The partitions that are owned from the start on, so that no worker takes one meanwhile: a folder has no other."""
    if config.on_one_machine:
        return ()
    return range(config.partitions) if host is None else (partition_of(host, config.partitions),)


class _Away:
    """Says of each service once that it is away."""

    def __init__(self) -> None:
        self._named: set[str] = set()

    def retrying(self, error: Unavailable) -> None:
        if error.service not in self._named:
            self._named.add(error.service)
            complain(f"{error}; trying again")


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
