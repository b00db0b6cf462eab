"""Only what is as the ticket saw it, and stale, is dropped; in an order in which nothing is lost."""

import asyncio
from collections import Counter
from typing import Any, cast

import pytest

from gregor.schemas.messages import Attempt, Page, Row, url_fingerprint
from gregor.worker.borders.errors import Damaged
from gregor.worker.frontier.sent import RecentlySent
from gregor.worker.links.tickets import dropping
from gregor.worker.observe.stats import Stats
from gregor.worker.settle.drops import Drops
from tests.unit.settle.test_staleness import NOW, row

KEY = "http://h/"


class Everything:
    """In the place of each border and of the partition: notes what is asked of it."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.counts = Counter[str]()

    def now(self) -> float:
        return NOW

    async def run(self, effect: Any) -> Any:
        return await effect()

    async def versions(self, key: str) -> list[int]:
        return [1, 2]

    async def page(self, key: str, visit: int) -> Page:
        if visit == 1:
            raise Damaged("page", key, "torn")
        return Page(key, key, "h", visit, "new", 200, 1.0, fingerprint=b"f")

    def stamp(self) -> int:
        return 7

    def __getattr__(self, name: str) -> Any:
        async def noted(*arguments: Any) -> None:
            self.calls.append(name)

        return noted


def drop(
    known: Row | None, visit: int = 2, after: float | None = 100.0, *, visits_again: bool = False
) -> tuple[list[str], Stats, RecentlySent]:
    world, stats, sent = Everything(), Stats(), RecentlySent(8)
    ticket = dropping(row(visits=visit), NOW)
    sent.learn([ticket])
    services: Any = type("Services", (), {"log": world, "seen": world, "store": world, "coordinator": world})
    drops = Drops(
        cast(Any, world),
        after=after,
        visits_again=visits_again,
        services=services,
        effects=cast(Any, world),
        sent=sent,
        stats=stats,
    )
    asyncio.run(drops.drop(ticket, known))
    return world.calls, stats, sent


def test_the_row_goes_last() -> None:
    calls, stats, sent = drop(row())
    assert calls == ["disown", "announce", "forget", "drop"]
    assert stats.drops == 1
    assert not sent.knows(url_fingerprint(KEY))


def test_where_pages_are_visited_again_none_goes_that_is_there() -> None:
    assert drop(row(), visits_again=True)[0] == []
    assert drop(row(state="gone", gone_since=1.0), visits_again=True)[0]


def test_of_what_had_no_page_nobody_is_told() -> None:
    assert "announce" not in drop(row(page=0, state="denied"))[0]


@pytest.mark.parametrize(
    ("known", "visit", "after"),
    [
        (None, 2, 100.0),
        (row(visits=3), 2, 100.0),  # visited since
        (row(attempts=(Attempt(950.0, "x"),)), 2, 100.0),
        (row(), 2, None),  # the setting was taken back meanwhile
        (row(), 2, 101.0),
    ],
)
def test_what_is_of_use_stays(known: Row | None, visit: int, after: float | None) -> None:
    calls, stats, sent = drop(known, visit, after)
    assert (calls, stats.drops) == ([], 0)
    assert sent.knows(url_fingerprint(KEY))
