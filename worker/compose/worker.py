"""The composition root: which engine and network make a worker. The only place that asks for the engine."""

import asyncio
import os
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from gregor.worker.adapters import embedded
from gregor.worker.adapters.embedded.folder import connect_reading
from gregor.worker.adapters.sorting import Sorted
from gregor.worker.adapters.when_there import nobody, when_there
from gregor.worker.base.errors import BadInput
from gregor.worker.borders.store import Clock, Coordinator, Reader, Unavailable
from gregor.worker.compose import network
from gregor.worker.config.api import token
from gregor.worker.config.credentials import authorizations
from gregor.worker.config.servers import check_server
from gregor.worker.config.settings import Config, replace
from gregor.worker.frontier.shared import Services
from gregor.worker.inspect import audit_crawl
from gregor.worker.inspect.audit import Findings
from gregor.worker.links.configured import canonical_rules, scope_rules, urls_of
from gregor.worker.links.scope import Scope
from gregor.worker.observe import logging
from gregor.worker.observe.instrumented import measured
from gregor.worker.observe.stats import Stats
from gregor.worker.operate import seeds as seeding
from gregor.worker.operate.control import Control, FolderControl
from gregor.worker.operate.erase import Erased, Whose
from gregor.worker.operate.seeds import Seed
from gregor.worker.orders.model import By, Change, Orders
from gregor.worker.run.ending import Ending, has_ended
from gregor.worker.run.runtime import Runtime
from gregor.worker.web.canonical import CanonicalRules
from gregor.worker.web.urls import Urls

if TYPE_CHECKING:
    from gregor.worker.adapters.cluster.engine import ClusterEngine, ClusterStatus, Prepared

T = TypeVar("T")


class SystemClock:
    """The machine's clocks."""

    # See `Clock.monotonic`: it goes on while the machine is suspended. Asked fifty times a page.
    monotonic = staticmethod(partial(time.clock_gettime, time.CLOCK_BOOTTIME))

    def wall(self) -> float:
        """See `Clock.wall`."""
        return time.time()


@dataclass(frozen=True)
class Finished:
    """The crawl had ended before, and nothing new was seeded."""


def place(config: Config) -> tuple[str, bool]:
    """Where the crawl is, for people; and whether its pages are counted at once."""
    return (f"crawl {config.crawl}", False) if config.engine == "cluster" else (config.data, True)


def worker_name() -> str:
    """A name for this process that says where it runs."""
    return f"{os.uname().nodename}-{os.getpid()}"


def _tokens_are_there(config: Config) -> None:
    """Before anything is waited for. Raises `BadInput` naming the setting."""
    for role in ("viewer", "operator") if config.listen else ():
        token(config, role, os.environ)


async def _open_engine(
    config: Config, away: Callable[[Unavailable], None] = nobody
) -> "embedded.EmbeddedEngine | ClusterEngine":
    canonical, clock = canonical_rules(config).fingerprint(), SystemClock()
    if config.engine == "cluster":
        from gregor.worker.adapters.cluster import engine as cluster  # the clients of four servers: only when needed

        return await cluster.open_engine(config, canonical, worker_name(), clock, os.environ, away)
    return await embedded.open_engine(Path(config.data), config.partitions, canonical, clock, config.bucket_width)


async def _engine_of_a_server(config: Config) -> "embedded.EmbeddedEngine | ClusterEngine":
    """The engine of a process that listens: who probes it meanwhile is told which server is waited for."""
    if not config.listen or config.engine == "embedded":
        return await _open_engine(config)
    from gregor.worker.api.starting import starting

    async with starting(config) as away:
        return await _open_engine(config, away)


async def crawl(config: Config, seeds: Iterable[Seed], started: Callable[[Runtime], None]) -> Ending | Finished:
    """Seed and crawl until it ends; `started` gets the worker that `stop` ends.

    Raises `ConfigError`, and what opening the engine raises.
    """
    table, rules, clock = network.host_table(config), scope_rules(config), SystemClock()
    secrets, name = authorizations(config, os.environ), worker_name()
    logging.identify(config.crawl, name)
    _tokens_are_there(config)
    async with AsyncExitStack() as stack:
        if (tracer := network.tracer(config, name)) is not None:
            stack.push_async_callback(tracer.close)
        stats = Stats()
        transport = network.transport(config, table, stats)
        stack.push_async_callback(transport.close)
        resolver = network.resolver(config, table, clock.monotonic, stats)
        engine = await _engine_of_a_server(config)
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
            housekeeping = asyncio.create_task(_keep_house(config, engine, runtime, measure, api))
            stack.callback(housekeeping.cancel)
        started(runtime)
        return await runtime.run()


