"""What the search page answers where something that it needs is gone or broken, and while it works."""

import asyncio
import time
from types import SimpleNamespace
from typing import Any

import pytest

from gregor.schemas.messages import Page
from gregor.search.borders import Answer, Hit, Index, Unusable
from gregor.search.query import Asked
from gregor.worker.api import searching as answering
from gregor.worker.api.app import routed
from gregor.worker.api.search_app import routes
from gregor.worker.api.searching import Searching, SearchQuery
from gregor.worker.borders.errors import Damaged, Unavailable
from tests.search.stored import page

URL = "http://a.example.org/"
HIT = Hit("x", URL, 1, (URL,), URL, "a.example.org", "A", "", "", 1e9, 1, 1.0)


class OneHit:
    """An index of one document."""

    def position(self) -> int:
        return 1

    def search(self, asked: Asked, limit: int = 10, offset: int = 0) -> Answer:
        return Answer((HIT,), 1)

    def document(self, name: str) -> Hit | None:
        return HIT

    def why(self, asked: Asked, name: str) -> list[Any]:
        return []


def searching(failure: Exception | None, stored: Page | None = None, index: Exception | None = None) -> Searching:
    async def read(key: str, visit: int) -> Page | None:
        if failure is not None:
            raise failure
        return stored

    def latest() -> Index:
        if index is not None:
            raise index
        return OneHit()  # type: ignore[return-value]

    return Searching(latest, SimpleNamespace(page=read))


def answer(searched: Searching, path: str, query: bytes) -> tuple[int, bytes, str]:
    """Status, media type and body."""
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": b""}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": path, "query_string": query, "server": ("a", 80)}
    asyncio.run(routed(routes(searched))({**scope, "headers": [], "scheme": "http"}, receive, send))
    body = b"".join(message.get("body", b"") for message in sent)
    return sent[0]["status"], dict(sent[0]["headers"])[b"content-type"], body.decode()


@pytest.mark.parametrize("path", ["/", "/search.json", "/search.rss", "/text", "/why"])
@pytest.mark.parametrize("gone", ["index", "store"])
def test_what_is_gone_is_said(path: str, gone: str) -> None:
    query = b"id=x" if path in ("/text", "/why") else b"q=fox"
    if gone == "index":
        searched = searching(None, index=Unusable("/secret/folder holds no index"))
    else:
        searched = searching(Unavailable("PostgreSQL", "gone"))
    status, kind, body = answer(searched, path, query)
    if gone == "store" and path == "/why":
        assert status == 200  # which needs the index alone
    else:
        assert (status, kind) == (503, b"application/problem+json") and "secret" not in body


def test_a_damaged_text_is_said_to_be() -> None:
    broken = searching(Damaged("page", URL, "its checksum is wrong"))
    status, _, body = answer(broken, "/text", b"id=x")
    assert status == 200 and "damaged" in body
    assert answer(broken, "/search.json", b"q=fox")[0] == 200


def test_snippets_are_cut_beside_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(text: str, words: Any) -> tuple[()]:
        time.sleep(0.1)
        return ()

    monkeypatch.setattr(answering, "snippet", slow)

    async def run() -> int:
        turns = 0
        task = asyncio.ensure_future(searching(None, page(URL, "fox")).results_of(SearchQuery("fox")))
        while not task.done():
            turns += 1
            await asyncio.sleep(0.005)
        assert (await task).total == 1
        return turns

    assert asyncio.run(run()) > 3
