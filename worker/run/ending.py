"""When a crawl has ended, and why it did."""

import asyncio
from collections.abc import Callable
from typing import Literal, TypeAlias

import msgspec

from gregor.worker.borders.errors import Unavailable
from gregor.worker.borders.log import FrontierLog
from gregor.worker.borders.store import PageStore
from gregor.worker.config.settings import Config
from gregor.worker.observe.stats import Stats

BudgetName: TypeAlias = Literal["max_pages", "max_bytes", "max_time"]


class SpentBudget(msgspec.Struct, frozen=True):
    """A budget of the crawl that is spent, and what it allowed, for people."""

    budget: BudgetName
    allowed: str

    @property
    def renewed(self) -> bool:
        """Whether each run begins with all of it."""
        return self.budget == "max_time"

    def __str__(self) -> str:
        return f"{self.budget}: {self.allowed}"


class Ending(msgspec.Struct, frozen=True):
    """How a run ended. ``detail`` says more for people; ``spent``: for the reason budget, which one."""

    reason: Literal["finished", "budget", "stopped"]
    detail: str = ""
    spent: SpentBudget | None = None

    @property
    def needs_more(self) -> bool:
        """Whether the same command goes on only with a larger budget."""
        return self.spent is not None and not self.spent.renewed

    @classmethod
    def of_budget(cls, spent: SpentBudget) -> "Ending":
        """The end by a budget."""
        return cls("budget", str(spent), spent)


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

    def spent(self, elapsed: float) -> SpentBudget | None:
        """Which budget is spent, ``elapsed`` seconds after the run began; None when none is."""
        config, stats, most = self._config, self._stats, self._pages()
        if most is not None and stats.total_pages_200 >= most:
            return SpentBudget("max_pages", f"{most} pages")
        if config.max_bytes is not None and stats.total_bytes >= config.max_bytes:
            return SpentBudget("max_bytes", f"{config.max_bytes} bytes")
        if config.max_time is not None and elapsed >= config.max_time:
            return SpentBudget("max_time", f"{config.max_time:g} seconds")
        return None

    def _pages(self) -> int | None:
        ordered = self._ordered()
        return self._config.max_pages if ordered is None else int(ordered)
