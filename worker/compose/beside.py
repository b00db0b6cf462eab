"""What is done to a crawl, or read of it, beside its workers or after them."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import islice
from pathlib import Path
from typing import TypeVar

from gregor.worker.adapters import embedded
from gregor.worker.adapters.sorting import Sorted
from gregor.worker.base.errors import BadInput
from gregor.worker.borders.coordinator import Coordinator
from gregor.worker.borders.errors import Damaged
from gregor.worker.borders.reader import Reader
from gregor.worker.compose.engines import SystemClock, made_for, open_engine, reader_beside, worker_name
from gregor.worker.config.servers import check_server
from gregor.worker.config.settings import Config, replace
from gregor.worker.inspect import audit_crawl
from gregor.worker.inspect.audit import Findings
from gregor.worker.links.configured import canonical_rules, urls_of
from gregor.worker.operate import seeds as seeding
from gregor.worker.operate.control import Control
from gregor.worker.operate.erase import Erased, Whose
from gregor.worker.operate.seeds import Seed
from gregor.worker.orders.model import By, Change, Orders
from gregor.worker.web.urls import Urls

T = TypeVar("T")


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


async def open_crawl(config: Config) -> tuple[Reader, Urls]:
    """What the crawl remembers, beside its workers or after them, and how its URLs are written."""
    if config.engine == "cluster":
        from gregor.worker.adapters.cluster import engine as cluster

        reader: Reader = await cluster.open_reader(config, canonical_rules(config).fingerprint(), os.environ)
        return reader, urls_of(config)
    _, rules = made_for(config)
    return await embedded.open_reader(Path(config.data)), Urls(rules, max_length=config.max_url_length)


async def audit(config: Config, host: str | None, on_damage: Callable[[Damaged], None]) -> Findings:
    """Judge the requests that the crawl has on record, or those to one host."""
    reader, _ = await open_crawl(config)
    reader.on_damage = on_damage
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
    _, rules = made_for(config)
    whose = Whose.of(target, Urls(rules, max_length=config.max_url_length))
    return await asyncio.to_thread(embedded.erase, Path(config.data), whose)


@asynccontextmanager
async def controlled(config: Config) -> AsyncIterator[Control]:
    """Change a crawl beside its workers; on one machine, while none runs. Raises `BadInput`, `Unavailable`."""
    if config.engine == "embedded":
        config, rules = made_for(config)
        config = replace(config, canonical=[name for name in rules.__struct_fields__ if getattr(rules, name)])
    async with _controlled(config) as control:
        yield control


@asynccontextmanager
async def _controlled(config: Config) -> AsyncIterator[Control]:
    async with AsyncExitStack() as stack:
        try:
            engine = await open_engine(config)
        except embedded.FolderInUse as error:
            raise BadInput(f"{error}; or name the API of that process with --api") from None
        stack.push_async_callback(engine.close)
        reader = await reader_beside(engine, config, stack)
        yield Control(engine.log, engine.store, engine.coordinator, reader)


async def seed(config: Config, seeds: Iterable[Seed], by: By) -> int:
    """Publish seeds for workers that run now or later, into a data folder that is made if need be; how many."""
    async with _controlled(config) as control:
        count, iterator = 0, iter(seeds)
        while batch := list(islice(iterator, seeding.BATCH)):
            count += await control.seed(batch, by)
        return count
