"""When a crawl has ended, and what its budget allows."""

import asyncio
from typing import Any

import pytest

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
