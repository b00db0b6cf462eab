"""Verifying and mending what a crawl stored, whichever engine keeps it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from gregor.worker.adapters.differences import Differences
from gregor.worker.borders.errors import Damaged
from gregor.worker.borders.reader import Reader
from gregor.worker.compose.engine import engine_of
from gregor.worker.config.settings import Config
from gregor.worker.frontier.counts import DROPPED
from gregor.worker.inspect.check import CheckProgress, StockCheck
from gregor.worker.inspect.mend import Mender


@dataclass(frozen=True)
class Opened:
    """A check that may begin; what mends, if that was asked for."""

    check: StockCheck
    sizes: dict[str, int]
    mender: Mender | None


@asynccontextmanager
async def checking(config: Config, progress: CheckProgress, *, mend: bool) -> AsyncIterator[Opened]:
    """Open a crawl for its check. Raises `BadInput`, `Unavailable`."""
    engine = engine_of(config)
    mending = await engine.mending() if mend else None
    try:
        if mending is not None:
            mending.tell = progress
        reader, urls = await engine.read()
        reader.on_damage = _told_by_the_check
        try:
            stock = await engine.stock()
            try:
                mender = None if mending is None else Mender(mending, reader, urls)
                check = StockCheck(stock, urls, Differences, progress, drops=await _has_dropped(reader))
                yield Opened(check, await stock.sizes(), mender)
            finally:
                await stock.close()
        finally:
            await reader.close()
    finally:
        if mending is not None:
            await mending.close()


async def _has_dropped(reader: Reader) -> bool:
    """Whether a stale URL was ever dropped, whatever the settings say now: until then each link must lead to a URL that
    is known."""
    return any([record.counts.get(DROPPED, 0) async for record in reader.partitions()])


def _told_by_the_check(damage: Damaged) -> None:
    """The check itself tells what is damaged."""
