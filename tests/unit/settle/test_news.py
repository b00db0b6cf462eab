"""A requisite to which a link leads: what it says is followed, then its row has no mark; cut short, it is redone."""

import asyncio
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

from gregor.schemas.messages import Changed, Link, Page, Row, Ticket
from gregor.worker.borders.effects import Effects, LeaseLost
from gregor.worker.config.settings import Config
from gregor.worker.frontier.sent import RecentlySent
from gregor.worker.observe.stats import Stats
from gregor.worker.settle.news import News
from gregor.worker.settle.verdicts import Policy
from gregor.worker.web.urls import Urls
from tests.contract.world import ManualClock
from tests.simulation.contract import SimulatedEngine, SimulatedFactory
from tests.unit.owner import Owner

HREF = "http://h/frame"
LINKED = Ticket(HREF, HREF, "h", depth=2, via="http://h/second", link="a")
PAGE = Page(HREF, HREF, "h", 1, "new", 200, 1.0, depth=1, requisite=True)
PAGE.links = [Link("http://h/within", "a", fate="requisite"), Link("http://h/i.png", "img", fate="requisite")]
KNOWN = Row(HREF, HREF, "h", 1, "fetched", "fetched", 200, depth=1, page=1, kept_status=200, requisite=True)


class _Scene:
    """The owner of the one partition, and what its log got."""

    def __init__(self, engine: SimulatedEngine, owner: Owner, max_depth: int | None, *, calls: int | None) -> None:
        self.stats, self.published, self.told = Stats(), list[Ticket](), list[Changed]()
        self._store = engine.store
        self._left = calls
        policy = Policy.of(msgspec.structs.replace(Config(), max_depth=max_depth))
        self.news = News(
            owner.partition,
            owner.intake.waiting,
            policy=policy,
            log=cast(Any, self),
            store=engine.store,
            effects=cast(Effects, self),
            orders=cast(Any, self),
            urls=Urls(),
            sent=RecentlySent(100),
            now=lambda: 1000.0,
            stats=self.stats,
            drops=cast(Any, self),
        )

    def ranked(self, tickets: list[Ticket]) -> list[Ticket]:
        return tickets

    async def run(self, effect: Any) -> Any:
        if self._left is not None:
            if not self._left:
                raise LeaseLost
            self._left -= 1
        return await effect()

    async def publish(self, tickets: list[Ticket]) -> None:
        self.published += tickets

    async def announce(self, changed: Changed) -> None:
        (row,) = await self._store.rows([HREF])
        assert row is not None and row.requisite, "after the row nobody would tell"
        self.told.append(changed)


async def _told(row: Row, max_depth: int | None, cut: int | None) -> tuple[list[Ticket], Row, Stats]:
    clock = ManualClock()
    engine = await SimulatedFactory(Path("none"), partitions=1).open(clock)
    owner = Owner(engine, clock, 1)
    await owner.take_over()
    stamp = owner.partition.stamp
    await engine.store.put_page(PAGE, None, None, stamp())
    await engine.store.put_rows([row], stamp())
    published: list[Ticket] = []
    told: list[Changed] = []
    for calls in [cut, None] if cut is not None else [None]:
        scene = _Scene(engine, owner, max_depth, calls=calls)
        (known,) = await engine.store.rows([HREF])
        assert known is not None
        try:
            await scene.news.apply(LINKED, known)
        except LeaseLost:
            published += scene.published
            told += scene.told
            continue
        published += scene.published
        told += scene.told
    assert {(changed.change, changed.requisite) for changed in told} <= {("fetched", False)}
    assert bool(told) == (row.page > 0)
    (after,) = await engine.store.rows([HREF])
    assert after is not None
    await engine.close()
    return published, after, scene.stats


@pytest.mark.parametrize("cut", [None, 0, 1, 2, 3])
def test_its_links_are_published_before_its_row_says_that_it_is_a_page(cut: int | None) -> None:
    published, row, stats = asyncio.run(_told(KNOWN, None, cut))
    assert {(ticket.href, ticket.depth, ticket.requisite) for ticket in published} == {
        ("http://h/within", 3, False),
        ("http://h/i.png", 2, True),
    }
    assert (row.requisite, row.depth, row.via, row.link, row.visits) == (False, 2, "http://h/second", "a", 1)
    assert stats.requisites == -1


def test_what_is_too_deep_from_the_link_is_not_published() -> None:
    published, row, _ = asyncio.run(_told(KNOWN, 2, None))
    assert [ticket.href for ticket in published] == ["http://h/i.png"]
    assert row.requisite is False


def test_where_it_was_a_redirect_it_is_asked_for_again() -> None:
    redirect = msgspec.structs.replace(KNOWN, state="redirected", page=0, target="http://h/x.png")
    published, row, _ = asyncio.run(_told(redirect, None, None))
    assert published == []
    assert (row.requisite, row.due, row.state) == (False, 1000.0, "redirected")
