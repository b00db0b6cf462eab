"""Whether all that a crawl stored is whole and fits together: rows, pages, bodies, tickets, the seen set.

Everything is read once, in the order in which nothing that runs beside can hide: pages before the tickets that their
links became, tickets before the rows that these became. What then seems to be missing is looked for by its name.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from functools import lru_cache
from typing import Final, Literal, TypeAlias, TypeVar

import msgspec
import xxhash

from gregor.schemas.messages import KEPT, TERMINAL, Page, Row, Ticket, url_fingerprint
from gregor.worker.borders.stock import Fault, NewSets, Sets, Stock, StockPlace, StoredRecord
from gregor.worker.web.urls import Urls

T = TypeVar("T")
MendKind: TypeAlias = Literal["", "drop", "rebuild", "ask again", "fetch again", "mark", "right", "index"]
_NAMED: Final = 100_000
"""Of each kind of what is missing, in one look: their numbers are in memory meanwhile."""
_LOOKED_FOR: Final = 200
_CACHED: Final = 200_000


class StockFinding(msgspec.Struct, frozen=True):
    """Something that is not as it should be. ``mend``: what can be done about it; empty for nothing.

    ``key``: of the URL that it is about, if it is about one; ``visit``: the version whose body is missing or damaged.
    """

    place: StockPlace
    why: str
    mend: MendKind = ""
    key: str = ""
    visit: int = 0
    fault: Fault | None = None
    fingerprints: tuple[int, ...] = ()


CheckProgress: TypeAlias = Callable[[str, int], None]
"""Hears what is being looked at, and how many of it were."""


class StockCheck:
    """One look through a stock; ``urls`` writes URLs as the crawl does; ``drops``: stale URLs were dropped, so that
    where a link leads need not be known."""

    def __init__(
        self, stock: Stock, urls: Urls, new_sets: NewSets, progress: CheckProgress, *, drops: bool = False
    ) -> None:
        self._stock = stock
        self._urls = urls
        self._drops = drops
        self._fingerprint = lru_cache(maxsize=_CACHED)(self._fingerprint_of)
        self._looked = 0
        self._progress = progress
        self._versions = new_sets()  # named by rows | stored
        self._bodies = new_sets()  # named by pages | stored and whole
        self._orphans = new_sets()  # stored | named by pages
        self._sent = new_sets()  # links that were sent, URLs of pages | rows and tickets
        self._needing = new_sets()  # rows that wait | tickets
        self._planned = new_sets()  # rows that are to be visited again | tickets
        self.counts: dict[str, int] = {}
        self.unnamed = 0
        """What seems to be missing beyond what was named: the next look finds it, once the others are mended."""

    async def findings(self) -> AsyncIterator[StockFinding]:
        """All that is wrong."""
        try:
            async for fault in self._stock.faults():
                yield StockFinding(fault.place, fault.why, "right" if fault.mend else "", fault=fault)
            for part in (self._pages, self._body_files, self._tickets, self._rows, self._others):
                async for finding in part():
                    yield finding
            for part in (self._name_in_pages, self._name_in_rows, self._unnamed_bodies):
                async for finding in part():
                    yield finding
        finally:
            for sets in self._all_sets():
                sets.close()

    def _all_sets(self) -> Sequence[Sets]:
        return (self._versions, self._bodies, self._orphans, self._sent, self._needing, self._planned)

    def _count(self, what: str, many: int) -> None:
        self.counts[what] = self.counts.get(what, 0) + many
        self._progress(what, self.counts[what])

    # One look at everything

    async def _pages(self) -> AsyncIterator[StockFinding]:
        async for batch in self._stock.pages():
            self._count("pages", len(batch))
            for kept in batch:
                if kept.value is None:
                    yield _damaged(kept, "rebuild")
            pages = [kept.value for kept in batch if kept.value is not None]
            named = [_body(sha256) for page in pages for sha256 in _bodies(page)]
            self._versions.right([_version(page.key, page.visit) for page in pages])
            self._bodies.left(named)
            self._orphans.right(named)
            self._sent.left([url_fingerprint(page.key) for page in pages])
            linking = [] if self._drops else pages
            self._sent.left(
                [number for page in linking for number in map(self._fingerprint, _sent_links(page)) if number]
            )

    async def _body_files(self) -> AsyncIterator[StockFinding]:
        async for batch in self._stock.bodies():
            self._count("bodies", len(batch))
            for kept in batch:
                if kept.value is None:
                    yield _damaged(kept, "drop")
            intact = [_body(kept.value) for kept in batch if kept.value is not None]
            self._bodies.right(intact)
            self._orphans.left(intact)

    async def _tickets(self) -> AsyncIterator[StockFinding]:
        async for batch in self._stock.waiting():
            self._count("tickets", len(batch))
            for kept in batch:
                if kept.value is None:
                    yield _damaged(kept, "drop")
            numbers = [url_fingerprint(kept.value.key) for kept in batch if kept.value is not None and kept.value.key]
            for sets in (self._sent, self._needing, self._planned):
                sets.right(numbers)
            async for finding in self._unseen(_entered(batch)):
                yield finding

    async def _rows(self) -> AsyncIterator[StockFinding]:
        async for batch in self._stock.rows():
            self._count("rows", len(batch))
            for kept in batch:
                if kept.value is None:
                    yield _damaged(kept, "rebuild")
            rows = [kept.value for kept in batch if kept.value is not None]
            numbers = [url_fingerprint(str(kept.place[1])) for kept in batch]
            self._sent.right(numbers)
            self._versions.left([_version(row.key, row.page) for row in rows if row.state in KEPT and row.page])
            self._needing.left([url_fingerprint(row.key) for row in rows if row.state == "waiting"])
            self._planned.left([url_fingerprint(row.key) for row in rows if row.state != "waiting" and row.due])
            async for finding in self._unseen(numbers):
                yield finding

    async def _unseen(self, numbers: list[int]) -> AsyncIterator[StockFinding]:
        if numbers and (unseen := await self._stock.unseen(numbers)):
            why = f"the seen set does not know {len(unseen)} URLs that have a row or an entry: each costs a look-up"
            yield StockFinding(("seen",), why, "mark", fingerprints=tuple(unseen))

    async def _others(self) -> AsyncIterator[StockFinding]:
        async for batch in self._stock.others():
            self._count("other records", len(batch))
            for kept in batch:
                if kept.value is None:
                    yield _damaged(kept, "drop")

    # What is missing, by its name

    async def _name_in_pages(self) -> AsyncIterator[StockFinding]:
        bodies, lost = self._only_left(self._bodies), self._only_left(self._sent)
        if not bodies and not lost:
            return
        async for batch in self._stock.pages():
            for page in (kept.value for kept in batch if kept.value is not None):
                if wanting := [sha256 for sha256 in _bodies(page) if _body(sha256) in bodies]:
                    which = "wire body" if wanting == [page.wire] and page.wire != page.body else "body"
                    why = f"its {which} {wanting[0]} is missing or damaged"
                    yield StockFinding(("pages", page.key, page.visit), why, "fetch again", page.key, page.visit)
                async for finding in self._lost(page, lost):
                    yield finding

    def _only_left(self, sets: Sets) -> set[int]:
        """What is in the left of two sets alone, `_NAMED` at most."""
        numbers, count = sets.only_left(_NAMED)
        self.unnamed += count - len(numbers)
        return numbers

    async def _lost(self, page: Page, lost: set[int]) -> AsyncIterator[StockFinding]:
        """The page's URL and those of its links that nothing is known of."""
        if url_fingerprint(page.key) in lost and not await self._is_there(page.key, page.host):
            lost.discard(url_fingerprint(page.key))
            why = "a page of it is stored, and it has neither a row nor a ticket"
            yield StockFinding(("rows", page.key), why, "rebuild", page.key)
        led = {href: number for href in _sent_links(page) if (number := self._fingerprint(href)) in lost}
        row = await self._stock.row(page.key) if led else None
        if row is None or row.visits < page.visit:
            return  # its visit is not settled: its links are sent when it is
        for href, number in led.items():
            url = self._urls.parse(href)
            if url is not None and number in lost:
                lost.discard(number)
                if not await self._is_there(url.key, url.host):
                    why = f"a link of {page.href} to it was sent, and it has neither a row nor a ticket"
                    yield StockFinding(("rows", url.key), why, "rebuild", url.key)

    async def _is_there(self, key: str, host: str) -> bool:
        self._looked += 1
        if self._looked > _LOOKED_FOR:
            return False
        return await self._stock.row(key) is not None or await self._stock.unfinished(key, host)

    def _fingerprint_of(self, href: str) -> int:
        """Of where a link leads; 0 when that is no URL."""
        url = self._urls.parse(href)
        return 0 if url is None else url_fingerprint(url.key)

    async def _name_in_rows(self) -> AsyncIterator[StockFinding]:
        versions, needing, planned = map(self._only_left, (self._versions, self._needing, self._planned))
        if not (versions or needing or planned):
            return
        async for batch in self._stock.rows():
            for row in (kept.value for kept in batch if kept.value is not None):
                number = url_fingerprint(row.key)
                if row.page and row.state in KEPT and _version(row.key, row.page) in versions:
                    yield StockFinding(
                        ("rows", row.key), f"version {row.page} of its page is missing", "ask again", row.key
                    )
                elif number in needing and row.state == "waiting" and not await self._waits(row):
                    yield StockFinding(
                        ("rows", row.key), "it waits, and no ticket asks for its visit", "ask again", row.key
                    )
                elif number in planned and row.due and row.state != "waiting" and not await self._waits(row):
                    why = "another visit of it is planned, and no entry of the calendar asks for it"
                    yield StockFinding(("rows", row.key), why, "ask again", row.key)

    async def _waits(self, row: Row) -> bool:
        """Whether a ticket is there, or the row is another one by now."""
        self._looked += 1
        if self._looked > _LOOKED_FOR:
            return False
        return await self._stock.unfinished(row.key, row.host) or await self._stock.row(row.key) != row

    async def _unnamed_bodies(self) -> AsyncIterator[StockFinding]:
        """A body is stored before its page: after a crash it may stay alone, which wastes its room."""
        orphans = self._only_left(self._orphans)
        if not orphans:
            return
        async for batch in self._stock.bodies():
            alone = [kept for kept in batch if kept.value is not None and _body(kept.value) in orphans]
            loose = await self._stock.loose([kept.value for kept in alone if kept.value is not None])
            for kept in alone:
                if kept.value not in loose:
                    yield StockFinding(kept.place, "no stored page names it: it only takes room", "drop")


