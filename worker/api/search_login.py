"""Who may use the search page beside a console: who sends a token, or whose browser has logged in.

A browser sends no Authorization of itself, and the page needs no script: a form takes the token and leaves a cookie. It
is no token: a time until which it is good, signed with a key of this process, and opens nothing but this page. Cookies
go to every port of a machine, so another service there may see it, but never learns a token from it. A form of another
site (or of a name that was bound to this address) is refused by what the browser says of where it comes from.
"""

import hashlib
import hmac
import secrets
import time
from collections.abc import Awaitable, Callable, Sequence
from html import escape
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from gregor.worker.api.access import Access, Role, require
from gregor.worker.api.problems import Problem
from gregor.worker.api.refusals import accepts_pages, coded
from gregor.worker.api.requests import form
from gregor.worker.api.search_frame import POLICY, STYLE
from gregor.worker.api.search_routes import BESIDE

GOOD_FOR: Final = 43_200.0
"""Seconds after which a browser is asked again; when the process ends, it is asked, too."""
LOGIN: Final = f"{BESIDE}/login"
_HOME: Final = f"{BESIDE}/"
_COOKIE: Final = "gregor-search"
_Answering = Callable[[Request], Awaitable[Response]]


class Sessions:
    """Cookies of those who gave a token. Pure; times are monotonic seconds."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)

    def begun(self, now: float) -> str:
        """The cookie of one that begins now."""
        until = str(int(now + GOOD_FOR))
        return f"{until}.{self._signed(until)}"

    def holds(self, cookie: str, now: float) -> bool:
        """Whether it is one of this process's, and not too old."""
        until, _, signature = cookie.partition(".")
        if not hmac.compare_digest(signature.encode("utf-8", "surrogateescape"), self._signed(until).encode()):
            return False
        return now < int(until)

    def _signed(self, until: str) -> str:
        return hmac.new(self._key, until.encode("utf-8", "surrogateescape"), hashlib.sha256).hexdigest()


def guarded(routes: Sequence[Route], access: Access, clock: Callable[[], float] = time.monotonic) -> list[Route]:
    """The search page's routes, answered to who may read; with the form for a token."""
    sessions = Sessions()

    def guard(handler: _Answering) -> _Answering:
        async def answer(request: Request) -> Response:
            now = clock()
            if not sessions.holds(request.cookies.get(_name(request), ""), now):
                try:
                    require(_role(access, request, request.headers.get("authorization"), now), "viewer")
                except Problem as problem:
                    if problem.status != 401 or not accepts_pages(request.scope):
                        raise
                    return _asking(problem.detail, _way_back(_here(request)))
            return await handler(request)

        return answer

    async def login(request: Request) -> Response:
        if _from_elsewhere(request):
            raise Problem(403, "The form was sent by another site: give the token on the page itself.")
        fields = dict(parse_qsl((await form(request)).decode("utf-8", "replace")))
        back = _way_back(fields.get("back", ""))
        try:
            role = _role(access, request, f"Bearer {fields.get('token', '')}", clock())
            require(role, "viewer")
        except Problem as problem:
            if problem.status != 401:
                raise
            return _asking(problem.detail, back)
        answer = RedirectResponse(back, 303)
        name = _name(request)
        answer.set_cookie(name, sessions.begun(clock()), path=BESIDE, httponly=True, samesite="strict")
        return answer

    async def home(_: Request) -> Response:
        return RedirectResponse(_HOME, 307)

    return [
        *(Route(route.path, guard(route.endpoint), methods=["GET"]) for route in routes),
        Route(BESIDE, home, methods=["GET"]),
        Route(LOGIN, home, methods=["GET"]),
        Route(LOGIN, login, methods=["POST"]),
    ]


def _role(access: Access, request: Request, authorization: str | None, now: float) -> Role:
    client = request.client.host if request.client else ""
    return access.role(authorization, request.headers.get("host", ""), client, now)


def _name(request: Request) -> str:
    """Of the cookie: cookies know no ports, and another crawl's console may be at another one."""
    return f"{_COOKIE}-{request.url.port or 80}"


def _here(request: Request) -> str:
    return request.url.path + (f"?{request.url.query}" if request.url.query else "")


def _way_back(wanted: str) -> str:
    """Where to go after the form: within the search page, whatever was sent."""
    inside = wanted.startswith(_HOME) and wanted.isascii() and wanted.isprintable() and "\\" not in wanted
    return wanted if inside and not wanted.startswith(LOGIN) else _HOME


def _from_elsewhere(request: Request) -> bool:
    """Whether a browser says that another site's page sent this. What is no browser says nothing, and needs a token."""
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if site is not None:
        return site not in ("same-origin", "none")
    return origin is not None and urlsplit(origin).netloc != request.headers.get("host", "")


def _asking(why: str, back: str) -> Response:
    """The form. It says where it comes from to this site alone: a browser would hide it else, and be refused."""
    text = (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Search: a token is needed</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex">'
        f'<meta name="referrer" content="same-origin"><style>{STYLE}</style></head><body><main>'
        f'<h1>Search what was crawled</h1><p role="alert">{coded(why)}</p>'
        f'<form method="post" action="{LOGIN}"><label for="token">Token</label>'
        '<input type="password" id="token" name="token" autocomplete="current-password" required autofocus>'
        f'<input type="hidden" name="back" value="{escape(back)}"><button>Use it</button></form>'
        '<p class="quiet">It is the one that opens the console: what stands behind <code>#token=</code> in the address '
        "that was printed at its start, or the viewer's or operator's of the settings.</p></main></body></html>"
    )
    headers = {
        "Content-Security-Policy": POLICY,
        "X-Frame-Options": "DENY",
        "WWW-Authenticate": 'Bearer realm="gregor"',
    }
    return Response(text, 401, headers=headers, media_type="text/html")
