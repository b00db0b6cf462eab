"""What the workers of a cluster tell and learn of each other beside the crawl: status, budgets, new seeds' hosts."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from gregor.worker.borders.errors import Unavailable
from gregor.worker.borders.members import WorkerStatus
from gregor.worker.compose.process import SystemClock
from gregor.worker.config.api import reachable
from gregor.worker.config.settings import Config
from gregor.worker.frontier.counts import OPTED_OUT_RECORDS
from gregor.worker.observe.instrumented import instrumented
from gregor.worker.orders.model import CRAWL

if TYPE_CHECKING:
    from gregor.worker.adapters.cluster.engine import ClusterEngine
    from gregor.worker.run.runtime import Runtime

EVERY = 3.0  # seconds


async def keep_house(
    config: Config, engine: "ClusterEngine", runtime: "Runtime", api: str, measure: Callable[[list[str]], None]
) -> None:
    """For ever: say how it goes, count the pages of all workers where a budget needs it, hear of new seeds.

    ``api``: the URL at which the worker's API listens, if it does.
    """
    api = await asyncio.to_thread(reachable, api, config.zookeeper[0]) if api else ""
    engine.coordinator.away = runtime.stats.unanswered
    coordinator = instrumented(engine.coordinator, "coordinator", runtime.stats, clock=SystemClock.monotonic)
    last, hosts = (engine.coordinator.now(), runtime.stats.pages, runtime.stats.requests), 0
    while True:
        try:
            ordered = CRAWL in engine.coordinator.orders().of("budget")
            budgets = config.max_pages, config.max_bytes, config.max_requisites_in_all
            if ordered or any(budget is not None for budget in budgets):
                await recount(config, engine, runtime)
            seeded = await engine.store.seed_hosts()
            if len(seeded) != hosts:
                measure(seeded)
                hosts = len(seeded)
            await coordinator.put_status(_status(runtime, api, engine.coordinator.now(), last))
        except Unavailable as error:
            runtime.stats.away(error)
        last = (engine.coordinator.now(), runtime.stats.pages, runtime.stats.requests)
        await asyncio.sleep(EVERY)


async def recount(config: Config, engine: "ClusterEngine", runtime: "Runtime") -> None:
    """The pages and bytes of the whole crawl: as the partitions' records have them, less what opted out, and what this
    worker has not told its own yet."""
    numbers = [*range(config.partitions), *OPTED_OUT_RECORDS]
    records = await asyncio.gather(*(engine.store.partition(number) for number in numbers))
    kept = [record.counts for record in records] + [owned.crawl.partition.counts for owned in runtime.owned.values()]
    names = ("pages_200", "bytes", "requisites")
    runtime.stats.recounted({name: sum(counts.get(name, 0) for counts in kept) for name in names})


def _status(runtime: "Runtime", api: str, now: float, last: tuple[float, int, int]) -> WorkerStatus:
    stats = runtime.stats
    queued = {number: owned.crawl.partition.size for number, owned in sorted(runtime.owned.items())}
    elapsed = max(now - last[0], 0.001)
    return WorkerStatus(
        name=runtime.name,
        at=now,
        partitions=tuple(queued),
        queued=queued,
        running=stats.running,
        rates={"pages": (stats.pages - last[1]) / elapsed, "requests": (stats.requests - last[2]) / elapsed},
        limiting=stats.limiting,
        api=api,
    )
