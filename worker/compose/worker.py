"""The composition root: which engine and network make a worker."""

import os
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

from gregor.worker.adapters.when_there import when_there
from gregor.worker.api import opening
from gregor.worker.base.errors import complain
from gregor.worker.borders.clock import Clock
from gregor.worker.compose.engine import OpenEngine, engine_of
from gregor.worker.compose.process import console_line
from gregor.worker.compose.shares import number_of
from gregor.worker.compose.worker_parts import WorkerParts
from gregor.worker.config.settings import Config
from gregor.worker.config.sources import Settings
from gregor.worker.extract.crawled import Extraction
from gregor.worker.observe.stats import Stats
from gregor.worker.operate import seeds as seeding
from gregor.worker.operate.control import Control
from gregor.worker.operate.seeds import Seed
from gregor.worker.run.ending import Ending, has_ended
from gregor.worker.run.runtime import Runtime


@dataclass(frozen=True)
class Finished:
    """The crawl had ended before, and nothing new was seeded."""


class Crawling(Protocol):
    """A crawl that runs, in this process or in several."""

    @property
    def stats(self) -> Stats: ...

    def stop(self, detail: str = "by a signal") -> None:
        """End it cleanly."""

    def gauge(self) -> None:
        """Bring up to date what people are shown."""


async def crawl(
    config: Config,
    seeds: Iterable[Seed],
    started: Callable[[Crawling], None],
    settings: Settings | None = None,
    tell: Callable[[str], None] = complain,
    authorized: Mapping[str, str] | None = None,
    extraction: Extraction | None = None,
) -> Ending | Finished:
    """Seed and crawl until it ends, in one process or several; `started` gets what `stop` ends.

    ``settings``: where those of ``config`` come from, so that a data folder keeps them; ``tell`` hears what those that
    changed let in; ``authorized``: Authorization headers by origin that go before those of the settings;
    ``extraction``: None for what the configuration says.

    Raises `ConfigError`, and what opening the engine raises.
    """
    if extraction is None and number_of(config) > 1:
        from gregor.worker.compose import processes  # heavy: only where there are several

        return await processes.crawl(config, seeds, started, settings, tell, authorized)
    async with AsyncExitStack() as stack:
        parts = WorkerParts(config, stack, tell, authorized, extraction)
        engine = await engine_of(config).open(listening=True)
        stack.push_async_callback(engine.close)
        await parts.ranked(engine, stack)
        hosts = await begin(config, engine, seeds, settings, tell, stack)
        if hosts is None:
            return Finished()
        runtime = parts.runtime(engine, hosts)

        def measure(hosts: list[str]) -> None:
            runtime.measure(parts.scope(hosts))

        config = opening.with_token(config)
        serving = worker_api(config, engine, runtime, parts.clock, measure)
        api = await stack.enter_async_context(serving) if config.listen else ""
        if config.listen:
            stack.enter_context(opening.announced(config, api))
            tell(console_line(config, api))
        await stack.enter_async_context(engine.housekeeping(runtime, api, measure))
        started(runtime)
        return await runtime.run()


async def begin(
    config: Config,
    engine: OpenEngine,
    seeds: Iterable[Seed],
    settings: Settings | None,
    tell: Callable[[str], None],
    stack: AsyncExitStack,
) -> list[str] | None:
    """Publish what is to be crawled; the hosts of all seeds, or None when there is nothing left to do.

    What is opened for that is closed with ``stack``.
    """
    ended = await has_ended(engine.log, engine.store, config.partitions)
    published = await seeding.publish(engine.log, engine.store, seeds, unless_known=ended)
    if settings is not None:
        published += await engine.go_on(settings, tell)
    if ended and not published and (stale := await engine.stale(stack)) is not None:
        published += await stale.ask()
    hosts = await when_there(engine.store.seed_hosts, config.start_timeout, config)
    return None if ended and hosts and not published and not config.linger else hosts


@asynccontextmanager
async def worker_api(
    config: Config, engine: OpenEngine, runtime: Runtime, clock: Clock, measure: Callable[[list[str]], None]
) -> AsyncIterator[str]:
    """The API of a worker, while it runs; whoever does not listen need not load a server."""
    from gregor.worker.api.serving import serving
    from gregor.worker.api.worker_backend import WorkerBackend
    from gregor.worker.compose.stored_crawl import stored_crawl

    async with AsyncExitStack() as stack:
        reader, services = await engine.reader(stack), runtime.services
        archive = stored_crawl(config, reader, clock)
        if archive.searching is not None:
            archive.searching.timing = runtime.stats.searches
        control = Control(services.log, services.store, services.coordinator, reader)
        members = engine.members(runtime, clock)
        backend = WorkerBackend(runtime, config, clock, archive, control, measure, members)
        yield await stack.enter_async_context(
            serving(config, backend, os.environ, lambda: runtime.stop("because its API ended"))
        )
