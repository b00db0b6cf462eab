"""Answering queries of a page or a program: from the index as it was committed last and the texts of the crawl."""

import asyncio
import time
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Annotated, Final, Literal, TypeVar

import msgspec
from msgspec import Meta

from gregor.schemas.messages import Page, Row
from gregor.search.alike import about
from gregor.search.borders import FARTHEST, Answer, Facet, Hit, Index, ScorePart, Unusable
from gregor.search.documents import quotable
from gregor.search.fields import least
from gregor.search.query import ParsedQuery, parse
from gregor.search.results import LOOKED_AT, PER_PAGE, Shown, shown
from gregor.search.snippets import snippet
from gregor.search.spelling import FEW, suggestion
from gregor.worker.api import problems
from gregor.worker.api import search_views as views
from gregor.worker.api.narrowing import narrowing
from gregor.worker.api.problems import Problem
from gregor.worker.base.threads import Crowded, Threads
from gregor.worker.borders.errors import Damaged, Unavailable
from gregor.worker.borders.reader import Reader
from gregor.worker.observe.logging import logs
from gregor.worker.observe.timing import Timing

T = TypeVar("T")
_LOG = logs("api")
SECONDS: Final = 2.0
"""For which a query is worked at; then what was found so far is the answer."""
_ALL: Final = 0.75
"""The part of this until which all is looked through; the rest is for a quick look."""
_NEW: Final = 0.25
"""The part of this for which it is waited for what is new in the index; then it is searched as it was."""
_REMEMBERED: Final = 8
_THREADS: Final = 4
_WAITING: Final = 64
_UNARCHIVED: Final = frozenset({"noarchive", "none"})
_Id = Annotated[str, Meta(max_length=8192)]


class SearchQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``q``: the query; ``like``: the ``id`` of a document instead, for those that are like it; ``all``: 1 for all hits
    of every host; ``order``: by worth, or the newest first; ``at``: the ``position`` that the first page named, so that
    the pages of results are one list while the crawl goes on."""

    q: Annotated[str, Meta(max_length=8192)] = ""
    page: Annotated[int, Meta(ge=1, le=FARTHEST // PER_PAGE)] = 1
    all: Annotated[int, Meta(ge=0, le=1)] = 0
    order: Literal["best", "newest"] = "best"
    at: Annotated[int, Meta(ge=0)] = 0
    like: _Id = ""


class HitQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A document that was found, and by which query."""

    id: Annotated[_Id, Meta(min_length=1)]
    q: Annotated[str, Meta(max_length=8192)] = ""


