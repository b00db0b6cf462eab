"""Answering queries of a page or a program: from the index as it was committed last and the texts of the crawl."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from gregor.search.borders import Hit, Index
from gregor.search.query import Asked, parse
from gregor.search.results import LOOKED_AT, PER_PAGE, Shown, shown
from gregor.search.snippets import snippet
from gregor.worker.api import search_views as views
from gregor.worker.api.problems import Problem
from gregor.worker.borders.errors import Damaged
from gregor.worker.borders.reader import Reader

_REMEMBERED: Final = 8
_UNARCHIVED: Final = frozenset({"noarchive", "none"})


class SearchQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``q``: the query; ``all``: 1 for all hits of every host; ``at``: the ``position`` that the first page named, so
    that the pages of results are one list while the crawl goes on."""

    q: Annotated[str, Meta(max_length=8192)] = ""
    page: Annotated[int, Meta(ge=1, le=1000)] = 1
    all: Annotated[int, Meta(ge=0, le=1)] = 0
    at: Annotated[int, Meta(ge=0)] = 0


class HitQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A document that was found, and by which query."""

    id: Annotated[str, Meta(min_length=1, max_length=8192)]
    q: Annotated[str, Meta(max_length=8192)] = ""


class Searching:
    """Answers queries. The last states of the index that pages of results were made of are kept for the next pages."""

    def __init__(self, latest: Callable[[], Index], reader: Reader) -> None:
        """``latest`` gives the index as it was committed last, the same object while nothing is new. It may raise
        `Unusable`."""
        self._latest = latest
        self._reader = reader
        self._states: OrderedDict[int, Index] = OrderedDict()
        self._cutting = asyncio.Semaphore(1)  # of snippets: each takes the interpreter, two at once are no faster

    async def results_of(self, asked: SearchQuery) -> views.Found:
        """What a query finds, a page of it."""
        position, index = self._state(asked.at)
        understood = parse(asked.q)
        first = (asked.page - 1) * PER_PAGE
        if asked.all:
            answer = index.search(understood, PER_PAGE, first)
            chosen, more = shown(answer.hits, everything=True), answer.total > first + PER_PAGE
        else:
            answer = index.search(understood, LOOKED_AT)
            listed = shown(answer.hits)
            chosen, more = listed[first : first + PER_PAGE], len(listed) > first + PER_PAGE
        hits = [await self._view(entry, understood) for entry in chosen]
        return views.Found(
            query=asked.q,
            understood=understood.said,
            hints=[*understood.hints],
            any_word=answer.any_word,
            total=answer.total,
            page=asked.page,
            more=more,
            position=position,
            hits=hits,
        )

    def hit(self, name: str) -> tuple[Hit, Index]:
        """A document of the index as it is now. Raises `Problem` (404)."""
        _, index = self._state(0)
        hit = index.document(name)
        if hit is None:
            raise Problem(404, "The index has no such document now.")
        return hit, index

    async def text(self, hit: Hit) -> tuple[str, str]:
        """The text that was stored of a document, or why it is not shown."""
        try:
            page = await self._reader.page(hit.key, hit.visit)
        except Damaged:
            return "", "What is stored of this version is damaged:"  # whoever checks the crawl is told of it
        if page is None:
            return "", "This version is stored no more:"
        if _UNARCHIVED.intersection(page.directives):
            return "", "The page asks that no copy of it is shown:"
        return page.text, ""

    def _state(self, position: int) -> tuple[int, Index]:
        if position in self._states:
            return position, self._states[position]
        index = self._latest()
        now = index.position()
        self._states[now] = index
        self._states.move_to_end(now)
        while len(self._states) > _REMEMBERED:
            self._states.popitem(last=False)
        return now, index

    async def _view(self, entry: Shown, asked: Asked) -> views.HitView:
        hit = entry.hit
        try:
            page = await self._reader.page(hit.key, hit.visit)
        except Damaged:
            page = None  # whoever checks the crawl is told of it
        async with self._cutting:
            pieces = await asyncio.to_thread(snippet, page.text if page is not None else "", asked.words)
        return views.HitView(
            id=hit.id,
            url=hit.href,
            title=hit.title,
            host=hit.host,
            language=hit.language,
            content_type=hit.content_type,
            at=hit.at,
            score=hit.score,
            rank=hit.rank,
            urls=list(hit.keys),
            snippet=list(pieces),
            more_of_host=entry.of_host,
            nearly_the_same=entry.alike,
        )
