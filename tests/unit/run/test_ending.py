"""When a crawl has ended, and what its budget allows."""

import asyncio
from typing import Any

import pytest

from gregor.worker.borders.counted_together import Beside
from gregor.worker.borders.errors import Unavailable
from gregor.worker.config.settings import Config, replace
from gregor.worker.observe.stats import Stats
from gregor.worker.run.ending import Budget, SpentBudget, has_ended

PARTITIONS = 2


class Servers:
    """A log and a store of two partitions; ``at`` does something to them when a read of that number comes."""

    def __init__(self, at: int | None = None) -> None:
        self.log = {0: {1: 4, 2: 0}, 1: {1: 0, 2: 9}}
        self.marks = {0: {1: 4, 2: 0}, 1: {1: 0, 2: 9}}
        self.unfinished = {0: False, 1: False}
        self.reads: list[str] = []
        self._at = at

    def _read(self, what: str) -> None:
        self.reads.append(what)
        if len(self.reads) == self._at:
            self.log[0][1] += 1  # a link is published: its page's record is finished, and so are all that were read

    async def ends(self, partition: int) -> dict[int, int]:
        self._read("ends")
        return dict(self.log[partition])

    async def committed(self, partition: int) -> dict[int, int]:
        self._read("committed")
        return dict(self.marks[partition])

    async def waiting(self, partition: int) -> bool:
        self._read("waiting")
        return self.unfinished[partition]


def ended(servers: Any) -> bool:
    return asyncio.run(has_ended(servers, servers, PARTITIONS))


def test_the_order_of_the_reads() -> None:
    servers = Servers()
    assert ended(servers)
    assert servers.reads == ["ends"] * 2 + ["committed"] * 2 + ["waiting"] * 2 + ["ends"] * 2


@pytest.mark.parametrize("at", range(1, 8))
def test_what_is_published_meanwhile_is_noticed(at: int) -> None:
    assert not ended(Servers(at))


@pytest.mark.parametrize("partition", range(PARTITIONS))
def test_one_unfinished_partition_is_enough(partition: int) -> None:
    servers = Servers()
    servers.unfinished[partition] = True
    assert not ended(servers)
    servers = Servers()
    servers.log[partition][2] += 1
    assert not ended(servers)


def test_a_service_that_is_away_has_not_said_so() -> None:
    class Away(Servers):
        async def waiting(self, partition: int) -> bool:
            raise Unavailable("store", "away")

    assert not ended(Away())


def budget(stats: Stats, **settings: Any) -> Budget:
    return Budget(replace(Config(), **settings), stats)


def test_pages_never_pass_the_budget() -> None:
    stats = Stats(before={"pages_200": 5})
    limited = budget(stats, max_pages=10)
    assert [limited.allows(running) for running in (0, 4, 5, 9)] == [True, True, False, False]
    for _ in range(5):
        assert not limited.spent(0.0)
        stats.stored(200, 1)
    assert limited.spent(0.0) == SpentBudget("max_pages", "10 pages")
    assert not limited.allows(0)


def test_only_pages_with_status_200_count() -> None:
    stats = Stats()
    limited = budget(stats, max_pages=1)
    stats.stored(206, 1)
    assert limited.allows(0)


def test_bytes_and_time_are_budgets_too() -> None:
    stats = Stats(before={"bytes": 90})
    limited = budget(stats, max_bytes=100, max_time=60.0)
    assert not limited.spent(59.9)
    assert limited.spent(60.0) == SpentBudget("max_time", "60 seconds")
    stats.stored(200, 10)
    assert limited.spent(0.0) == SpentBudget("max_bytes", "100 bytes")
    assert not limited.allows(0)


def test_without_a_budget_everything_is_allowed() -> None:
    stats = Stats(before={"pages_200": 10**9, "bytes": 10**15})
    assert budget(stats).allows(10**6)
    assert not budget(stats).spent(1e9)


def test_a_budget_of_a_run_counts_what_it_visited_whatever_came_before() -> None:
    stats = Stats()
    stats.before = {"pages_200": 1000}
    budget = Budget(replace(Config(), max_pages_per_run=3), stats)
    stats.changes.update({"new": 1, "unchanged": 1, "gone": 5})
    assert budget.allows(0)
    assert not budget.allows(1)
    assert budget.holds_back(1).startswith("max_pages_per_run: 2 of 3")
    assert budget.spent(0.0) is None
    stats.changes["changed"] += 1
    spent = budget.spent(0.0)
    assert spent is not None
    assert (spent.budget, spent.renewed) == ("max_pages_per_run", True)


class OtherProcess:
    """`CountedTogether` with another process, which has visits that run and pages that it visited."""

    def __init__(self, running: int = 0, visited: int = 0, **stored: int) -> None:
        self.beside = Beside(running, visited)
        self.said: list[tuple[int, int]] = []
        self.counts: dict[str, int] | None = {"pages_200": 0, "bytes": 0, "requisites": 0, **stored}

    def put(self, running: int, visited: int) -> Beside:
        self.said.append((running, visited))
        return self.beside

    def stored(self) -> dict[str, int] | None:
        if self.counts is None:
            raise Unavailable("store", "busy")
        return self.counts


def shared(beside: OtherProcess, **settings: Any) -> Budget:
    return Budget(replace(Config(), **settings), Stats(), counters=beside)


@pytest.mark.parametrize(("stored", "running", "allowed"), [(7, 1, True), (8, 1, False), (7, 2, False), (0, 8, True)])
def test_visits_of_other_processes_count_for_the_budget(stored: int, running: int, allowed: bool) -> None:
    assert shared(OtherProcess(running, pages_200=stored), max_pages=10).allows(1) is allowed


def test_the_place_of_a_visit_is_taken_before_it_is_counted() -> None:
    """So that of two processes that see the last place at once one hears of the other."""
    beside = OtherProcess()
    budget = shared(beside, max_pages=10)
    assert budget.allows(3)
    assert beside.said == [(4, 0)]
    budget.runs(3)
    assert beside.said[-1] == (3, 0), "a place that is not used is let go"


def test_pages_that_all_processes_stored_spend_the_budget() -> None:
    assert shared(OtherProcess(pages_200=10), max_pages=10).spent(0.0) is not None
    assert shared(OtherProcess(pages_200=9), max_pages=10).spent(0.0) is None
    assert shared(OtherProcess(bytes=500), max_bytes=500).spent(0.0) is not None
    of_run = shared(OtherProcess(visited=4), max_pages_per_run=4)
    of_run.runs(0)
    assert of_run.spent(0.0) is not None
    assert not shared(OtherProcess(running=2, visited=2), max_pages_per_run=4).allows(0)


def test_nothing_begins_while_nobody_can_say_what_is_stored() -> None:
    beside = OtherProcess()
    beside.counts = None
    assert not shared(beside, max_pages=10).allows(0)
    assert shared(beside).allows(0), "nothing is counted where there is no budget"