class Searching:
    """Answers queries. The last states of the index that pages of results were made of are kept for the next pages.

    Whatever an index or a snippet takes is waited for beside the event loop.
    """

    def __init__(
        self,
        latest: Callable[[], Index],
        reader: Reader | None,
        seconds: float = SECONDS,
        on_answer: Callable[[ParsedQuery, Answer], None] | None = None,
    ) -> None:
        """``latest`` gives the index as it was committed last, the same object while nothing is new. It may raise
        `Unusable`. It is called by several threads at once. ``reader`` has the texts; None: there are none.
        ``on_answer`` hears what each query found."""
        self._latest = latest
        self._reader = reader
        self._seconds = seconds
        self._on_answer = on_answer
        self.timing = Timing()
        """Of queries that were answered, their snippets cut."""
        self.answers: Counter[str] = Counter()
        """How many had hits, none, or what was found until the time was over: `ANSWERS`."""
        self.refused = 0
        """How many could not be answered, since too many waited."""
        self._states: OrderedDict[int, Index] = OrderedDict()
        self._searches = Threads(_THREADS, _WAITING)
        self._cutting = Threads(1, _WAITING)  # of snippets: each takes the interpreter, two at once are no faster

    async def results_of(self, asked: SearchQuery, *, counted: bool = True) -> views.SearchResults:
        """What a query finds, a page of it; ``counted``: with its facets.

        Raises `Problem` (404, 429), `Unusable`, `Unavailable`.
        """
        begun = time.monotonic()
        results = await self._results_of(asked, counted)
        self.timing.observe(time.monotonic() - begun)
        self.answers["partial" if results.partial else "hits" if results.total else "none"] += 1
        return results

    async def _results_of(self, asked: SearchQuery, counted: bool) -> views.SearchResults:
        position, index, until = await self._opened(asked.at)
        likeness = await self._about(asked.like, index) if asked.like else None
        understood = parse(asked.q) if likeness is None else likeness[1]
        understood = msgspec.structs.replace(understood, newest=asked.order == "newest")
        first = (asked.page - 1) * PER_PAGE
        limit, offset = (PER_PAGE, first) if asked.all else (LOOKED_AT, 0)
        answer = await self._answer(index, understood, limit, offset, until)
        if self._on_answer is not None and asked.page == 1 and not asked.like:
            self._on_answer(understood, answer)
        hits = [hit for hit in answer.hits if hit.id != asked.like]
        if asked.all:
            chosen, more = shown(hits, everything=True), min(answer.total, FARTHEST) > first + PER_PAGE
        else:
            listed = shown(hits)
            chosen, more = listed[first : first + PER_PAGE], len(listed) > first + PER_PAGE
        better, facets, hit_views = await asyncio.gather(
            _had_or("", self._better(index, understood, answer, until, wanted=not asked.like and asked.page == 1)),
            _had_or((), self._facets(index, understood, answer, until, wanted=counted and not asked.like)),
            self._views(chosen, understood),
        )
        return views.SearchResults(
            query=asked.q,
            understood=understood.said,
            hints=[] if likeness else [*understood.hints],
            any_word=answer.any_word,
            total=answer.total - len(answer.hits) + len(hits),
            page=asked.page,
            more=more,
            position=position,
            hits=hit_views,
            partial=answer.partial,
            suggestion=better,
            order=asked.order,
            like=views.Like(asked.like, likeness[0].title, likeness[0].href) if likeness else None,
            facets=narrowing(asked.q, understood, facets, answer.total),
        )

    async def answer(self, asked: ParsedQuery, limit: int, offset: int) -> tuple[Answer, str]:
        """What a query finds, and the query that may have been meant, "" for none. Raises as
        `results_of`, and `Crowded`."""
        _, index, until = await self._opened(0)
        answer = await self._answer(index, asked, limit, offset, until)
        return answer, await self._better(index, asked, answer, until)

    async def facets(self, asked: ParsedQuery, answer: Answer) -> tuple[Facet, ...]:
        """What the documents of an answer have in common. Raises as `results_of`, and `Crowded`."""
        _, index, until = await self._opened(0)
        return await self._facets(index, asked, answer, until)

    async def hit(self, name: str) -> Hit:
        """A document of the index as it is now. Raises `Problem` (404, 429), `Unusable`."""
        _, index = await self._state(0)
        return await self._document(index, name)

    async def why(self, asked: HitQuery) -> tuple[Hit, list[ScorePart]]:
        """What a document's place is made of for a query. Raises as `hit`."""
        _, index = await self._state(0)
        hit = await self._document(index, asked.id)
        return hit, await self._beside(lambda: index.why(parse(asked.q), asked.id))

    async def row(self, hit: Hit) -> Row | None:
        """What the crawl knows of a document's URL; None where nothing is known, or it cannot be asked."""
        try:
            return None if self._reader is None else await self._reader.row(hit.key)
        except (Damaged, Unavailable):
            return None

    async def text(self, hit: Hit) -> tuple[str, str]:
        """The text that was stored of a document, or why it is not shown."""
        page, refusal = await self._stored(hit)
        if page is None:
            return "", refusal
        if _UNARCHIVED.intersection(page.directives):
            return "", "The page asks that no copy of it is shown:"
        return page.text, ""

    async def _stored(self, hit: Hit) -> tuple[Page | None, str]:
        """The page of a document, or why there is none. Whoever checks the crawl is told of damage."""
        if self._reader is None:
            return None, "There is no text of it:"
        try:
            page = await self._reader.page(hit.key, hit.visit)
        except Damaged:
            return None, "What is stored of this version is damaged:"
        return page, "" if page is not None else "This version is stored no more:"

    async def _document(self, index: Index, name: str) -> Hit:
        hit = await self._beside(lambda: index.document(name))
        if hit is None:
            raise Problem(404, "The index has no such document now.")
        return hit

    async def _about(self, name: str, index: Index) -> tuple[Hit, ParsedQuery]:
        """A document, and the query for those like it."""
        hit = await self._document(index, name)
        page, _ = await self._stored(hit)
        text = page.text if page is not None else ""
        return hit, await self._beside(lambda: about(hit.title, text, index.frequency, index.count()))

    async def _better(
        self, index: Index, asked: ParsedQuery, answer: Answer, until: float, *, wanted: bool = True
    ) -> str:
        """What may have been meant, where little was found; nothing where that would take long."""
        if not wanted or asked.is_empty or answer.partial or (not answer.any_word and _is_meant(asked, answer)):
            return ""
        return await self._in_time("", lambda: suggestion(asked, index.frequency, index.near), until)

    async def _facets(
        self, index: Index, asked: ParsedQuery, answer: Answer, until: float, *, wanted: bool = True
    ) -> tuple[Facet, ...]:
        """Nothing where there is nothing to count, or no time to."""
        if not wanted or answer.partial or not answer.total:
            return ()
        return await self._in_time((), partial(index.facets, asked, any_word=answer.any_word), until)

    async def _in_time(self, nothing: T, call: Callable[[], T], until: float) -> T:
        """What is told beside the hits, or nothing where that would take long. Raises `Crowded`."""
        try:
            return await self._searches.run(call, min(self._seconds / 2, until - time.monotonic()))
        except TimeoutError:
            return nothing

    async def _answer(self, index: Index, asked: ParsedQuery, limit: int, offset: int, until: float) -> Answer:
        for end, quick in ((until - self._seconds * (1 - _ALL), False), (until, True)):
            try:
                call = partial(index.search, asked, limit, offset, quick=quick)
                return await self._beside(call, end - time.monotonic())
            except TimeoutError:
                continue
        return Answer(partial=True)

    async def _opened(self, position: int) -> tuple[int, Index, float]:
        """A state of the index, and until when it is worked at: from when it was asked for, or was opened first."""
        known, begun = bool(self._states), time.monotonic()
        now, index = await self._state(position)
        return now, index, (begun if known else time.monotonic()) + self._seconds

    async def _state(self, position: int) -> tuple[int, Index]:
        """The index as it was at a position, or is now; an engine that does not say so in time is asked as it was."""
        if position in self._states:
            return position, self._states[position]
        try:
            now, index = await self._beside(self._now, self._seconds * _NEW if self._states else None)
        except TimeoutError:
            last = next(reversed(self._states))
            return last, self._states[last]
        self._states[now] = index
        self._states.move_to_end(now)
        while len(self._states) > _REMEMBERED:
            self._states.popitem(last=False)
        return now, index

    def _now(self) -> tuple[int, Index]:
        index = self._latest()
        return index.position(), index

    async def _beside(self, call: Callable[[], T], seconds: float | None = None) -> T:
        try:
            return await self._searches.run(call, seconds)
        except Crowded:
            self.refused += 1
            raise problems.too_many() from None

    async def _views(self, entries: Sequence[Shown], asked: ParsedQuery) -> list[views.HitView]:
        stored = await asyncio.gather(*(self._stored(entry.hit) for entry in entries))
        texts = [quotable(page) for page, _ in stored]
        try:
            snippets = await self._cutting.run(lambda: [snippet(text, asked.words) for text in texts])
        except Crowded:
            self.refused += 1
            raise problems.too_many() from None
        return [views.hit_view(entry, pieces) for entry, pieces in zip(entries, snippets, strict=True)]


def _is_meant(asked: ParsedQuery, answer: Answer) -> bool:
    """Whether a query is taken for what was meant: enough is found, or its words are together somewhere."""
    has_all = least(asked) == len(asked.words) > 1
    return answer.total >= FEW or (has_all and answer.total > 0)


async def _had_or(nothing: T, asked: Awaitable[T]) -> T:
    """What is told beside the hits, or nothing where it cannot be had now: they are the answer all the same."""
    try:
        return await asked
    except (Crowded, Unavailable, Unusable) as error:
        _LOG.warning("hits are shown without all that is told beside them", why=str(error) or "too many wait")
        return nothing
