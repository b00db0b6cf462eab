"""The search page: what it answers, by path."""

from collections.abc import Awaitable, Callable
from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gregor.search.borders import Unusable
from gregor.worker.api import hit_views, problems
from gregor.worker.api import search_frame as frame
from gregor.worker.api import search_views as views
from gregor.worker.api.problems import Problem
from gregor.worker.api.requests import query
from gregor.worker.api.searching import HitQuery, Searching, SearchQuery
from gregor.worker.borders.errors import Unavailable
from gregor.worker.observe.logging import logs

PATHS: Final = ("/", "/search.json", "/search.rss", "/text", "/why", "/opensearch.xml")
BESIDE: Final = "/search"
"""What stands before these paths where the console is served, too."""
_LOG = logs("api")


def routes(searching: Searching, before: str = "") -> list[Route]:
    """What the page answers, by path, each with this before it."""

    def base(request: Request) -> str:
        return f"{str(request.base_url).rstrip('/')}{before}/"

    async def results(request: Request) -> Response:
        asked = query(request, SearchQuery)
        return _html(views.results(await searching.results_of(asked), everything=bool(asked.all)))

    async def as_json(request: Request) -> Response:
        found = await searching.results_of(query(request, SearchQuery))
        return Response(msgspec.json.encode(found), media_type="application/json")

    async def as_rss(request: Request) -> Response:
        found = await searching.results_of(query(request, SearchQuery), counted=False)
        return Response(views.rss(found, base(request)), media_type="application/rss+xml")

    async def text(request: Request) -> Response:
        hit = await searching.hit(query(request, HitQuery).id)
        stored, refusal = await searching.text(hit)
        return _html(hit_views.stored_text(hit.title, hit.href, stored, hit.at, refusal))

    async def why(request: Request) -> Response:
        asked = query(request, HitQuery)
        hit, reasons = await searching.why(asked)
        return _html(hit_views.why(hit, asked.q, reasons, await searching.row(hit)))

    async def described(request: Request) -> Response:
        text = views.description(base(request))
        return Response(text, media_type="application/opensearchdescription+xml")

    handlers = dict(zip(PATHS, (results, as_json, as_rss, text, why, described), strict=True))
    return [Route(before + path, _answering(handler), methods=["GET"]) for path, handler in handlers.items()]


def _answering(handler: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
    """It, with answers for what may be gone while the page is served: the index, or what the crawl is kept in."""

    async def answer(request: Request) -> Response:
        try:
            return await problems.within(handler(request))
        except (Unusable, ModuleNotFoundError) as error:
            _LOG.warning("there is nothing to search", why=str(error))
            detail = "There is no index that can be searched now: `gregor index` makes one."
            raise Problem(503, detail, {"Retry-After": "5"}) from None
        except Unavailable as error:
            _LOG.warning("what the crawl is kept in cannot be reached", why=str(error))
            raise problems.unreachable() from None

    return answer


def _html(text: str) -> Response:
    headers = {"Content-Security-Policy": frame.POLICY, "X-Frame-Options": "DENY"}
    return Response(text, headers=headers, media_type="text/html")
