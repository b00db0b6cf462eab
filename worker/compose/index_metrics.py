"""Serves the metrics of whoever writes an index, and measures how far it is behind."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Final, NamedTuple

from gregor.search.indexer import Indexer
from gregor.worker.base.tasks import cancel
from gregor.worker.borders.errors import Unavailable
from gregor.worker.config.settings import Config, replace
from gregor.worker.observe.indexing import IndexStats, Lateness

_EVERY: Final = 5.0
"""Seconds between two looks at how far the index is behind."""


class Behind(NamedTuple):
    """Records that are not taken in: of the whole crawl, by kind, and of each partition that the process owns; and when
    what was taken in last was told, of these (unix seconds)."""

    kinds: dict[str, int]
    left: Mapping[int, int]
    told_at: Mapping[int, float]


LookBehind = Callable[[], Awaitable[Behind]]


@asynccontextmanager
async def serving(config: Config, where: str | None, stop: asyncio.Event) -> AsyncIterator[IndexStats]:
    """What is counted, served at ADDRESS:PORT if one is given. Raises `BadInput`."""
    stats = IndexStats()
    if where is None:
        yield stats
        return
    from gregor.worker.api.index_app import application
    from gregor.worker.api.serving import served

    there = replace(config, listen=where)
    async with served(application(there, stats, os.environ), there, stop.set):
        yield stats


@asynccontextmanager
async def measured(stats: IndexStats, look: Callable[[], None], behind: LookBehind) -> AsyncIterator[None]:
    """Measure while the block runs. ``look`` brings the counts up to date; ``behind`` says how far the index is."""
    lateness = Lateness()

    async def measure() -> None:
        while True:
            look()
            with suppress(Unavailable):  # it is told by who needs the server; the last figures stand
                now_behind = await behind()
                stats.behind = now_behind.kinds
                stats.seconds_behind = lateness.seconds(now_behind.left, now_behind.told_at, time.time())
            await asyncio.sleep(_EVERY)

    measuring = asyncio.create_task(measure())
    try:
        yield
    finally:
        await cancel([measuring])
        look()


def counts(indexer: Indexer, stats: IndexStats) -> tuple[Callable[[], None], LookBehind]:
    """What brings the counts up to date, and what says how far the index is behind."""

    def count() -> None:
        done = indexer.progress
        stats.changes, stats.documents, stats.removed, stats.partitions = done.changes, done.documents, done.removed, 1

    async def behind() -> Behind:
        left, newest = await indexer.behind(), indexer.progress.newest
        return Behind({"events": left}, {0: left}, {0: newest} if newest else {})

    return count, behind
