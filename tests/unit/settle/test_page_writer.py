"""A content names a stored page, and the one that loses a claim is a duplicate in the store too."""

import asyncio
import io
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

ME, OTHER = "http://h/me", "http://h/other"


class Servers:
    """A seen set and a store; ``owner`` by the first look, ``winner`` of the claim. `done`: what was asked in turn."""

    def __init__(self, owner: str | None, winner: str) -> None:
        self.done: list[str] = []
        self.stored: list[tuple[str, str]] = []
        self._owner, self._winner = owner, winner

    async def content(self, _: bytes) -> str | None:
        self.done.append("look up")
        return self._owner

    async def claim(self, _: bytes, key: str) -> str:
        assert key == ME
        self.done.append("claim")
        return self._winner

    async def page(self, key: str, visit: int) -> Page:
        return Page(key, key, "h", visit, "new", 200, 1.0)

    async def put_page(self, page: Page, body: object, wire: object, stamp: int) -> None:
        self.done.append("store")
        self.stored.append((page.state, page.duplicate_of))


def writer_of(servers: Servers) -> PageWriter:
    partition: Any = SimpleNamespace(stamp=lambda: 1)
    lease: Any = SimpleNamespace(holds=lambda: True)
    effects = Retries(Stats(), random.Random(1)).under(lease)
    some: Any = servers
    nothing: Any = None
    return PageWriter(
        partition, store=some, seen=some, effects=effects, traps=nothing, stats=Stats(), near_duplicate_share=0.65
    )


def visited(extracted: Extracted | None = None) -> Visited:
    page = Page(ME, ME, "h", 1, "new", 200, 1.0, fingerprint=b"f" * 16)
    response: Any = SimpleNamespace(wire_body=None, body=SimpleNamespace(open=lambda: io.BytesIO(b"")))
    return Visited(Ticket(ME, ME, "h"), None, None, response=response, page=page, extracted=extracted)


def stored(servers: Servers) -> Page:
    visit = visited()
    asyncio.run(writer_of(servers).store(visit, lambda _: False))
    assert visit.page is not None
    return visit.page


@pytest.mark.parametrize("owner", [None, ME])
def test_a_page_is_stored_before_its_content_names_it(owner: str | None) -> None:
    servers = Servers(owner, winner=ME)
    assert stored(servers).state == "fetched"
    assert servers.done == ["look up", "store", "claim"]


def test_who_loses_the_claim_is_stored_again_as_the_duplicate_it_is() -> None:
    servers = Servers(None, winner=OTHER)
    assert stored(servers).duplicate_of == OTHER
    assert servers.done == ["look up", "store", "claim", "store"]
    assert servers.stored == [("fetched", ""), ("duplicate", OTHER)]


def test_a_content_that_has_an_owner_is_a_duplicate_at_once_and_claims_nothing() -> None:
    servers = Servers(OTHER, winner=ME)
    assert stored(servers).state == "duplicate"
    assert servers.done == ["look up", "store"]
    assert servers.stored == [("duplicate", OTHER)]


@pytest.mark.parametrize(
    ("kind", "page", "visit"), [("revisit", 2, 2), ("retry", 2, 2), ("retry", 0, None), ("revisit", 0, None)]
)
def test_a_revisit_is_compared_with_the_newest_version_and_so_is_its_retry(
    kind: Any, page: int, visit: int | None
) -> None:
    row = Row(ME, ME, "h", 3, "waiting", "status 503", page=page)
    writer = writer_of(Servers(None, winner=ME))
    version = asyncio.run(writer.version(Ticket(ME, ME, "h", visit=3, kind=kind), row))
    assert (version and version.visit) == visit


def partition_of() -> Partition:
    lease = cast(Lease, SimpleNamespace(partition=0, epoch=1))
    return Partition(lease, dict.fromkeys(PRIORITIES, 0), {}, cast(Calendar, None))


def test_what_rules_made_of_a_page_is_counted_once_it_is_stored() -> None:
    stats, partition = Stats(), partition_of()
    values = {("job", ""): False, ("job", "title"): False}
    extracted = Extracted(values=values, required=set(values), losses=[Loss("job", "title is missing")])
    some: Any = Servers(None, winner=ME)
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
    asyncio.run(writer.store(visited(extracted), lambda _: False))
    assert stats.extracted.lost_items == {"job": 1}
    assert partition.fields.kept()["job\ttitle"].examples == (ME,)


@pytest.mark.parametrize(
    ("heard_at", "done"), [(0, ["look up"]), (1, ["look up", "store"]), (2, ["look up", "store", "claim"])]
)
def test_nothing_is_written_once_it_is_heard_that_the_host_opted_out(heard_at: int, done: list[str]) -> None:
    servers, asked = Servers(None, winner=ME), iter(range(9))
    asyncio.run(writer_of(servers).store(visited(), lambda host: host == "h" and next(asked) >= heard_at))
    assert servers.done == done
