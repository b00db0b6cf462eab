"""The steps of a settle: a content names a stored page, who loses a claim is a duplicate in the store too, and nothing
is written of a host that opted out."""

import asyncio
import errno
import io
import random
from types import SimpleNamespace
from typing import Any

import pytest

from gregor.schemas.messages import DeadLetter, Page, Row, Ticket
from gregor.worker.base.shortage import LocalShortage
from gregor.worker.borders.effects import Retries
from gregor.worker.borders.services import Services
from gregor.worker.borders.settlement import Settlement
from gregor.worker.observe.stats import Stats
from gregor.worker.settle.rows import forgotten
from gregor.worker.settle.settling import AtOnce, InSteps, settling_of

ME, OTHER = "http://h/me", "http://h/other"
HELD: Any = SimpleNamespace(holds=lambda: True)


class Servers:
    """A log, a seen set and a store; ``winner`` of the claim. `done`: what was asked in turn."""

    def __init__(self, winner: str) -> None:
        self.done: list[str] = []
        self.pages: list[tuple[str, str]] = []
        self.rows: list[Row] = []
        self._winner = winner

    async def claim(self, _: bytes, key: str) -> str:
        assert key == ME
        self.done.append("claim")
        return self._winner

    async def put_page(self, page: Page, body: object, wire: object, stamp: int) -> None:
        self.done.append("store")
        self.pages.append((page.state, page.duplicate_of))

    async def publish(self, tickets: list[Ticket]) -> None:
        self.done.append("links")

    async def announce(self, news: Page | DeadLetter) -> None:
        self.done.append("letter told" if isinstance(news, DeadLetter) else "news")

    async def put_dead_letter(self, letter: DeadLetter) -> None:
        self.done.append("letter")

    async def put_rows(self, rows: list[Row], stamp: int) -> None:
        self.done.append("row")
        self.rows += rows

    async def mark(self, fingerprints: list[int]) -> None:
        self.done.append("mark")


def settled(servers: Servers, opted_out: Any = lambda: False, *, claims: bool = True, told: bool = False) -> Settlement:
    """``told``: it has links, news and a letter."""
    answer: Any = SimpleNamespace(wire_body=None, body=SimpleNamespace(open=io.BytesIO))
    page = Page(ME, ME, "h", 1, "new", 200, 1.0, fingerprint=b"f" * 16)
    settlement = Settlement(
        page=page,
        tickets=[Ticket("http://h/link", "http://h/link", "h")] if told else [],
        news=page if told else None,
        letter=DeadLetter(ME, ME, "h", "cause", "why", 1.0) if told else None,
        answer=answer,
        claims=claims,
        partition=0,
        row=Row(ME, ME, "h", 1, "fetched", "fetched"),
        forgotten=forgotten,
        mark=1,
        stamp=lambda: 1,
        opted_out=opted_out,
    )
    some: Any = servers
    effects = Retries(Stats(), random.Random(1)).under(HELD)
    asyncio.run(InSteps(some, some, some, effects).settle(settlement))
    return settlement


def test_a_page_is_stored_before_its_content_names_it() -> None:
    servers = Servers(winner=ME)
    assert settled(servers).row.state == "fetched"
    assert servers.done == ["store", "claim", "row", "mark"]


def test_who_loses_the_claim_is_stored_again_as_the_duplicate_it_is() -> None:
    servers = Servers(winner=OTHER)
    assert settled(servers).row.state == "duplicate"
    assert servers.done == ["store", "claim", "store", "row", "mark"]
    assert servers.pages == [("fetched", ""), ("duplicate", OTHER)]
    assert servers.rows[0].state == "duplicate"


def test_a_content_that_has_an_owner_is_not_claimed() -> None:
    servers = Servers(winner=ME)
    settled(servers, claims=False)
    assert servers.done == ["store", "row", "mark"]


@pytest.mark.parametrize(
    ("heard_at", "done"),
    [
        (0, []),
        (1, ["store"]),
        (2, ["store", "claim"]),
        (3, ["store", "claim", "links"]),
        (4, ["store", "claim", "links", "news"]),
        (5, ["store", "claim", "links", "news", "letter", "letter told"]),
    ],
)
def test_nothing_is_written_once_it_is_heard_that_the_host_opted_out(heard_at: int, done: list[str]) -> None:
    servers, asked = Servers(winner=ME), iter(range(9))
    settlement = settled(servers, lambda: next(asked) >= heard_at, told=True)
    assert servers.done == [*done, "row", "mark"]
    assert servers.rows == [forgotten(settlement.row)] == [settlement.kept_row]


def test_an_engine_that_can_settles_at_once() -> None:
    some: Any = SimpleNamespace()
    effects = Retries(Stats(), random.Random(1)).under(HELD)
    assert isinstance(settling_of(Services(some, some, some, some, some, some, None, some), effects), AtOnce)
    assert isinstance(settling_of(Services(some, some, some, some, some, some), effects), InSteps)


@pytest.mark.parametrize("at_once", [True, False])
def test_what_this_machine_lacks_is_told_as_that(at_once: bool) -> None:
    async def lacking(*_: object) -> None:
        raise OSError(errno.EMFILE, "")

    servers = Servers(winner=ME)
    some: Any = servers
    settlement = settled(servers)
    some.put_page = some.settle = lacking
    effects = Retries(Stats(), random.Random(1)).under(HELD)
    settling = AtOnce(some, effects) if at_once else InSteps(some, some, some, effects)
    with pytest.raises(LocalShortage):
        asyncio.run(settling.settle(settlement))


def test_a_settlement_knows_what_became_of_its_page() -> None:
    left = settled(Servers(winner=ME))
    left.relabel(OTHER)
    assert left.page is not None
    assert (left.row.state, left.page.state, left.page.duplicate_of) == ("duplicate", "duplicate", OTHER)
