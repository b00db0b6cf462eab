"""Mending: many URLs at a time, each in its order, and nothing is left that the next check would find."""

import asyncio
from collections.abc import Sequence

from gregor.schemas.messages import Page, Row, url_fingerprint
from gregor.worker.borders.stock import Fault, StockPlace, TellMended, unheard
from gregor.worker.inspect.check import StockFinding
from gregor.worker.inspect.mend import Mender
from gregor.worker.web.urls import Urls
from tests.reading import MemoryReader

A, B = "http://a.test/", "http://b.test/"


class Noted:
    """A `Mending` that notes what it is asked, and takes a moment for each."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, object]] = []
        self.at_once = self.most = 0
        self.tell: TellMended = unheard

    async def _note(self, what: str, of: object) -> None:
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        await asyncio.sleep(0)
        self.at_once -= 1
        self.asked.append((what, of))

    async def drop(self, place: StockPlace) -> None:
        await self._note("drop", place[1])

    async def rebuild(self, row: Row) -> None:
        await self._note("rebuild", row.key)

    async def forget_validators(self, page: Page) -> None:
        await self._note("forget", page.key)

    async def ask_again(self, row: Row) -> None:
        await self._note("ask", row.key)

    async def mark(self, fingerprints: Sequence[int]) -> None:
        await self._note("mark", tuple(fingerprints))

    async def right(self, fault: Fault) -> None:
        await self._note("right", fault)

    async def close(self) -> None:
        """Nothing is held."""


def mended(*findings: StockFinding) -> tuple[int, Noted]:
    noted = Noted()
    count = asyncio.run(Mender(noted, MemoryReader(), Urls()).mend_all(findings))
    return count, noted


def test_a_row_that_is_made_anew_is_marked_as_seen_before_it_is_asked_for() -> None:
    count, noted = mended(StockFinding(("rows", A), "it is missing", "ask again", A))
    assert count == 1
    assert noted.asked == [("rebuild", A), ("mark", (url_fingerprint(A),)), ("ask", A)]


def test_what_is_of_one_url_is_done_in_its_order_and_of_several_together() -> None:
    findings = [StockFinding(("pages", url), "unreadable", "rebuild", url) for url in (A, A, B)]
    count, noted = mended(*findings)
    assert count == 3
    assert [what for what, of in noted.asked if of in (A, (url_fingerprint(A),))] == [
        *("drop", "rebuild", "mark", "ask"),
        "drop",
    ]
    assert noted.most == 2


def test_what_nobody_can_mend_is_not_counted() -> None:
    count, noted = mended(
        StockFinding(("pages", A), "an older version", "fetch again", A, 1), StockFinding(("x",), "y")
    )
    assert (count, noted.asked) == (0, [])
