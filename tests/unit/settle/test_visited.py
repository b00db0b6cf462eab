"""What is told of a visit to whoever follows the crawl."""

import msgspec
import pytest

from gregor.schemas.messages import Changed, Page, Row, State, Ticket
from gregor.worker.settle.visited import Visited

URL = "http://a.example/"
ROW = Row(URL, URL, "a.example", 3, "fetched", "fetched", page=2)
TICKET = Ticket(URL, URL, "a.example", visit=3, kind="revisit")


@pytest.mark.parametrize("state", ["gone", "redirected", "denied", "dead", "refused"])
def test_that_a_stored_page_stands_otherwise_is_told(state: State) -> None:
    told = Visited(TICKET, ROW, None).news(state, 7.0)
    assert told == Changed(URL, URL, "a.example", 4, state, 7.0)


@pytest.mark.parametrize(
    ("row", "state"),
    [
        (None, "gone"),  # nobody heard of it
        (msgspec.structs.replace(ROW, page=0), "gone"),
        (ROW, "fetched"),  # nothing is new
        (ROW, "waiting"),  # it may come back
        (msgspec.structs.replace(ROW, state="gone"), "gone"),
    ],
)
def test_what_changes_nothing_is_not_told(row: Row | None, state: State) -> None:
    assert Visited(TICKET, row, None).news(state, 7.0) is None


def test_a_stored_page_is_told_itself() -> None:
    page = Page(URL, URL, "a.example", 4, "revisit", 200, 7.0)
    assert Visited(TICKET, ROW, None, page=page).news("fetched", 7.0) is page
