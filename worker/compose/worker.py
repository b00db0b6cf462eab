"""The composition root: which engine and network make a worker."""

import os
import random
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from gregor.worker.adapters.when_there import when_there
from gregor.worker.api import opening
from gregor.worker.base.errors import complain
from gregor.worker.borders.clock import Clock
from gregor.worker.borders.services import Services
from gregor.worker.compose import network
from gregor.worker.compose.engine import OpenEngine, engine_of
from gregor.worker.compose.extraction import extraction_of
from gregor.worker.compose.known_ranks import kept_up, ranking
from gregor.worker.compose.process import SystemClock, console_line, tokens_are_there, worker_name
from gregor.worker.config.credentials import authorizations
from gregor.worker.config.settings import Config
from gregor.worker.config.sources import Settings
from gregor.worker.links.configured import scope_rules, urls_of
from gregor.worker.links.scope import Scope
from gregor.worker.observe import logging
from gregor.worker.observe.stats import Stats
from gregor.worker.operate import seeds as seeding
from gregor.worker.operate.control import Control
from gregor.worker.operate.seeds import Seed
from gregor.worker.run.ending import Ending, has_ended
from gregor.worker.run.runtime import Runtime


@dataclass(frozen=True)
class Finished:
    """The crawl had ended before, and nothing new was seeded."""


async def crawl(
    config: Config,
    seeds: Iterable[Seed],
    started: Callable[[Runtime], None],
    settings: Settings | None = None,
    tell: Callable[[str], None] = complain,
    authorized: Mapping[str, str] | None = None,
) -> Ending | Finished:
    """Seed and crawl until it ends; `started` gets the worker that `stop` ends.

    ``settings``: where those of ``config`` come from, so that a data folder keeps them; ``tell`` hears what those that
    changed let in; ``authorized``: Authorization headers by origin that go before those of the settings.

    Raises `ConfigError`, and what opening the engine raises.
    """
    table, rules, clock = network.host_table(config), scope_rules(config), SystemClock()
    extraction, ranks = ranking(extraction_of(config))
    cookies = network.cookies(config, tell)
    secrets, name = authorizations(config, os.environ) | dict(authorized or {}), worker_name()
    logging.identify(config.crawl, name)
    tokens_are_there(config)
    async with AsyncExitStack() as stack:
        if (tracer := network.tracer(config, name)) is not None:
            stack.push_async_callback(tracer.close)
        stats = Stats()
        transport = network.transport(config, table, stats)
        stack.push_async_callback(transport.close)
        resolver = network.resolver(config, table, clock.monotonic, stats)
        engine = await engine_of(config).open(listening=True)
        stack.push_async_callback(engine.close)
        await stack.enter_async_context(kept_up(ranks, engine))
        ended = await has_ended(engine.log, engine.store, config.partitions)
        published = await seeding.publish(engine.log, engine.store, seeds, unless_known=ended)
        if settings is not None:
            published += await engine.go_on(settings, tell)
        hosts = await when_there(engine.store.seed_hosts, config.start_timeout, config)
        if ended and hosts and not published and not config.linger:
            return Finished()
        services = Services(engine.log, engine.seen, engine.store, engine.coordinator, transport, resolver)
        runtime = Runtime(
            config,
            services,
            clock,
            urls=urls_of(config),
            scope=Scope(rules, hosts),
            random=random.Random(),
            name=name,
            stats=stats,
            authorizations=secrets,
            cookies=cookies,
            tracer=tracer,
            extraction=extraction,
        )

        def measure(hosts: list[str]) -> None:
            runtime.measure(Scope(rules, hosts))

        config = opening.with_token(config)
        serving = _serving(config, engine, runtime, clock, measure)
        api = await stack.enter_async_context(serving) if config.listen else ""
        if config.listen:
            stack.enter_context(opening.announced(config, api))
            tell(console_line(config, api))
        await stack.enter_async_context(engine.housekeeping(runtime, api, measure))
        started(runtime)
        return await runtime.run()


@asynccontextmanager
async def _serving(
    config: Config, engine: OpenEngine, runtime: Runtime, clock: Clock, measure: Callable[[list[str]], None]
) -> AsyncIterator[str]:
    """The API of a worker, while it runs; whoever does not listen need not load a server."""
    from gregor.worker.api.archive import StoredCrawl
    from gregor.worker.api.serving import serving
    from gregor.worker.api.worker_backend import WorkerBackend
    from gregor.worker.compose import record_indexes
    from gregor.worker.compose.search import latest

    async with AsyncExitStack() as stack:
        reader, services = await engine.reader(stack), runtime.services
        archive = StoredCrawl(
            reader, urls_of(config), config, latest(config, clock.monotonic), record_indexes.latest(config)
        )
        if archive.searching is not None:
            archive.searching.timing = runtime.stats.searches
        control = Control(services.log, services.store, services.coordinator, reader)
        members = engine.members(runtime, clock)
        backend = WorkerBackend(runtime, config, clock, archive, control, measure, members)
        yield await stack.enter_async_context(
            serving(config, backend, os.environ, lambda: runtime.stop("because its API ended"))
        )
