"""The endpoints that read what is kept of a crawl, and who runs it."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Final, Literal, TypeVar

import msgspec
from msgspec import Meta
from starlette.requests import Request

from gregor.schemas.messages import State
from gregor.search.borders import Unusable
from gregor.worker.api.archive_views import Briefs, DeadLetters, HandOvers, Letters, PageView, SimilarPages
from gregor.worker.api.backend import Backend
from gregor.worker.api.endpoint import V1, Endpoint
from gregor.worker.api.history import Point
from gregor.worker.api.problems import Problem, within
from gregor.worker.api.requests import query
from gregor.worker.api.search_views import SearchResults
from gregor.worker.api.searching import HitQuery, Searching, SearchQuery
from gregor.worker.api.why_views import Why
from gregor.worker.base.errors import BadInput
from gregor.worker.borders.errors import Unavailable
from gregor.worker.borders.members import Members
from gregor.worker.inspect.explain import Explanation
from gregor.worker.observe.logging import logs
from gregor.worker.web.hostnames import host_of

T = TypeVar("T")
_LOG = logs("api")
_Url = Annotated[str, Meta(min_length=1, max_length=8192)]


class UrlQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A URL of the crawl."""

    url: _Url


class PageQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``visit``: the version; without it the newest."""

    url: _Url
    visit: Annotated[int, Meta(ge=1, lt=2**31)] | None = None


class PagesQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """URLs that have been visited, in a state, of a host, or all. ``after``: go on behind this one."""

    state: State | Literal[""] = ""
    host: Annotated[str, Meta(max_length=300)] = ""
    limit: Annotated[int, Meta(ge=1, le=500)] = 100
    after: Annotated[str, Meta(max_length=8192)] = ""


class HandOversQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Of a partition, or of all. ``after``: go on behind this one."""

    partition: Annotated[int, Meta(ge=0, lt=2**31)] | None = None
    limit: Annotated[int, Meta(ge=1, le=500)] = 100
    after: Annotated[str, Meta(max_length=100)] = ""


class DeadQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``examples``: so many URLs of each cause."""

    cause: Annotated[str, Meta(max_length=300)] = ""
    examples: Annotated[int, Meta(ge=1, le=500)] = 5


class LettersQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Of a cause, or of all. ``after``: go on behind this one."""

    cause: Annotated[str, Meta(max_length=300)] = ""
    limit: Annotated[int, Meta(ge=1, le=500)] = 100
    after: Annotated[str, Meta(max_length=100)] = ""


class HistoryQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``after``: only what came later, unix seconds."""

    after: float = 0.0


class History(msgspec.Struct, frozen=True):
    """The last hour or less, the oldest first."""

    points: list[Point]


async def _searched(searching: Searching | None, ask: Callable[[Searching], Awaitable[T]], records: str = "") -> T:
    """What an index of a crawl answers, of pages or of these records; None: there cannot be one.

    Raises `Problem` (404, 429, 503), `Unavailable`.
    """
    try:
        if searching is not None:
            return await within(ask(searching))
    except (Unusable, ModuleNotFoundError) as error:
        _LOG.info("there is nothing to search", why=str(error))
    if records:
        raise Problem(404, f"There is no index of {records} of this crawl: `gregor index --records` makes one.")
    raise Problem(404, "There is no index of this crawl that can be searched: `gregor index` makes one.")


async def _search(backend: Backend, request: Request) -> SearchResults:
    asked = query(request, SearchQuery)
    return await _searched(backend.archive.searching, lambda searching: searching.results_of(asked))


def _of_records(name: str) -> Callable[[Backend, Request], Awaitable[SearchResults]]:
    """What answers queries about what happened."""

    async def search(backend: Backend, request: Request) -> SearchResults:
        asked = query(request, SearchQuery)
        return await _searched(backend.archive.records.get(name), lambda searching: searching.results_of(asked), name)

    return search


async def _why(backend: Backend, request: Request) -> Why:
    asked = query(request, HitQuery)
    hit, reasons = await _searched(backend.archive.searching, lambda searching: searching.why(asked))
    try:
        crawled = await backend.archive.explain(hit.href)
    except (BadInput, Problem, Unavailable):  # the answer is the score all the same
        crawled = None
    return Why.of(hit.href, reasons, crawled)


async def _explain(backend: Backend, request: Request) -> Explanation:
    return await backend.archive.explain(query(request, UrlQuery).url)


async def _page(backend: Backend, request: Request) -> PageView:
    asked = query(request, PageQuery)
    return await backend.archive.page(asked.url, asked.visit)


async def _similar(backend: Backend, request: Request) -> SimilarPages:
    return await backend.archive.similar(query(request, UrlQuery).url)


async def _pages(backend: Backend, request: Request) -> Briefs:
    asked = query(request, PagesQuery)
    host = host_of(asked.host) if asked.host else None
    return await backend.archive.list(asked.state or None, host, asked.limit, asked.after)


async def _handovers(backend: Backend, request: Request) -> HandOvers:
    asked = query(request, HandOversQuery)
    return await backend.archive.handovers(asked.partition, asked.limit, asked.after)


async def _dead(backend: Backend, request: Request) -> DeadLetters:
    asked = query(request, DeadQuery)
    return await backend.archive.dead(asked.cause or None, asked.examples)


async def _letters(backend: Backend, request: Request) -> Letters:
    asked = query(request, LettersQuery)
    return await backend.archive.letters(asked.cause or None, asked.limit, asked.after)


async def _members(backend: Backend, _: Request) -> Members:
    return await backend.members()


async def _history(backend: Backend, request: Request) -> History:
    return History(backend.history.since(query(request, HistoryQuery).after))


READING: Final = (
    Endpoint("GET", f"{V1}/history", "viewer", "Rates of the last hour", _history, History, query=HistoryQuery),
    Endpoint("GET", f"{V1}/workers", "viewer", "Workers, and who owns each partition", _members, Members),
    Endpoint("GET", f"{V1}/handovers", "viewer", "Who took which partition of whom",
             _handovers, HandOvers, query=HandOversQuery, fresh=1.0),
    Endpoint("GET", f"{V1}/explain", "viewer", "Why a URL was fetched or not", _explain, Explanation, query=UrlQuery),
    Endpoint("GET", f"{V1}/pages", "viewer", "URLs that were visited", _pages, Briefs, query=PagesQuery),
    Endpoint("GET", f"{V1}/page", "viewer", "A stored page: text, heads, links", _page, PageView, query=PageQuery,
             refuses=(404,)),
    Endpoint("GET", f"{V1}/search", "viewer", "Documents of the index that a query finds", _search, SearchResults,
             query=SearchQuery, refuses=(404,)),
    Endpoint("GET", f"{V1}/search/why", "viewer", "What a document's place for a query is made of", _why, Why,
             query=HitQuery, refuses=(404,)),
    Endpoint("GET", f"{V1}/search/events", "viewer", "How URLs stand, by a query", _of_records("events"), SearchResults,
             query=SearchQuery, refuses=(404,)),
    Endpoint("GET", f"{V1}/search/deadletters", "viewer", "URLs given up, by a query", _of_records("deadletters"),
             SearchResults, query=SearchQuery, refuses=(404,)),
    Endpoint("GET", f"{V1}/search/hosts", "viewer", "How hosts stand, by a query", _of_records("hosts"), SearchResults,
             query=SearchQuery, refuses=(404,)),
    Endpoint("GET", f"{V1}/search/orders", "viewer", "Orders that were given, by a query", _of_records("orders"),
             SearchResults, query=SearchQuery, refuses=(404,)),
    Endpoint("GET", f"{V1}/search/logs", "viewer", "Lines of the log, by a query", _of_records("logs"), SearchResults,
             query=SearchQuery, refuses=(404,)),
    Endpoint("GET", f"{V1}/similar", "viewer", "Near-duplicates of a page", _similar, SimilarPages, query=UrlQuery,
             refuses=(404,)),
    Endpoint("GET", f"{V1}/deadletters", "viewer", "URLs given up, by cause", _dead, DeadLetters, query=DeadQuery),
    Endpoint("GET", f"{V1}/deadletters/list", "viewer", "URLs given up, the newest first", _letters, Letters,
             query=LettersQuery),
)  # fmt: skip
