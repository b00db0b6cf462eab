"""Seeds: the first tickets of a crawl."""

import time
from collections.abc import Iterable, Iterator
from itertools import islice

import msgspec

from gregor.schemas.messages import Ticket
from gregor.worker.borders.log import FrontierLog
from gregor.worker.borders.store import PageStore
from gregor.worker.links.tickets import seeded
from gregor.worker.web.urls import Url

BATCH = 5000
"""Seeds that are published at once: each batch waits for the disk twice."""


class Seed(msgspec.Struct, frozen=True):
    """Where a crawl starts. `priority` is a front queue, 1 (highest) to 4; None leaves it to the crawl's policy."""

    url: Url
    label: str = ""
    depth: int = 0
    priority: int | None = None


async def publish(log: FrontierLog, store: PageStore, seeds: Iterable[Seed], unless_known: bool = False) -> int:
    """Remember the seeds' hosts, which the scope needs, and publish the seeds; gives how many were published.

    ``unless_known`` leaves out those that have a record. Of any number of seeds one batch is in memory.
    """
    count, iterator = 0, iter(seeds)
    while batch := list(islice(iterator, BATCH)):
        if unless_known:
            rows = await store.rows([seed.url.key for seed in batch])
            batch = [seed for seed, row in zip(batch, rows, strict=True) if row is None]
            if not batch:
                continue
        await store.add_seed_hosts(sorted({seed.url.host for seed in batch}))
        await log.publish(list(_tickets(batch, time.time())))
        count += len(batch)
    return count


def _tickets(seeds: Iterable[Seed], at: float) -> Iterator[Ticket]:
    for seed in seeds:
        yield seeded(seed.url, seed.depth, seed.priority, seed.label, at)
