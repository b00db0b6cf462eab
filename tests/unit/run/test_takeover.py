"""Where a new owner begins: at what is committed, at the log's start when that is later, never at its end."""

import asyncio
import random
from types import SimpleNamespace
from typing import Any

import pytest

from gregor.schemas.messages import PRIORITIES, DeadLetter, PartitionRecord, Ticket
from gregor.worker.borders.effects import Retries
from gregor.worker.config.settings import Config
from gregor.worker.frontier.partition import Partition
from gregor.worker.observe.stats import Stats
from gregor.worker.run.takeover import TakeOver

REFUSED = Ticket("http://x.park.test/", "http://x.park.test/", "x.park.test")


class Servers:
    """A log and a store of one partition."""

    def __init__(self, committed: int, start: int, end: int, cursor: int = 4) -> None:
        self._offsets = committed, start, end
        self._cursor = cursor
        self.record = PartitionRecord(0)
        self.asked: tuple[int, int] | None = None
        self.letters: list[DeadLetter] = []

    async def partition(self, _: int) -> PartitionRecord:
        return PartitionRecord(0, 1, self._cursor, refused=(REFUSED,))

    async def committed(self, _: int) -> dict[int, int]:
        return dict.fromkeys(PRIORITIES, self._offsets[0])

    async def starts(self, _: int) -> dict[int, int]:
        return dict.fromkeys(PRIORITIES, self._offsets[1])

    async def ends(self, _: int) -> dict[int, int]:
        return dict.fromkeys(PRIORITIES, self._offsets[2])

    async def buckets(self, _: int, first: int, last: int, limit: int) -> list[int]:
        self.asked = first, last
        return [first]

    async def put_partition(self, record: PartitionRecord, _: int) -> None:
        self.record = record

    async def put_dead_letter(self, letter: DeadLetter) -> None:
        self.letters.append(letter)

    async def announce(self, letter: DeadLetter) -> None:
        assert letter in self.letters


def taken(servers: Servers) -> Partition:
    lease: Any = SimpleNamespace(partition=0, epoch=2, taken_at=7.0, holds=lambda: True)
    services: Any = SimpleNamespace(log=servers, store=servers, coordinator=SimpleNamespace(now=lambda: 7.0))
    stats = Stats()
    effects = Retries(stats, random.Random(1)).under(lease)
    partition, _ = asyncio.run(TakeOver(Config(), services, stats, "w").take(lease, effects))
    return partition


@pytest.mark.parametrize(
    ("committed", "start", "end", "begins", "lost"),
    [(5, 0, 20, 5, False), (5, 9, 20, 9, False), (0, 9, 20, 9, False), (20, 20, 20, 20, False), (25, 3, 20, 3, True)],
)
def test_it_begins_where_nothing_is_skipped(committed: int, start: int, end: int, begins: int, lost: bool) -> None:
    servers = Servers(committed, start, end)
    partition = taken(servers)
    assert {mark.position for mark in partition.marks.values()} == {begins}
    assert {letter.cause for letter in servers.letters} == ({"lost"} if lost else set())


def test_the_calendar_is_read_from_its_cursor_on_and_the_epoch_is_put_on_record() -> None:
    servers = Servers(0, 0, 0, cursor=41)
    partition = taken(servers)
    assert servers.asked is not None
    assert servers.asked[0] == 42
    assert (partition.calendar.cursor, servers.record.cursor, servers.record.epoch) == (41, 41, 2)
    assert servers.record.takeovers[-1].epoch == 2


def test_names_that_were_refused_are_known_to_the_next_owner() -> None:
    assert taken(Servers(0, 0, 0)).refused() == (REFUSED,)
