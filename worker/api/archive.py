"""What the API reads of the stores: why a URL was fetched or not, stored pages, near-duplicates, dead letters.

Texts of sites leave as JSON strings, within bounds, and nothing of a site is ever sent under a media type of its own.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from heapq import nlargest
from types import MappingProxyType
from typing import Final, TypeVar

from gregor.schemas.events import rfc3339
from gregor.schemas.messages import DeadLetter, Link, Page
from gregor.search.borders import Index
from gregor.worker.api.archive_views import (
    Brief,
    Briefs,
    Cause,
    DeadLetters,
    HandOvers,
    Letters,
    LetterView,
    LinkView,
    PageView,
    SimilarPages,
    SimilarView,
    brief,
)
from gregor.worker.api.problems import PATIENCE, Problem, late, within
from gregor.worker.api.searching import Searching
from gregor.worker.base.errors import BadInput
from gregor.worker.borders.errors import Damaged
from gregor.worker.borders.members import HandOver, hand_overs
from gregor.worker.borders.reader import Reader
from gregor.worker.config.settings import Config
from gregor.worker.extract.drift import Fallen, fallen
from gregor.worker.frontier.counts import total
from gregor.worker.inspect import url_record
from gregor.worker.inspect.explain import Explanation, explain
from gregor.worker.links.configured import scope_rules
from gregor.worker.links.scope import Scope
from gregor.worker.observe.logging import logs
from gregor.worker.operate.dead_letters import dead, holding, place
from gregor.worker.read.fingerprints import distance, sketch_of, words_of
from gregor.worker.web.heads import printable
from gregor.worker.web.http_headers import masked
from gregor.worker.web.urls import Url, Urls

T = TypeVar("T")
_LOG = logs("api")
NEAR: Final = 0.5
"""The least share of a text that is shown as similar: less than that of near-duplicates."""
_MOST_TEXT: Final = 200_000
_MOST_LINKS: Final = 1000
_MOST_SIMILAR: Final = 50
_MOST_LETTERS: Final = 1000  # that are looked at for one scan; twice as many are in memory
_SCANS: Final = 2  # scans of whole tables that run at once; others wait


class StoredCrawl:
    """What is kept of a crawl, beside its workers or after them."""

    def __init__(
        self,
        reader: Reader,
        urls: Urls,
        config: Config,
        latest: Callable[[], Index] | None = None,
        records: Mapping[str, Callable[[], Index]] = MappingProxyType({}),
    ) -> None:
        """``latest``: see `Searching`; None where there cannot be an index. ``records``: the same of what happened, by
        name."""
        self.records = {name: Searching(of_name, None) for name, of_name in records.items()}
        self.searching = None if latest is None else Searching(latest, reader)
        self._reader = reader
        self.urls = urls
        self._config = config
        self._scanning = asyncio.Semaphore(_SCANS)
        reader.on_damage = _note

    async def explain(self, text: str) -> Explanation:
        """Why a URL was fetched or not. Raises `BadInput`, `Unavailable`, `Problem` (503)."""
        return await within(self._explain(self._url(text)))

    async def page(self, text: str, visit: int | None) -> PageView:
        """A version of a page, the newest for None. Raises `BadInput`, `Unavailable`, `Problem` (404, 503)."""
        return await within(self._page(self._url(text), visit))

    async def similar(self, text: str) -> SimilarPages:
        """Near-duplicates of a page. Raises as `page`."""
        return await within(self._similar(self._url(text)))

    async def list(self, state: str | None, host: str | None, limit: int, after: str) -> Briefs:
        """URLs that have a row, behind the one whose key is ``after``. Raises `Unavailable`."""
        briefs: list[Brief] = []
        last = ""

        async def look() -> bool:
            nonlocal last
            async for row in self._reader.rows(state, host, after):
                if len(briefs) == limit:
                    return False
                last = row.key
                briefs.append(brief(row))
            return True

        complete = await self._all(look())
        return Briefs(briefs, complete, "" if complete else last)

    async def counts(self) -> dict[str, int]:
        """Of the crawl, as `frontier.counts` names them. Raises `Unavailable`."""
        return total([record.counts async for record in self._reader.partitions()])

    async def drift(self) -> tuple[Fallen, ...]:
        """Fields of rules that have fallen away on the pages of the crawl. Raises `Unavailable`."""
        return fallen([record.fields async for record in self._reader.partitions()])

    async def handovers(self, partition: int | None, limit: int, after: str) -> HandOvers:
        """Who took which partition of whom, behind the one that ``after`` names. Raises `BadInput`, `Unavailable`."""
        behind = _place(after, float, int, int) if after else None
        remembered = [
            handover
            async for record in self._reader.partitions()
            if partition in (None, record.partition)
            for handover in hand_overs(record)
            if behind is None or _when(handover) < behind
        ]
        newest = nlargest(limit + 1, remembered, key=_when)
        more = len(newest) > limit
        return HandOvers(newest[:limit], _as_after(_when(newest[limit - 1])) if more else "")

    async def dead(self, cause: str | None, examples: int) -> DeadLetters:
        """What was given up, of one cause or of all. Raises `Unavailable`."""
        counts: Counter[str] = Counter()
        kept: dict[str, list[LetterView]] = {}

        async def look() -> bool:
            async for given_up in dead(self._reader, cause):
                letter = given_up.letter
                counts[letter.cause] += 1
                if counts[letter.cause] <= examples:
                    kept.setdefault(letter.cause, []).append(_letter(letter))
            return True

        complete = await self._all(look())
        return DeadLetters([Cause(name, count, kept[name]) for name, count in counts.most_common()], complete)

    async def letters(self, cause: str | None, limit: int, after: str) -> Letters:
        """What was given up, behind what ``after`` names. Raises `BadInput`, `Unavailable`, `Problem` (503)."""
        behind = _place(after, float, int) if after else None
        letters: list[DeadLetter] = []
        seen = behind

        async def look() -> bool:
            nonlocal seen
            while True:
                newest = await _newest(self._reader, cause, seen)
                for letter in newest:
                    holds = await holding(self._reader, letter) is not None
                    if holds and len(letters) == limit:
                        return False
                    if holds:
                        letters.append(letter)
                    seen = place(letter)
                if len(newest) < _MOST_LETTERS:
                    return True

        complete = await self._all(look())
        if not complete and seen == behind:
            raise late()
        return Letters([*map(_letter, letters)], "" if complete or seen is None else _as_after(seen))

    def _url(self, text: str) -> Url:
        url = self.urls.parse(text)
        if url is None:
            raise BadInput("this is not an http(s) URL")
        return url

    async def _explain(self, url: Url) -> Explanation:
        scope = Scope(scope_rules(self._config), await self._reader.seed_hosts())
        return await explain(self._reader, self.urls, url, self._config, scope, mentions=0, now=time.time())

    async def _page(self, url: Url, visit: int | None) -> PageView:
        row, page = await self._reader.row(url.key), await self._stored(url, visit)
        record = await url_record.of_page(self._reader, page)
        record.links = []
        if row is not None:
            record.state, record.outcome, record.rule = row.state, row.outcome or None, row.rule or None
        return PageView(
            record=record,
            visit=page.visit,
            visits=max(page.visit, row.visits if row is not None else 0),
            text=page.text[:_MOST_TEXT],
            text_cut=len(page.text) > _MOST_TEXT,
            request_head=printable(masked(page.request_head)),
            response_head=printable(page.response_head),
            links=[_link(link) for link in page.links[:_MOST_LINKS]],
            links_total=len(page.links),
            address=page.address,
            elapsed=page.elapsed,
            tls_fault=page.tls_fault,
            language=page.language,
            damage=await self._damage(page),
        )

    async def _damage(self, page: Page) -> str:
        """What is wrong with the stored bodies of a page."""
        for sha256 in filter(None, (page.body, page.wire)):
            try:
                body = await self._reader.body(sha256)
            except Damaged as damage:
                return damage.why
            if body is None:
                return "it is missing"
            body.close()
        return ""

    async def _stored(self, url: Url, visit: int | None) -> Page:
        page = await self._reader.page(url.key, visit)
        if page is None:
            raise Problem(404, "No document of this URL is kept.")
        return page

    async def _similar(self, url: Url) -> SimilarPages:
        page = await self._stored(url, None)
        sketch = page.sketch or sketch_of(words_of(page.title, page.text))
        if not sketch:
            return SimilarPages("", [])
        views = []
        for near in await self._reader.similar(sketch, NEAR, _MOST_SIMILAR + 1):
            other = await self._reader.page(near.key) if near.key != page.key else None
            if other is not None:
                views.append(
                    SimilarView(
                        other.href,
                        round(near.share, 2),
                        distance(other.simhash, page.simhash),
                        other.title or "",
                        other.state,
                    )
                )
        return SimilarPages(f"{page.simhash:016x}", views[:_MOST_SIMILAR])

    async def _all(self, look: Awaitable[bool]) -> bool:
        """Look through a whole table for at most `PATIENCE`; whether all of it was seen."""

        async def in_turn() -> bool:
            async with self._scanning:
                return await look

        try:
            return await asyncio.wait_for(in_turn(), PATIENCE)
        except TimeoutError:
            return False


def _note(damage: Damaged) -> None:
    """The rest is answered all the same."""
    _LOG.warning("what is stored is damaged", what=damage.what, name=damage.name, why=damage.why)


async def _newest(reader: Reader, cause: str | None, behind: tuple[float, ...] | None) -> list[DeadLetter]:
    """The newest letters of a cause behind a place, whether they hold or not: to ask for the row of each costs much
    more than to read it."""
    letters: list[DeadLetter] = []
    async for letter in reader.dead_letters():
        if cause in (None, letter.cause) and (behind is None or place(letter) < behind):
            letters.append(letter)
        if len(letters) == 2 * _MOST_LETTERS:
            letters = nlargest(_MOST_LETTERS, letters, key=place)
    return nlargest(_MOST_LETTERS, letters, key=place)


def _when(handover: HandOver) -> tuple[float, int, int]:
    return handover.at, handover.partition, handover.epoch


def _as_after(place: tuple[float, ...]) -> str:
    return ":".join(map(repr, place))


def _place(after: str, *kinds: Callable[[str], float]) -> tuple[float, ...]:
    try:
        return tuple(kind(part) for kind, part in zip(kinds, after.split(":"), strict=True))
    except ValueError:
        raise BadInput("after is not what an answer gave as next") from None


def _letter(letter: DeadLetter) -> LetterView:
    return LetterView(
        letter.href or letter.source, letter.cause, letter.detail, rfc3339(letter.at), max(1, letter.attempts)
    )


def _link(link: Link) -> LinkView:
    return LinkView(link.url, link.kind, link.nofollow, link.fate, link.text)