def _damaged(kept: StoredRecord[T], mend: MendKind) -> StockFinding:
    """Of a record that cannot be read. Nothing can be done where the file is broken, or in the log."""
    mendable = kept.place[0] not in ("file", "log")
    return StockFinding(kept.place, kept.why, mend if mendable else "", str(kept.place[1]) if mend == "rebuild" else "")


def rebuilt(row: Row | None, key: str, host: str, newest: Page | None) -> Row:
    """The row of a URL whose own is damaged or lost: what its newest page says, or that nothing was settled."""
    if row is not None:
        return row
    if newest is None:
        return Row(key, key, host, 0, "waiting", "mended", link="mended")
    return Row(
        key=key,
        href=newest.href,
        host=newest.host,
        visits=newest.visit,
        state=newest.state if newest.state in TERMINAL else "fetched",
        outcome="mended",
        status=newest.status,
        depth=newest.depth,
        hops=newest.hops,
        via=newest.via,
        label=newest.label,
        page=newest.visit,
        requisite=newest.requisite,
    )


def _bodies(page: Page) -> list[str]:
    return [name for name in dict.fromkeys((page.body, page.wire)) if name]


def _body(sha256: str) -> int:
    return int(sha256[:16], 16)


def _version(key: str, visit: int) -> int:
    return xxhash.xxh3_64_intdigest(f"{visit} {key}".encode())


def _sent_links(page: Page) -> list[str]:
    """Where the links lead that were sent."""
    return [link.url for link in page.links if link.fate == "sent"]


def _entered(found: Sequence[StoredRecord[Ticket]]) -> list[int]:
    """Those of calendar and backlogs, whose URLs the seen set knows."""
    tickets = [kept.value for kept in found if kept.value is not None and kept.place[0] != "log"]
    return [url_fingerprint(ticket.key) for ticket in tickets if ticket.kind in ("new", "retry", "revisit")]