async def console(config: Config, stop: asyncio.Event, started: Callable[[str], None]) -> None:
    """Serve the console and the API of a crawl on servers, or of a data folder, until `stop`; `started` gets its URL.

    Raises `BadInput`, `Unavailable`, and what ended the coordinator.
    """
    from gregor.worker.api.archive import Archive
    from gregor.worker.api.crawl_backend import serve

    _tokens_are_there(config)
    name, clock = f"console-{worker_name()}", SystemClock()
    logging.identify(config.crawl, name)
    if config.engine == "embedded":
        await _folder_console(config, name, clock, stop, started)
        return
    engine = await _engine_of_a_server(config)
    try:
        assert not isinstance(engine, embedded.EmbeddedEngine)
        control = Control(engine.log, engine.store, engine.coordinator, engine.reader)
        archive = Archive(engine.reader, urls_of(config), config)
        coordinator = engine.coordinator
        await serve(config, name, coordinator, clock, archive, control, coordinator.members, stop, started)
    finally:
        await engine.close()


async def _folder_console(
    config: Config, name: str, clock: Clock, stop: asyncio.Event, started: Callable[[str], None]
) -> None:
    """Beside a crawl or after it: the folder is taken only while something is changed that is no order."""
    from gregor.worker.api.archive import Archive
    from gregor.worker.api.folder_backend import FolderDesk, serve

    made, rules = _made_for(config)
    async with _reading_folder(config) as reader:
        archive = Archive(reader, Urls(rules, max_length=config.max_url_length), made)
        book = embedded.FolderBook(Path(config.data), clock)
        control = FolderControl(book, lambda: controlled(config))
        desk = FolderDesk(name, made, book, clock, archive, control, settled=reader.settled, stop=stop.set)
        await serve(config, desk, stop, started)


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
    from gregor.worker.api.worker_backend import WorkerDesk

    async with AsyncExitStack() as stack:
        reader = await _reader_beside(engine, config, stack)
        members = None
        if not isinstance(engine, embedded.EmbeddedEngine):
            members = measured(engine.coordinator, "coordinator", runtime.stats, clock=clock.monotonic).members
        archive, services = Archive(reader, urls_of(config), config), runtime.tools.services
        control = Control(services.log, services.store, services.coordinator, reader)
        desk = WorkerDesk(runtime, config, clock, archive, control, measure, members)
        yield await stack.enter_async_context(
            serving(config, desk, os.environ, lambda: runtime.stop("because its API ended"))
        )


async def _reader_beside(
    engine: "embedded.EmbeddedEngine | ClusterEngine", config: Config, stack: AsyncExitStack
) -> Reader:
    """What reads beside a worker."""
    if not isinstance(engine, embedded.EmbeddedEngine):
        return engine.reader
    return await stack.enter_async_context(_reading_folder(config))


@asynccontextmanager
async def _reading_folder(config: Config) -> AsyncIterator[embedded.EmbeddedReader]:
    """A data folder, read beside a running crawl or after it."""
    reader = await embedded.open_reader(Path(config.data))
    try:
        yield reader
    finally:
        await reader.close()


async def settled(config: Config) -> dict[str, int]:
    """What the data folder holds: URLs by state, "pages", "pages_200" and "bytes", as they are kept counted."""
    async with _reading_folder(config) as reader:
        return await reader.settled()


async def kept(config: Config) -> dict[str, int]:
    """`settled`, and "lag": how many records of the folder's log are not finished."""
    async with _reading_folder(config) as reader:
        return {**await reader.settled(), "lag": await reader.lag()}


async def _keep_house(
    config: Config, engine: "ClusterEngine", runtime: Runtime, measure: Callable[[list[str]], None], api: str
) -> None:
    """What the workers of a cluster tell and learn of each other beside the crawl, every few seconds."""
    from gregor.worker.compose.housekeeping import keep_house

    await keep_house(config, engine, runtime, api, measure)


async def init(config: Config) -> "Prepared":
    """Set a crawl up on its servers. Raises `BadInput`, `Unavailable`."""
    cluster_only(config)
    _tokens_are_there(config)
    from gregor.worker.adapters.cluster import engine as cluster

    return await cluster.set_up(config, canonical_rules(config).fingerprint(), SystemClock(), os.environ)


async def rebuild_seen(config: Config) -> int:
    """Mark in the seen set all that the store knows; how many URLs."""
    cluster_only(config)
    from gregor.worker.adapters.cluster import engine as cluster

    canonical = canonical_rules(config).fingerprint()
    engine = await cluster.open_engine(config, canonical, worker_name(), SystemClock(), os.environ)
    try:
        return await cluster.rebuild_seen(engine)
    finally:
        await engine.close()


async def cluster_status(config: Config) -> "ClusterStatus":
    """Who is there, who owns what, how much is unfinished."""
    cluster_only(config)
    from gregor.worker.adapters.cluster import engine as cluster

    return await cluster.cluster_status(config, SystemClock(), os.environ)


async def ask_server(config: Config, server: str, environ: Mapping[str, str]) -> None:
    """See that a server, by its setting, answers as it would a worker. Raises `BadInput`, `Unavailable`."""
    from gregor.worker.adapters.cluster.probes import PROBES

    check_server(config, server, environ)
    await PROBES[server](config, SystemClock(), environ)


