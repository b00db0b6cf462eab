"""Serves the metrics of whoever writes an index, and measures how far it is behind."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final

from gregor.search.indexer import Indexer
from gregor.worker.base.tasks import cancel
from gregor.worker.borders.errors import Unavailable
from gregor.worker.config.settings import Config, replace
from gregor.worker.observe.indexing import IndexStats

_EVERY: Final = 5.0
"""Seconds between two looks at how far the index is behind."""

Behind = Callable[[], Awaitable[tuple[dict[str, int], float]]]


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
async def measured(stats: IndexStats, look: Callable[[], None], behind: Behind) -> AsyncIterator[None]:
    """Measure while the block runs. ``look`` brings the counts up to date; ``behind`` gives records that are not taken
    in, by kind, and when what was taken in last was told (unix seconds; 0: nothing was)."""

    async def measure() -> None:
        while True:
            look()
            try:
                stats.behind, at = await behind()
            except Unavailable:
                at = 0.0  # it is told by who needs the server; the last figures stand
            else:
                stats.seconds_behind = max(0.0, time.time() - at) if at and any(stats.behind.values()) else 0.0
            await asyncio.sleep(_EVERY)

    measuring = asyncio.create_task(measure())
    try:
        yield
    finally:
        await cancel([measuring])
        look()


def counts(indexer: Indexer, stats: IndexStats) -> tuple[Callable[[], None], Behind]:
    """What brings the counts up to date, and what says how far the index is behind."""

    def count() -> None:
        done = indexer.progress
        stats.changes, stats.documents, stats.removed, stats.partitions = done.changes, done.documents, done.removed, 1

    async def behind() -> tuple[dict[str, int], float]:
        return {"events": await indexer.behind()}, indexer.progress.newest

    return count, behind
