"""What a crawl takes from the ranks of its index: how pages and hosts stand, as it begins and whenever that changed."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Final

from gregor.worker.base.tasks import beside
from gregor.worker.borders.errors import Unavailable
from gregor.worker.compose.engine import OpenEngine
from gregor.worker.extract.crawled import Extraction
from gregor.worker.links.known_ranks import KnownRanks
from gregor.worker.observe.logging import logs

_log = logs("ranks")
EVERY: Final = 60.0
"""Seconds between two looks for other ranks."""


def ranking(extraction: Extraction) -> tuple[Extraction, KnownRanks]:
    """It, with ranks of its own that can be replaced: none yet."""
    ranks = KnownRanks()
    return replace(extraction, judges=replace(extraction.judges, ranks=ranks)), ranks


@asynccontextmanager
async def kept_up(ranks: KnownRanks, engine: OpenEngine, every: float = EVERY) -> AsyncIterator[None]:
    """Have ranks be those of the crawl's index, from the beginning, and as `gregor rank` is given meanwhile.

    They order visits alone: while they cannot be read, those that are known stand.
    """
    seen = await _taken(ranks, engine, 0)

    async def follow() -> None:
        last = seen
        while True:
            await asyncio.sleep(every)
            last = await _taken(ranks, engine, last)

    async with beside(follow()):
        yield


async def _taken(ranks: KnownRanks, engine: OpenEngine, seen: int) -> int:
    with suppress(Unavailable):  # told by whoever needs the server
        steps = await engine.known_ranks(seen)
        if steps is not None:
            ranks.take(steps.pages, steps.hosts)
            _log.info("visits are ordered by ranks", pages=len(steps.pages), hosts=len(steps.hosts))
            return steps.made
    return seen
