"""What waits outside memory: in which order it becomes durable and is known."""

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from gregor.worker.borders.store import Entry
from gregor.worker.config.settings import Config
from gregor.worker.frontier.calendar import Calendar
from gregor.worker.frontier.queue_item import FromLog
from gregor.worker.frontier.waiting import WaitingTickets
from tests.contract.world import ticket

LONG_AFTER = 1e6


class Store:
    """While it writes an entry, time passes its bucket."""

    def __init__(self, calendar: Calendar) -> None:
        self._calendar = calendar
        self.read_early: int | None = -1

    async def put_entries(self, partition: int, entries: list[Entry], stamp: int) -> None:
        self.read_early = self._calendar.due(LONG_AFTER)


def waiting_of(partition: Any, store: Any, wake: Callable[[], None] = lambda: None) -> WaitingTickets:
    effects: Any = SimpleNamespace(run=lambda call: call())
    return WaitingTickets(
        partition,
        config=Config(),
        seen=store,
        store=store,
        effects=effects,
        now=lambda: 100.0,
        monotonic=lambda: 100.0,
        wake=wake,
    )


def test_a_bucket_is_not_read_before_what_goes_into_it_is_written() -> None:
    calendar = Calendar(0, [], 1.0, 10)
    store = Store(calendar)
    partition = SimpleNamespace(id=0, calendar=calendar, stamp=lambda: 1)
    asyncio.run(waiting_of(partition, store).appoint(ticket("a"), 150.0))
    assert store.read_early is None
    assert calendar.due(LONG_AFTER) == 150


@pytest.mark.parametrize(("due", "woken"), [(150.0, 1), (250.0, 0)])
def test_who_sleeps_until_the_next_bucket_hears_of_one_that_comes_before_it(due: float, woken: int) -> None:
    async def put_entries(partition: int, entries: list[Entry], stamp: int) -> None:
        assert not calls

    calls: list[str] = []
    partition = SimpleNamespace(id=0, calendar=Calendar(0, [200], 1.0, 10), stamp=lambda: 1)
    store = SimpleNamespace(put_entries=put_entries)
    asyncio.run(waiting_of(partition, store, lambda: calls.append("wake")).appoint(ticket("a"), due))
    assert len(calls) == woken


def test_who_asks_for_another_visit_has_it_in_the_calendar_before_the_record_is_finished() -> None:
    done: list[str] = []

    async def put_entries(partition: int, entries: list[Entry], stamp: int) -> None:
        done.extend(f"put {entry.ticket.kind} {entry.bucket}" for entry in entries)

    partition = SimpleNamespace(id=0, calendar=Calendar(0, [], 1.0, 10), stamp=lambda: 1)
    partition.finish = lambda sources: done.append(f"finish {[source.offset for source in sources]}")
    again = msgspec.structs.replace(ticket("a"), kind="recrawl", due=150.0)
    asked = [(again, FromLog(1, 7)), (ticket("b"), FromLog(1, 8))]
    left = asyncio.run(waiting_of(partition, SimpleNamespace(put_entries=put_entries)).recall(asked))
    assert done == ["put revisit 150", "finish [7]"]
    assert left == asked[1:]
