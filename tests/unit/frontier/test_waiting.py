"""What waits outside memory: in which order it becomes durable and is known."""

import asyncio
from types import SimpleNamespace
from typing import Any

from gregor.worker.borders.store import Entry
from gregor.worker.config.settings import Config
from gregor.worker.frontier.calendar import Calendar
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


def test_a_bucket_is_not_read_before_what_goes_into_it_is_written() -> None:
    calendar = Calendar(0, [], 1.0, 10)
    store = Store(calendar)
    engine: Any = store
    partition: Any = SimpleNamespace(id=0, calendar=calendar, stamp=lambda: 1)
    effects: Any = SimpleNamespace(run=lambda call: call())
    waiting = WaitingTickets(
        partition,
        config=Config(),
        seen=engine,
        store=engine,
        effects=effects,
        now=lambda: 100.0,
        monotonic=lambda: 100.0,
        wake=lambda: None,
    )
    asyncio.run(waiting.appoint(ticket("a"), 150.0))
    assert store.read_early is None
    assert calendar.due(LONG_AFTER) == 150
