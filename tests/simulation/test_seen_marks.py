"""A worker dies around what it marks as seen, or claims as its content: hardly anything is asked for again; of pages
with one content one is stored and the others name it."""

from typing import Any

import pytest

from gregor.schemas.messages import Page, decode
from tests.simulation.faults import Fault
from tests.simulation.resources import Resource
from tests.simulation.sites import HOST, crawl, page, requests, row, site

COPIES = ("/one", "/two", "/three")


@pytest.mark.parametrize("n", range(1, 4))
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize(
    ("service", "op"),
    [("seen", "mark"), ("seen", "claim"), ("store", "put_page"), ("store", "put_rows"), ("store", "settle")],
)
def test_a_worker_dies_between_a_page_and_its_seen_mark(service: Any, op: str, when: Any, n: int) -> None:
    same = page("same")
    resources: dict[str, Resource] = {"/": page("first", *COPIES, "/other"), "/other": page("other", *COPIES)}
    resources |= dict.fromkeys(COPIES, same)
    run = crawl([site(resources)], Fault("die", service, op, n, when), partitions=1, at_once=op == "settle")
    again = [path for path in resources if len(requests(run, path)) > 1]
    assert len(again) <= 1, "what was in flight, at most"
    rows = [row(run, path) for path in COPIES]
    states = sorted(kept.state for kept in rows)
    assert states == ["duplicate", "duplicate", "fetched"]
    original = next(kept.key for kept in rows if kept.state == "fetched")
    pages = run.world.store.pages.values
    named = {decode(pages[kept.key, kept.page], Page).duplicate_of for kept in rows if kept.state == "duplicate"}
    assert named == {original}
    assert original.startswith(f"http://{HOST}/")
