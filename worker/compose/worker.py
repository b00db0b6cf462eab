"""The composition root: which engine and network make a worker. The only place that asks for the engine."""

import asyncio
import os
import random
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gregor.worker.adapters import embedded
from gregor.worker.adapters.when_there import when_there
from gregor.worker.borders.clock import Clock
from gregor.worker.borders.services import Services
from gregor.worker.compose import network
from gregor.worker.compose.engines import (
    SystemClock,
    engine_of_a_server,
    reader_beside,
    settled,
    tokens_are_there,
    worker_name,
)
from gregor.worker.config.credentials import authorizations
from gregor.worker.config.settings import Config
from gregor.worker.links.configured import scope_rules, urls_of
from gregor.worker.links.scope import Scope
from gregor.worker.observe import logging
from gregor.worker.observe.instrumented import instrumented
from gregor.worker.observe.stats import Stats
from gregor.worker.operate import seeds as seeding
from gregor.worker.operate.control import Control
from gregor.worker.operate.seeds import Seed
from gregor.worker.run.ending import Ending, has_ended
from gregor.worker.run.runtime import Runtime

if TYPE_CHECKING:
    from gregor.worker.adapters.cluster.engine import ClusterEngine


@dataclass(frozen=True)
class Finished:
    """The crawl had ended before, and nothing new was seeded."""


async def crawl(config: Config, seeds: Iterable[Seed], started: Callable[[Runtime], None]) -> Ending | Finished:
    """Seed and crawl until it ends; `started` gets the worker that `stop` ends.

    Raises `ConfigError`, and what opening the engine raises.
    """
    table, rules, clock = network.host_table(config), scope_rules(config), SystemClock()
    secrets, name = authorizations(config, os.environ), worker_name()
    logging.identify(config.crawl, name)
    tokens_are_there(config)
    async with AsyncExitStack() as stack:
        if (tracer := network.tracer(config, name)) is not None:
            stack.push_async_callback(tracer.close)
        stats = Stats()
        transport = network.transport(config, table, stats)
        stack.push_async_callback(transport.close)
        resolver = network.resolver(config, table, clock.monotonic, stats)
        engine = await engine_of_a_server(config)
        stack.push_async_callback(engine.close)
        ended = await has_ended(engine.log, engine.store, config.partitions)
        published = await seeding.publish(engine.log, engine.store, seeds, unless_known=ended)
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
            tracer=tracer,
        )

        def measure(hosts: list[str]) -> None:
            runtime.measure(Scope(rules, hosts))

        serving = _serving(config, engine, runtime, clock, measure)
        api = await stack.enter_async_context(serving) if config.listen else ""
        if isinstance(engine, embedded.EmbeddedEngine):
            runtime.stats.before = await settled(config)
        else:
            from gregor.worker.compose.housekeeping import recount

            await when_there(lambda: recount(config, engine, runtime), config.start_timeout, config)
            housekeeping = asyncio.create_task(_keep_house(config, engine, runtime, measure, api))
            stack.callback(housekeeping.cancel)
        started(runtime)
        return await runtime.run()


@asynccontextmanager
async def _serving(
    config: Config,
    engine: "embedded.EmbeddedEngine | ClusterEngine",
    runtime: Runtime,
    clock: Clock,
    measure: Callable[[list[str]], None],
) -> AsyncIterator[str]:
    """The API of a worker, while it runs; whoever does not listen need not load a server."""
    from gregor.worker.api.archive import Archive
    from gregor.worker.api.serving import serving
    from gregor.worker.api.worker_backend import WorkerBackend

    async with AsyncExitStack() as stack:
        reader = await reader_beside(engine, config, stack)
        members = None
        if not isinstance(engine, embedded.EmbeddedEngine):
            members = instrumented(engine.coordinator, "coordinator", runtime.stats, clock=clock.monotonic).members
        archive, services = Archive(reader, urls_of(config), config), runtime.services
        control = Control(services.log, services.store, services.coordinator, reader)
        desk = WorkerBackend(runtime, config, clock, archive, control, measure, members)
        yield await stack.enter_async_context(
            serving(config, desk, os.environ, lambda: runtime.stop("because its API ended"))
        )


async def _keep_house(
    config: Config, engine: "ClusterEngine", runtime: Runtime, measure: Callable[[list[str]], None], api: str
) -> None:
    """What the workers of a cluster tell and learn of each other beside the crawl, every few seconds."""
    from gregor.worker.compose.housekeeping import keep_house

    await keep_house(config, engine, runtime, api, measure)
