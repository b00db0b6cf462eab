"""The search page beside a console, for browsers, which send no token: a form, and a cookie that opens nothing else."""

import asyncio
import re
from typing import Any
from urllib.parse import urlencode

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from gregor.worker.api.access import MOST_FAILURES, Access
from gregor.worker.api.app import Gate, routed
from gregor.worker.api.search_login import GOOD_FOR, LOGIN, Sessions, guarded

VIEWER, OPERATOR = "viewer-token-0123456789", "operator-token-0123456789"
PAGE = {"accept": "text/html", "host": "127.0.0.1:9100"}
FORM = {**PAGE, "content-type": "application/x-www-form-urlencoded"}


class Console:
    """What stands at a console's address: the search page, and a path of the API."""

    def __init__(self, *, anonymous_read: bool = False) -> None:
        self.now = 0.0

        async def answered(request: Request) -> Response:
            return PlainTextResponse(f"found {request.url.query}")

        access = Access(VIEWER, OPERATOR, anonymous_read=anonymous_read)
        pages = guarded([Route(path, answered) for path in ("/search/", "/search/why")], access, lambda: self.now)
        every = [*pages, Route("/api/v1/status", answered)]
        self._gate = Gate(routed(every), access, 1e6, [route.path for route in pages], lambda: self.now)

    def ask(self, path: str, method: str = "GET", body: str = "", **headers: str) -> tuple[int, dict[str, str], str]:
        """Status, headers and body of an answer."""
        path, _, query = path.partition("?")
        told = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
        scope = {
            "type": "http",
            "method": method,
            "path": path,
            "raw_path": path.encode(),
            "root_path": "",
            "scheme": "http",
        }
        scope |= {
            "query_string": query.encode(),
            "headers": told,
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 9100),
        }
        sent: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body.encode(), "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        asyncio.run(self._gate(scope, receive, send))
        answered = {name.decode().lower(): value.decode() for name, value in sent[0]["headers"]}
        return sent[0]["status"], answered, b"".join(part.get("body", b"") for part in sent[1:]).decode()

    def log_in(self, token: str, back: str = "", **headers: str) -> tuple[int, dict[str, str], str]:
        """Send the form."""
        return self.ask(LOGIN, "POST", urlencode({"token": token, "back": back}), **{**FORM, **headers})


def test_a_browser_is_asked_for_a_token_and_let_in_by_its_cookie_alone() -> None:
    console = Console()
    status, headers, text = console.ask("/search/?q=fox", **PAGE)
    assert (status, headers["content-type"]) == (401, "text/html; charset=utf-8")
    assert 'value="/search/?q=fox"' in text and "script" not in text.lower()
    assert "form-action 'self'" in headers["content-security-policy"]
    status, _, text = console.log_in("wrong", "/search/?q=fox")
    assert (status, "not one of this crawl" in text, 'value="/search/?q=fox"' in text) == (401, True, True)
    for token in (VIEWER, OPERATOR):
        status, headers, _ = console.log_in(token, "/search/?q=fox")
        assert (status, headers["location"]) == (303, "/search/?q=fox")
        cookie, *attributes = headers["set-cookie"].split("; ")
        assert {"HttpOnly", "Path=/search", "SameSite=strict"} <= set(attributes)
        assert token not in cookie
        assert console.ask("/search/?q=fox", **PAGE, cookie=cookie)[::2] == (200, "found q=fox")
        assert console.ask("/search/why", **PAGE, cookie=cookie)[0] == 200
        assert console.ask("/api/v1/status", **PAGE, cookie=cookie)[0] == 401, "a cookie opens the search page alone"
    console.now += GOOD_FOR
    assert console.ask("/search/", **PAGE, cookie=cookie)[0] == 401
    assert Console().ask("/search/", **PAGE, cookie=cookie)[0] == 401, "another process's"


def test_a_program_and_who_may_read_see_no_form() -> None:
    console = Console()
    status, headers, _ = console.ask("/search/", host="127.0.0.1")
    assert (status, headers["content-type"]) == (401, "application/problem+json")
    assert console.ask("/search/", host="127.0.0.1", authorization=f"Bearer {VIEWER}")[0] == 200
    everybody = Console(anonymous_read=True)
    assert everybody.ask("/search/", **PAGE)[0] == 200
    assert everybody.ask("/search/", accept="text/html", host="rebound.example")[0] == 401
    assert [console.ask(path, **PAGE)[1]["location"] for path in ("/search", LOGIN)] == ["/search/"] * 2


@pytest.mark.parametrize(
    "headers",
    [
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
        {"origin": "http://evil.example"},
        {"origin": "null"},
    ],
)
def test_the_form_of_another_site_is_refused_before_its_token_is_looked_at(headers: dict[str, str]) -> None:
    console = Console()
    for _ in range(MOST_FAILURES + 1):
        assert console.log_in(VIEWER, **headers)[0] == 403
    assert console.log_in(VIEWER, origin="http://127.0.0.1:9100", sec_fetch_site="same-origin")[0] == 303


@pytest.mark.parametrize(
    "back",
    [
        "//evil.example/",
        "https://evil.example/search/",
        "/search/\\evil",
        "/search/\r\nSet-Cookie: a=b",
        "/api/v1/stop",
        LOGIN,
    ],
)
def test_the_form_leads_nowhere_but_back_to_the_search_page(back: str) -> None:
    assert Console().log_in(VIEWER, back)[1]["location"] == "/search/"


def test_tokens_are_not_to_be_guessed_and_bodies_have_bounds() -> None:
    console = Console()
    assert console.ask(LOGIN, "POST", "{}", **{**FORM, "content-type": "application/json"})[0] == 415
    assert console.ask(LOGIN, "POST", "token=" + "x" * 9000, **FORM)[0] == 413
    statuses = [console.log_in(f"guess {number}")[0] for number in range(MOST_FAILURES + 1)]
    assert statuses == [401] * MOST_FAILURES + [429]
    assert console.log_in(VIEWER)[0] == 429


@pytest.mark.parametrize("cookie", ["", ".", "9999999999", "9999999999.", "x.y", "1e9.ab", "-1.\udcff"])
def test_what_is_no_cookie_of_ours_opens_nothing(cookie: str) -> None:
    sessions = Sessions()
    assert not sessions.holds(cookie, 0.0)
    signature = re.sub(r"^[0-9]+", "99999999999", sessions.begun(0.0))
    assert not sessions.holds(signature, 0.0), "a longer time is another cookie"
