"""Which URLs are stale, and when what is kept of them goes."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from gregor.schemas.messages import Attempt, Row, Ticket, url_fingerprint
from gregor.worker.borders.errors import Damaged, DiskFull, Unavailable
from gregor.worker.compose import staleness
from gregor.worker.config.check import check
from gregor.worker.config.settings import Config, ConfigError
from gregor.worker.frontier.sent import RecentlySent, SentByDepth
from gregor.worker.frontier.tickets import is_stale as is_done
from gregor.worker.links.tickets import dropping
from gregor.worker.settle.revisits import Revisits
from gregor.worker.settle.rows import forgotten
from gregor.worker.settle.staleness import is_stale

NOW = 1000.0


def row(**fields: Any) -> Row:
    usual: dict[str, Any] = {"state": "fetched", "attempts": (Attempt(900.0, "x"),), "first_seen": 100.0, "page": 1}
    return Row(**{"key": "http://h/", "href": "http://h/", "host": "h", "visits": 2, "outcome": "", **usual, **fields})


@pytest.mark.parametrize(
    ("known", "stale"),
    [
        (row(), True),
        (row(attempts=(Attempt(950.0, "x"),)), False),
        (row(state="duplicate"), True),
        (row(state="denied", page=0), True),
        (row(state="dead"), True),
        (row(due=NOW - 1), False),
        (row(due=NOW + 999), False),
        (row(state="waiting"), False),
        (row(state="gone", gone_since=899.0), True),
        (row(state="gone", gone_since=901.0), False),
        (row(state="gone", gone_since=899.0, due=NOW + 1), True),
        (row(state="gone", gone_since=0.0), True),
        (forgotten(row()), False),
        (row(visits=0), False),
    ],
)
def test_what_is_stale(known: Row, stale: bool) -> None:
    assert is_stale(known, 100.0, NOW) is stale


def test_pages_are_not_stale_where_all_are_visited_again() -> None:
    """A row may not say when: `revisit` is younger than it."""
    assert not is_stale(row(), 100.0, NOW, visits_again=True)
    for gone in (row(state="gone", gone_since=899.0), row(state="dead"), row(state="denied", page=0)):
        assert is_stale(gone, 100.0, NOW, visits_again=True)


async def never() -> bool:
    return False


@pytest.mark.parametrize("ended", [False, True])
@pytest.mark.parametrize("visits_again", [False, True])
def test_what_leads_on_goes_last_where_pages_are_visited_once(ended: bool, visits_again: bool) -> None:
    """What is yet to be visited would find it anew, and so on without an end."""
    on = [row(key=state, state=state) for state in ("fetched", "duplicate", "redirected")]
    off = [row(key=state, state=state, gone_since=1.0) for state in ("gone", "denied", "dead", "refused")]
    asked = list[Ticket]()

    class Crawl:
        async def rows(self, state: None, host: None) -> AsyncIterator[Row]:
            for known in [*on, *off]:
                yield known

        async def publish(self, tickets: list[Ticket]) -> None:
            asked.extend(tickets)

    async def has_ended() -> bool:
        return ended

    async def collect() -> int:
        return 0

    crawl: Any = Crawl()
    again = {"visits_again": visits_again, "has_ended": has_ended}
    stale = staleness.StaleUrls(100.0, log=crawl, reader=crawl, now=lambda: NOW, collect=collect, **again)  # type: ignore[arg-type]
    assert asyncio.run(stale.ask()) == len(asked)
    gone = {ticket.key for ticket in asked}
    assert gone >= {known.key for known in off}
    assert ("redirected" in gone) is (ended or visits_again)
    assert gone.issuperset(("fetched", "duplicate")) is (ended and not visits_again)


def test_a_ticket_to_drop_asks_for_no_visit() -> None:
    ticket = dropping(row(), NOW)
    assert (ticket.kind, ticket.visit) == ("drop", 2)
    for known in (None, row(), row(visits=9), row(state="waiting")):
        assert is_done(ticket, known)


def test_what_is_gone_is_not_planned_beyond_its_end() -> None:
    revisits = Revisits.of(Config(revisit=10.0, stale_after=100.0))
    assert revisits is not None
    assert not revisits.dropped_before(row(state="gone", gone_since=950.0), NOW + 49, NOW)
    assert revisits.dropped_before(row(state="gone", gone_since=950.0), NOW + 50, NOW)
    assert not revisits.dropped_before(None, NOW + 99, NOW)
    assert revisits.longest == 50.0, "what is there is visited before it would be stale"


def test_pages_that_are_visited_again_are_not_to_be_dropped_before() -> None:
    check(Config(revisit=10.0, stale_after=11.0))
    check(Config(stale_after=1.0))
    with pytest.raises(ConfigError, match="stale_after"):
        check(Config(revisit=10.0, stale_after=10.0))


@pytest.mark.parametrize("kind", [RecentlySent, SentByDepth])
def test_a_link_to_what_was_dropped_is_published(kind: type[RecentlySent]) -> None:
    sent = kind(4)
    for number in range(3):
        sent.learn([Ticket("", f"http://h/{number}", "h")])
    for number in range(3):
        sent.forget(f"http://h/{number}")
        assert not sent.knows(url_fingerprint(f"http://h/{number}"), 99)


@pytest.mark.parametrize("fault", [Unavailable("store", "x"), DiskFull("x"), Damaged("row", "x", "y"), OSError("x")])
def test_what_cannot_be_collected_now_is_collected_later(monkeypatch: pytest.MonkeyPatch, fault: Exception) -> None:
    class Reader:
        async def rows(self, state: None, host: None) -> AsyncIterator[Row]:
            for known in list[Row]():
                yield known

    async def collect() -> int:
        asked.append(1)
        if len(asked) > 1:
            raise asyncio.CancelledError
        raise fault

    asked = list[int]()
    monkeypatch.setattr(staleness, "_SHORTEST", 0.0)
    reader: Any = Reader()
    log: Any = None
    stale = staleness.StaleUrls(
        1e-9, log=log, reader=reader, now=lambda: NOW, collect=collect, visits_again=True, has_ended=never
    )
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(stale.keep(lambda: 0.0))
    assert len(asked) == 2
