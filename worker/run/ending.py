"""When a crawl has ended, and why it did."""

import asyncio
from collections.abc import Callable
from typing import Literal

import msgspec

from gregor.worker.borders.errors import Unavailable
from gregor.worker.borders.log import FrontierLog
from gregor.worker.borders.store import PageStore
from gregor.worker.config.settings import Config
from gregor.worker.observe.stats import Stats


class Ending(msgspec.Struct, frozen=True):
    """How a run ended. `detail` names the budget that is spent, or who stopped it."""

    reason: Literal["finished", "budget", "stopped"]
    detail: str = ""


async def has_ended(log: FrontierLog, store: PageStore, partitions: int) -> bool:
    """Whether nothing is left anywhere, read in the order in which nothing can slip through.

    Log ends, all watermarks equal to them, all calendars and backlogs empty, log ends unchanged.
    """
    numbers = range(partitions)
    try:
        ends = await asyncio.gather(*map(log.ends, numbers))
        if await asyncio.gather(*map(log.committed, numbers)) != ends:
            return False
        if any(await asyncio.gather(*map(store.waiting, numbers))):
            return False
        return await asyncio.gather(*map(log.ends, numbers)) == ends
    except Unavailable:
        return False


class Budget:
    """The crawl's own budget: what it allows to be started, and when it is spent."""

    def __init__(self, config: Config, stats: Stats, ordered: Callable[[], float | None] = lambda: None) -> None:
        """``ordered`` tells how many pages an order allows, in the place of the configured number."""
        self._config = config
        self._stats = stats
        self._ordered = ordered

    def allows(self, running: int) -> bool:
        """Whether one more turn may start while so many run: pages never pass the budget."""
        most = self._pages()
        if most is not None and self._stats.total_pages_200 + running >= most:
            return False
        return self._config.max_bytes is None or self._stats.total_bytes < self._config.max_bytes

    def holds_back(self, running: int) -> str:
        """Which budget lets no more turns start; empty when none does."""
        if self.allows(running):
            return ""
        stats, most = self._stats, self._pages()
        if most is not None and stats.total_pages_200 + running >= most:
            return f"max_pages: {stats.total_pages_200} of {most} pages are stored, {running} visits run"
        return f"max_bytes: {stats.total_bytes} of {self._config.max_bytes} bytes are stored"

    def spent(self, elapsed: float) -> str:
        """Which budget is spent; empty when none is."""
        config, stats, most = self._config, self._stats, self._pages()
        if most is not None and stats.total_pages_200 >= most:
            return f"max_pages: {most} pages"
        if config.max_bytes is not None and stats.total_bytes >= config.max_bytes:
            return f"max_bytes: {config.max_bytes} bytes"
        if config.max_time is not None and elapsed >= config.max_time:
            return f"max_time: {config.max_time:g} seconds"
        return ""

    def _pages(self) -> int | None:
        ordered = self._ordered()
        return self._config.max_pages if ordered is None else int(ordered)
