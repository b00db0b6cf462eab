"""What a page is by those that are stored, which version a revisit is compared with, what is learnt of one."""

import asyncio
import random
from types import SimpleNamespace
from typing import Any, cast

import pytest

from gregor.schemas.messages import PRIORITIES, Page, Row, Ticket
from gregor.worker.borders.coordinator import Lease
from gregor.worker.borders.effects import Retries
from gregor.worker.extract.crawled import Extracted
from gregor.worker.extract.model import Loss
from gregor.worker.frontier.calendar import Calendar
from gregor.worker.frontier.partition import Partition
from gregor.worker.links.traps import Traps
from gregor.worker.observe.stats import Stats
from gregor.worker.settle.page_writer import PageWriter
from gregor.worker.settle.visited import Visited
from gregor.worker.web.urls import Urls

ME, OTHER = "http://h/me", "http://h/other"


class Servers:
    """A seen set and a store; ``owner`` of the content. `done`: what was asked in turn."""

    def __init__(self, owner: str | None) -> None:
        self.done: list[str] = []
        self._owner = owner
        self.like: str | None = None

    async def content(self, _: bytes) -> str | None:
        self.done.append("look up")
        return self._owner

    async def near(self, sketch: bytes, least: float) -> str | None:
        return self.like

    async def page(self, key: str, visit: int) -> Page:
        return Page(key, key, "h", visit, "new", 200, 1.0)


def writer_of(servers: Servers, traps: Any = None) -> PageWriter:
    partition: Any = SimpleNamespace(stamp=lambda: 1)
    lease: Any = SimpleNamespace(holds=lambda: True)
    effects = Retries(Stats(), random.Random(1)).under(lease)
    some: Any = servers
    return PageWriter(
        partition, store=some, seen=some, effects=effects, traps=traps, stats=Stats(), near_duplicate_share=0.65
    )


def visited(extracted: Extracted | None = None) -> Visited:
    page = Page(ME, ME, "h", 1, "new", 200, 1.0, fingerprint=b"f" * 16)
    response: Any = SimpleNamespace()
    return Visited(Ticket(ME, ME, "h"), None, None, response=response, page=page, extracted=extracted)


@pytest.mark.parametrize(("owner", "claims"), [(None, True), (ME, True), (OTHER, False)])
def test_whose_content_has_another_owner_is_a_duplicate_at_once_and_claims_nothing(
    owner: str | None, claims: bool
) -> None:
    servers, visit = Servers(owner), visited()
    assert asyncio.run(writer_of(servers).compare(visit)) is claims
    assert visit.page is not None
    assert (visit.page.state, visit.page.duplicate_of) == (("fetched", "") if claims else ("duplicate", OTHER))
    assert servers.done == ["look up"]


@pytest.mark.parametrize(("like", "near"), [(None, ""), (OTHER, OTHER), (ME, "")])
def test_a_page_that_is_like_another_says_so_and_never_that_it_is_like_itself(like: str | None, near: str) -> None:
    servers, visit = Servers(None), visited()
    servers.like = like
    assert visit.page is not None
    visit.page.sketch, visit.page.near_duplicate_of = b"sketch", "as it was before"
    asyncio.run(writer_of(servers).compare(visit))
    assert visit.page.near_duplicate_of == near


@pytest.mark.parametrize(("row", "learnt"), [(None, 1), (Row(ME, ME, "h", 1, "fetched", "", page=1), 0)])
def test_of_a_page_that_was_stored_before_what_follows_is_made_up_for(row: Row | None, learnt: int) -> None:
    told: list[tuple[str, str]] = []
    traps: Any = SimpleNamespace(learn=lambda url, **said: told.append((url.key, said["text"])))
    page, url = Page(ME, ME, "h", 1, "new", 200, 1.0, title="Me", text="words"), Urls().parse(ME)
    assert url is not None
    writer_of(Servers(None), traps).stored(Visited(Ticket(ME, ME, "h"), row, None, url, page=page))
    assert told == [(ME, "Me\nwords")] * learnt


@pytest.mark.parametrize(
    ("kind", "page", "visit"), [("revisit", 2, 2), ("retry", 2, 2), ("retry", 0, None), ("revisit", 0, None)]
)
def test_a_revisit_is_compared_with_the_newest_version_and_so_is_its_retry(
    kind: Any, page: int, visit: int | None
) -> None:
    row = Row(ME, ME, "h", 3, "waiting", "status 503", page=page)
    writer = writer_of(Servers(None))
    version = asyncio.run(writer.version(Ticket(ME, ME, "h", visit=3, kind=kind), row))
    assert (version and version.visit) == visit


def partition_of() -> Partition:
    lease = cast(Lease, SimpleNamespace(partition=0, epoch=1))
    return Partition(lease, dict.fromkeys(PRIORITIES, 0), {}, cast(Calendar, None))


def test_what_rules_made_of_a_page_is_counted_once_it_is_stored() -> None:
    stats, partition = Stats(), partition_of()
    values = {("job", ""): False, ("job", "title"): False}
    extracted = Extracted(values=values, required=set(values), losses=[Loss("job", "title is missing")])
    some: Any = Servers(None)
    lease: Any = SimpleNamespace(holds=lambda: True)
    writer = PageWriter(
        partition,
        store=some,
        seen=some,
        effects=Retries(stats, random.Random(1)).under(lease),
        traps=cast(Traps, None),
        stats=stats,
        near_duplicate_share=0.68,
    )
    writer.stored(visited(extracted))
    assert stats.extracted.lost_items == {"job": 1}
    assert partition.fields.kept()["job\ttitle"].examples == (ME,)