def standing_orders(config: Config) -> Orders:
    """The operator's orders, read where the crawl keeps them."""
    if config.engine == "cluster":
        return asyncio.run(_by_coordinator(config, _orders))
    return embedded.standing_orders(Path(config.data))


def recorded_changes(config: Config, before: int, limit: int) -> list[Change]:
    """The record of changes, read where the crawl keeps it: see `Coordinator.changes`."""
    if config.engine == "cluster":
        return asyncio.run(_by_coordinator(config, lambda coordinator: coordinator.changes(before, limit)))
    return embedded.recorded_changes(Path(config.data), before, limit)


def change_orders(config: Config, change: Callable[[Orders], Orders]) -> Orders:
    """Change the operator's orders where the crawl keeps them, whether it runs or not; its workers hear of it."""
    if config.engine == "cluster":
        return asyncio.run(_by_coordinator(config, lambda coordinator: coordinator.change_orders(change)))
    return embedded.change_orders(Path(config.data), change)


async def _orders(coordinator: Coordinator) -> Orders:
    return coordinator.orders()


async def _by_coordinator(config: Config, call: Callable[[Coordinator], Awaitable[T]]) -> T:
    from gregor.worker.adapters.cluster.coordinator import ClusterCoordinator

    check_server(config, "zookeeper", os.environ)
    coordinator = await ClusterCoordinator.open(config, config.crawl, config.partitions, worker_name(), SystemClock())
    try:
        return await call(coordinator)
    finally:
        await coordinator.close()


def _made_for(config: Config) -> tuple[Config, CanonicalRules]:
    """The configuration with what the data folder was made for, and the canonical form of its URLs."""
    connection, made_for = connect_reading(Path(config.data))
    connection.close()
    partitions, width = int(made_for["partitions"]), float(made_for["bucket_width"])
    rules = CanonicalRules.of_fingerprint(made_for["canonical"])
    return replace(config, partitions=partitions, bucket_width=width), rules


async def open_crawl(config: Config) -> tuple[Reader, Urls]:
    """What the crawl remembers, beside its workers or after them, and how its URLs are written."""
    if config.engine == "cluster":
        from gregor.worker.adapters.cluster import engine as cluster

        reader: Reader = await cluster.open_reader(config, canonical_rules(config).fingerprint(), os.environ)
        return reader, urls_of(config)
    _, rules = _made_for(config)
    return await embedded.open_reader(Path(config.data)), Urls(rules, max_length=config.max_url_length)


async def audit(config: Config, host: str | None) -> Findings:
    """Judge the requests that the crawl has on record, or those to one host."""
    reader, _ = await open_crawl(config)
    try:
        with Sorted() as sorting:
            return await audit_crawl.audit(reader, sorting, config.user_agent, host)
    finally:
        await reader.close()


async def erase(config: Config, target: str) -> Erased:
    """Delete what the crawl has of a host or domain, beside its workers. Raises `BadInput`, `Unavailable`."""
    if config.engine == "cluster":
        from gregor.worker.adapters.cluster import engine as cluster

        canonical = canonical_rules(config).fingerprint()
        return await cluster.erase(config, canonical, Whose.of(target, urls_of(config)), os.environ)
    _, rules = _made_for(config)
    whose = Whose.of(target, Urls(rules, max_length=config.max_url_length))
    return await asyncio.to_thread(embedded.erase, Path(config.data), whose)


@asynccontextmanager
async def controlled(config: Config) -> AsyncIterator[Control]:
    """Change a crawl beside its workers; on one machine, while none runs. Raises `BadInput`, `Unavailable`."""
    if config.engine == "embedded":
        config, rules = _made_for(config)
        config = replace(config, canonical=[name for name in rules.__struct_fields__ if getattr(rules, name)])
    async with _controlled(config) as control:
        yield control


@asynccontextmanager
async def _controlled(config: Config) -> AsyncIterator[Control]:
    async with AsyncExitStack() as stack:
        try:
            engine = await _open_engine(config)
        except embedded.FolderInUse as error:
            raise BadInput(f"{error}; or name the API of that process with --api") from None
        stack.push_async_callback(engine.close)
        reader = await _reader_beside(engine, config, stack)
        yield Control(engine.log, engine.store, engine.coordinator, reader)


async def seed(config: Config, seeds: Iterable[Seed], by: By) -> int:
    """Publish seeds for workers that run now or later, into a data folder that is made if need be; how many."""
    async with _controlled(config) as control:
        count, iterator = 0, iter(seeds)
        while batch := list(islice(iterator, seeding.BATCH)):
            count += await control.seed(batch, by)
        return count


def cluster_only(config: Config) -> None:
    """Raises `BadInput` unless the crawl runs on servers."""
    if config.engine != "cluster":
        raise BadInput(
            'this command is for a crawl on servers: set engine = "cluster" and the addresses of the servers'
        )
