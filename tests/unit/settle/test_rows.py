"""What a row says after a visit: the ticket's number, the page's state, and where the URL was met first."""

import msgspec

from gregor.schemas.messages import Page, Row, Ticket
from gregor.worker.settle.rows import REMEMBERED_ATTEMPTS, forgotten, settled_row
from gregor.worker.settle.verdicts import Verdict
from gregor.worker.settle.visited import Visited

NOW = 1_700_000_000.0
TICKET = Ticket("http://h/", "http://h/", "h", depth=4, via="http://h/first")
FETCHED = Verdict("fetched", "fetched", 200)


def settled(ticket: Ticket, row: Row | None, page: Page | None = None, verdict: Verdict = FETCHED) -> Row:
    return settled_row(Visited(ticket, row, None, page=page), verdict, NOW, "w")


def known(visits: int, **fields: object) -> Row:
    return msgspec.structs.replace(Row("http://h/", "http://h/", "h", visits, "waiting", "status 500"), **fields)


def test_the_row_counts_by_the_ticket_also_when_its_predecessors_row_never_came() -> None:
    early = msgspec.structs.replace(TICKET, visit=3, kind="retry")
    assert settled(early, known(1)).visits == 4
    assert settled(early, None).visits == 4
    assert settled(TICKET, None).visits == 1


def test_a_duplicate_is_told_by_its_page() -> None:
    page = Page("http://h/", "http://h/", "h", 1, "new", 200, NOW, state="duplicate", duplicate_of="http://h/x")
    row = settled(TICKET, None, page)
    assert (row.state, row.page, row.kept_status) == ("duplicate", 1, 200)


def test_without_a_page_the_newest_stored_version_stays() -> None:
    before = known(2, page=2, kept_status=203, kept_size=7, kept_language="de")
    row = settled(TICKET, before, verdict=Verdict("gone", "status 404", 404))
    assert (row.state, row.page) == ("gone", 2)
    assert (row.kept_status, row.kept_size, row.kept_language) == (203, 7, "de")
    page = Page("http://h/", "http://h/", "h", 3, "revisit", 200, NOW, size=9, language="en")
    row = settled(TICKET, before, page)
    assert (row.kept_size, row.kept_language) == (9, "en")


def test_where_it_was_met_first_stays_and_the_shorter_way_counts() -> None:
    first = known(1, depth=2, via="http://h/other", first_seen=5.0)
    row = settled(msgspec.structs.replace(TICKET, visit=1), first)
    assert (row.via, row.depth, row.first_seen) == ("http://h/other", 2, 5.0)
    assert settled(msgspec.structs.replace(TICKET, visit=1, depth=1), first).depth == 1


def test_attempts_are_remembered_up_to_a_bound() -> None:
    row = None
    for visit in range(REMEMBERED_ATTEMPTS + 3):
        row = settled(msgspec.structs.replace(TICKET, visit=visit), row)
    assert row is not None
    assert len(row.attempts) == REMEMBERED_ATTEMPTS


def test_where_a_requisite_was_found_is_where_a_link_made_a_page_of_it() -> None:
    needed = msgspec.structs.replace(TICKET, depth=1, via="http://h/shows", link="img", requisite=True)
    first = settled(needed, None)
    assert (first.requisite, first.depth, first.via) == (True, 1, "http://h/shows")
    assert settled(msgspec.structs.replace(needed, visit=1), first).requisite
    page = settled(msgspec.structs.replace(TICKET, visit=1), first)
    assert (page.requisite, page.depth, page.via) == (False, 4, "http://h/first")
    assert not settled(msgspec.structs.replace(needed, visit=2), page).requisite  # never back


def test_of_a_host_that_opted_out_meanwhile_no_row_says_more() -> None:
    row = Row("http://a.test/", "http://a.test/", "a.test", 1, "fetched", "fetched", 200, via="http://b.test/")
    kept = forgotten(row)
    assert (kept.key, kept.visits, kept.state, kept.via, kept.status) == (row.key, 1, "denied", "", 0)
