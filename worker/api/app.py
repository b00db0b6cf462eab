"""The application: what is refused before a handler runs, the router, and how answers leave."""

import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any, Final

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gregor.worker.api import problems
from gregor.worker.api.access import Access, Bucket, Role, require
from gregor.worker.api.backend import Backend
from gregor.worker.api.endpoint import V1, Endpoint
from gregor.worker.api.endpoints import ENDPOINTS
from gregor.worker.api.openapi import document
from gregor.worker.api.problems import Problem
from gregor.worker.api.refusals import refuse
from gregor.worker.base.errors import BadInput
from gregor.worker.borders.errors import Damaged, DiskFull, Unavailable
from gregor.worker.observe.logging import logs
from gregor.worker.operate.control import InProgress
from gregor.worker.orders.model import KeyReused

_LOG = logs("api")
_ROLE: Final = "gregor.role"
MOST_AT_ONCE: Final = 200
"""Requests that are being answered, before more are refused: each holds its answer until its reader took it."""
_MOST_TOLD: Final = 64
_ROUTING: Final = {
    404: "There is nothing here; /api/v1/openapi.json lists what there is.",
    405: "This path knows other methods; Allow names them.",
}


class Gate:
    """Around the application: how many requests, whose they are, and headers for every answer."""

    def __init__(
        self,
        app: ASGIApp,
        access: Access,
        rate: float,
        open_: Collection[str] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``open_``: paths that are answered without a token, besides /healthz."""
        self._app = app
        self._open = frozenset(open_)
        self._access = access
        self._bucket = Bucket(rate)
        self._running = 0
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        assert scope["type"] == "http"  # the server is set up without web sockets and lifespan

        async def headed(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *problems.EVERY]
            await send(message)

        try:
            scope[_ROLE] = self._admit(scope)
        except Problem as problem:
            await refuse(scope, problem)(scope, receive, headed)
            return
        self._running += 1
        try:
            await self._app(scope, receive, headed)
        finally:
            self._running -= 1

    def full(self) -> bool:
        """Whether a request would be refused now, whatever it asks for; /healthz is not."""
        return self._running >= MOST_AT_ONCE or self._bucket.empty(self._clock())

    def _admit(self, scope: Scope) -> Role:
        path, now = scope["path"], self._clock()
        if path == "/healthz":
            return "anyone"
        if self._running >= MOST_AT_ONCE or not self._bucket.take(now):
            raise problems.too_many()
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        client = scope["client"][0] if scope["client"] else ""
        if path in self._open:
            return "anyone"
        role = self._access.role(headers.get("authorization"), headers.get("host", ""), client, now)
        require(role, "viewer")
        return role


class _RecentAnswers:
    """Answers that are told again while they are fresh: many who ask the same cost little more than one."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept: dict[tuple[str, bytes], tuple[float, Response]] = {}

    def again(self, request: Request) -> Response | None:
        """The answer to the same question, if it is fresh."""
        until, answer = self._kept.get(_question(request), (0.0, None))
        return answer if self._clock() < until else None

    def keep(self, request: Request, answer: Response, fresh: float) -> None:
        """Remember it for so many seconds."""
        if len(self._kept) >= _MOST_TOLD:
            self._kept.clear()
        self._kept[_question(request)] = (self._clock() + fresh, answer)

    def changed(self) -> None:
        """Nothing is fresh any more."""
        self._kept.clear()


def _question(request: Request) -> tuple[str, bytes]:
    return request.scope["path"], request.scope["query_string"]


def application(
    backend: Backend, access: Access, rate: float, pages: Mapping[str, Response], beside: Sequence[Route] = ()
) -> Gate:
    """All of it. ``rate``: requests a second that are answered; ``pages``: what everybody may see, by path; ``beside``:
    what is no part of the API and looks itself at who asks."""
    openapi = msgspec.json.encode(document(pages))

    async def page(request: Request) -> Response:
        return pages[request.url.path]

    async def described(_: Request) -> Response:
        return Response(openapi, media_type="application/json")

    by_path: dict[str, dict[str, Endpoint]] = {}
    for endpoint in ENDPOINTS:
        by_path.setdefault(endpoint.path, {})[endpoint.method] = endpoint
    recent = _RecentAnswers()
    routes = [
        # A name in a path may hold a slash: what is no target is refused as that, and what is unread may be anything.
        Route(path.replace("}", ":path}"), _dispatch(backend, methods, recent), methods=list(methods))
        for path, methods in by_path.items()
    ]
    routes += [
        *(Route(path, page, methods=["GET"]) for path in pages),
        Route("/api/v1/openapi.json", described, methods=["GET"]),
        *beside,
    ]
    return Gate(routed(routes), access, rate, [*pages, *(route.path for route in beside)])


def routed(routes: Sequence[Route]) -> Starlette:
    """The routes, with answers to what is refused and to what fails."""
    handlers: Any = {Problem: _refused, HTTPException: _refused_by_router, Exception: _failed}
    app = Starlette(routes=routes, exception_handlers=handlers)
    app.router.redirect_slashes = False
    return app


def _dispatch(
    backend: Backend, methods: dict[str, Endpoint], recent: _RecentAnswers
) -> Callable[[Request], Awaitable[Response]]:
    async def handle(request: Request) -> Response:
        endpoint = methods["GET" if request.method == "HEAD" else request.method]
        require(request.scope[_ROLE], endpoint.role)
        if "" in request.path_params.values():
            raise HTTPException(404)
        if endpoint.query is None and request.url.query and endpoint.path.startswith(V1):
            raise Problem(400, "This takes no query.")
        if endpoint.fresh and (kept := recent.again(request)) is not None:
            return kept
        try:
            answer = await endpoint.handler(backend, request)
        except BadInput as error:
            status = 409 if isinstance(error, InProgress) else 422 if isinstance(error, KeyReused) else 400
            raise Problem(status, f"{str(error)[:1].upper()}{str(error)[1:]}.") from None
        except (Unavailable, DiskFull):
            raise problems.unreachable() from None
        except Damaged as error:
            _LOG.warning("what is stored is damaged", what=error.what, name=error.name, why=error.why)
            raise Problem(500, "What is stored of this is damaged: `gregor check` says what can be mended.") from None
        finally:
            if endpoint.method != "GET":
                recent.changed()
        if isinstance(answer, Response):
            return answer
        if answer is None:
            return Response(status_code=endpoint.status)
        response = Response(msgspec.json.encode(answer), endpoint.status, media_type="application/json")
        if endpoint.fresh:
            recent.keep(request, response, endpoint.fresh)
        return response

    return handle


async def _refused(request: Request, problem: Problem) -> Response:
    return refuse(request.scope, problem)


async def _refused_by_router(request: Request, error: HTTPException) -> Response:
    detail = _ROUTING.get(error.status_code, "The request cannot be answered.")
    return refuse(request.scope, Problem(error.status_code, detail, error.headers or {}))


async def _failed(request: Request, _: Exception) -> Response:
    """The fault itself goes to the log, by way of the server."""
    return refuse(request.scope, Problem(500, "The worker failed at this request; its log says why."))
