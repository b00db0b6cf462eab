"""Stale URLs go while the crawl runs: who owns them is asked to drop them, then bodies that nobody names go."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from gregor.schemas.messages import Ticket
from gregor.worker.base.errors import why
from gregor.worker.borders.errors import Damaged, DiskFull, Unavailable
from gregor.worker.borders.log import FrontierLog
from gregor.worker.borders.reader import Reader
from gregor.worker.links.tickets import dropping
from gregor.worker.observe.logging import logs
from gregor.worker.settle.staleness import is_stale, leads_on

_LOG = logs("staleness")
LOOSE_FOR: Final = 900.0
"""Seconds for which a body is nobody's before it goes: a page that is about to name it is stored by then."""
_BATCH: Final = 500
_TEN: Final = 10.0
_SHORTEST, _LONGEST = 1.0, 86_400.0
_REST: Final = 20.0
"""So many times as long as a pass took, nothing is looked for."""


class StaleUrls:
    """Looks through the rows of a crawl again and again."""

    def __init__(
        self,
        after: float,
        *,
        log: FrontierLog,
        reader: Reader,
        now: Callable[[], float],
        collect: Callable[[], Awaitable[int]],
        visits_again: bool,
        has_ended: Callable[[], Awaitable[bool]],
        is_mine: Callable[[], bool] = lambda: True,
    ) -> None:
        """``after``: the setting `stale_after`; ``now``: unix seconds of the crawl; ``collect`` deletes bodies that
        have been nobody's for a while; ``visits_again``: see `stale_since`; ``has_ended``: whether nothing is left to
        visit; ``is_mine``: whether this worker is the one of the crawl that looks."""
        self._after = after
        self._visits_again = visits_again
        self._log = log
        self._reader = reader
        self._now = now
        self._collect = collect
        self._has_ended = has_ended
        self._is_mine = is_mine

    async def ask(self) -> int:
        """Ask the owners of all that is stale now to drop it; how many URLs. Asked twice it is dropped once.

        Where pages are visited once, those that are there stay until nothing is left to visit: what is yet to come
        links to them, so they would be found anew, and what they link to, and the crawl would never end.
        """
        all_may_go = self._visits_again or await self._has_ended()
        now, count = self._now(), 0
        asked: list[Ticket] = []
        async for row in self._reader.rows(None, None):
            if not all_may_go and leads_on(row):
                continue
            if is_stale(row, self._after, now, visits_again=self._visits_again):
                asked.append(dropping(row, now))
                if len(asked) >= _BATCH:
                    await self._log.publish(asked)
                    count, asked = count + len(asked), []
        if asked:
            await self._log.publish(asked)
        return count + len(asked)

    async def keep(self, monotonic: Callable[[], float]) -> None:
        """For ever. What is away meanwhile, or cannot be read, is tried again."""
        pause = min(_LONGEST, max(_SHORTEST, self._after / _TEN))
        while True:
            begun = monotonic()
            try:
                if self._is_mine():
                    if asked := await self.ask():
                        _LOG.info("stale URLs are dropped", urls=asked)
                    if deleted := await self._collect():
                        _LOG.info("bodies that no page names were deleted", bodies=deleted)
            except (Unavailable, DiskFull, Damaged, OSError) as error:
                _LOG.warning("stale URLs wait", error=why(error))
            await asyncio.sleep(max(pause, _REST * (monotonic() - begun)))
