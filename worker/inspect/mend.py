"""Mending what a check found, so that nothing is lost by it: what is damaged goes after what takes its place is there.

May be cut short at any point and repeated: what is left is found again by the next check.
"""

from collections.abc import AsyncIterator, Iterable
from typing import Final

from gregor.schemas.messages import Row, url_fingerprint
from gregor.worker.base.streams import in_order
from gregor.worker.borders.reader import Reader
from gregor.worker.borders.stock import Mending
from gregor.worker.frontier.ahead import CLOCK
from gregor.worker.inspect.check import StockFinding, rebuilt
from gregor.worker.inspect.versions import undamaged
from gregor.worker.web.urls import Urls

_AT_ONCE: Final = 256
"""URLs that are mended at a time."""


class Mender:
    """Applies findings."""

    def __init__(self, mending: Mending, reader: Reader, urls: Urls) -> None:
        self._mending = mending
        self._reader = reader
        self._urls = urls
        self._asked: set[str] = set()

    async def mend_all(self, findings: Iterable[StockFinding]) -> int:
        """How many of them are mended. Many are on their way at once, since each waits for a disk or a network; what is
        of one URL is done in its order. Dates are set back last, when nothing else is written."""
        by_url: dict[str | int, list[StockFinding]] = {}
        of_dates: list[StockFinding] = []
        for number, finding in enumerate(findings):
            if finding.place == (CLOCK,):
                of_dates.append(finding)
            else:
                by_url.setdefault(finding.key or number, []).append(finding)

        async def urls() -> AsyncIterator[list[StockFinding]]:
            for of_url in by_url.values():
                yield of_url

        async def mend_each(of_url: list[StockFinding]) -> int:
            return sum([await self.mend(finding) for finding in of_url])

        mended = 0
        async for mended_of_url in in_order(urls(), mend_each, _AT_ONCE):
            mended += mended_of_url
            self._mending.tell("mended", mended)
        return mended + await mend_each(of_dates)

    async def mend(self, finding: StockFinding) -> bool:
        """Do what the finding says of its mend; False when there is nothing that can be done."""
        match finding.mend:
            case "drop":
                await self._mending.drop(finding.place)
            case "mark":
                await self._mending.mark(finding.fingerprints)
            case "right" if finding.fault is not None:
                await self._mending.right(finding.fault)
            case "rebuild":
                await self._rebuild(finding)
            case "ask again":
                await self._ask_again(finding.key)
            case "fetch again":
                return await self._fetch_again(finding.key, finding.visit)
            case _:
                return False
        return True

    async def _rebuild(self, finding: StockFinding) -> None:
        if finding.place[0] == "pages":
            await self._mending.drop(finding.place)
        await self._ask_again(finding.key)

    async def _ask_again(self, key: str) -> None:
        """Another visit, of a URL whose row may have to be made anew."""
        if key in self._asked:
            return
        row = await undamaged(self._reader, self._reader.row(key))
        if row is None:
            row = await self._made(key)
            await self._mending.rebuild(row)
            await self._mending.mark([url_fingerprint(key)])
        await self._mending.ask_again(row)
        self._asked.add(key)

    async def _made(self, key: str) -> Row:
        url = self._urls.parse(key)
        newest = await undamaged(self._reader, self._reader.page(key))
        return rebuilt(None, key, url.host if url is not None else "", newest)

    async def _fetch_again(self, key: str, visit: int) -> bool:
        """The newest version is asked for whole; what an older one had cannot be had again."""
        newest = await undamaged(self._reader, self._reader.page(key))
        if newest is None or newest.visit != visit:
            return False
        await self._mending.forget_validators(newest)
        await self._ask_again(key)
        return True
