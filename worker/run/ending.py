"""When a crawl has ended, and why it did."""

import asyncio
from collections.abc import Callable
from typing import Literal, TypeAlias

import msgspec

from gregor.worker.base.amounts import count
from gregor.worker.borders.counted_together import Alone, Beside, CountedTogether
from gregor.worker.borders.errors import Unavailable
from gregor.worker.borders.log import FrontierLog
from gregor.worker.borders.store import PageStore
from gregor.worker.config.settings import Config
from gregor.worker.observe.stats import Stats

BudgetName: TypeAlias = Literal["max_pages", "max_pages_per_run", "max_bytes", "max_time"]


class SpentBudget(msgspec.Struct, frozen=True):
    """A budget of the crawl that is spent, and what it allowed, for people."""

    budget: BudgetName
    allowed: str

    @property
    def renewed(self) -> bool:
        """Whether each run begins with all of it."""
        return self.budget in ("max_time", "max_pages_per_run")

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

    def __init__(
        self,
        config: Config,
        stats: Stats,
        ordered: Callable[[], float | None] = lambda: None,
        counters: CountedTogether | None = None,
    ) -> None:
        """``ordered`` tells how many pages an order allows, in the place of the configured number; ``counters``: what
        other processes of the crawl have."""
        self._config = config
        self._stats = stats
        self._ordered = ordered
        self._counters = counters or Alone()
        self._beside = Beside()

    def allows(self, running: int) -> bool:
        """Whether one more turn may start while so many run: pages never pass the budget.

        Its place is taken before that is asked, so that of two processes one hears of the other; `runs` lets it go.
        """
        if not self._bounded():
            return True
        self.runs(running + 1)
        return self._count() and not self.holds_back(running)

    def runs(self, running: int) -> None:
        """So many visits run in this process: the place of one that did not start after all is free again."""
        if self._bounded():
            self._beside = self._counters.put(running, self._stats.visited_pages)

    def _count(self) -> bool:
        """See what all processes have stored, after what runs in them; False where nobody can say it now."""
        try:
            stored = self._counters.stored()
        except Unavailable:
            return False
        if stored is not None:
            self._stats.recounted(dict(stored))
        return True

    def holds_back(self, running: int) -> str:
        """Which budget lets no more turns start while so many run; empty when none does."""
        config, stats, all_running = self._config, self._stats, running + self._beside.running
        most, of_run, visited = self._pages(), config.max_pages_per_run, self._visited()
        if most is not None and stats.total_pages_200 + all_running >= most:
            return f"max_pages: {stats.total_pages_200} of {most} pages are stored, {all_running} visits run"
        if of_run is not None and visited + all_running >= of_run:
            return f"max_pages_per_run: {visited} of {of_run} pages are visited, {all_running} visits run"
        if config.max_bytes is not None and stats.total_bytes >= config.max_bytes:
            return f"max_bytes: {stats.total_bytes} of {config.max_bytes} bytes are stored"
        return ""

    def spent(self, elapsed: float) -> SpentBudget | None:
        """Which budget is spent, ``elapsed`` seconds after the run began; None when none is."""
        config, stats, most = self._config, self._stats, self._pages()
        if self._bounded():
            self._count()
        if most is not None and stats.total_pages_200 >= most:
            return SpentBudget("max_pages", count(most, "page"))
        if config.max_bytes is not None and stats.total_bytes >= config.max_bytes:
            return SpentBudget("max_bytes", f"{config.max_bytes} bytes")
        of_run = config.max_pages_per_run
        if of_run is not None and self._visited() >= of_run:
            return SpentBudget("max_pages_per_run", f"{count(of_run, 'page')} in this run")
        if config.max_time is not None and elapsed >= config.max_time:
            return SpentBudget("max_time", f"{config.max_time:g} seconds")
        return None

    def _bounded(self) -> bool:
        """Whether anything is counted against a budget."""
        config = self._config
        budgets = config.max_bytes, config.max_pages_per_run, config.max_requisites_in_all, self._pages()
        return any(budget is not None for budget in budgets)

    def _visited(self) -> int:
        """Pages that this run has visited, in all processes."""
        return self._stats.visited_pages + self._beside.visited

    def _pages(self) -> int | None:
        ordered = self._ordered()
        return self._config.max_pages if ordered is None else int(ordered)
