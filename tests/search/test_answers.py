"""What the search page answers where something that it needs is gone or broken, and while it works."""

import asyncio
import json
import threading
import time
from types import SimpleNamespace
from typing import Any

import pytest

from gregor.schemas.messages import Page
from gregor.search.borders import Answer, Facet, Hit, Index, Unusable, ValueCount
from gregor.search.query import ParsedQuery
from gregor.worker.api import search_views as views
from gregor.worker.api import searching as answering
from gregor.worker.api.app import routed
from gregor.worker.api.problems import Problem
from gregor.worker.api.search_routes import routes
from gregor.worker.api.searching import HitQuery, Searching, SearchQuery
from gregor.worker.base.threads import Threads
from gregor.worker.borders.errors import Damaged, Unavailable
from tests.search.stored import page

URL = "http://a.example.org/"
HIT = Hit("x", URL, 1, (URL,), URL, "a.example.org", "A", "", "", 1e9, 1, 1.0)


class OneHit:
    """An index of one document."""

    def position(self) -> int:
        return 1

    def search(self, asked: ParsedQuery, limit: int = 10, offset: int = 0, *, quick: bool = False) -> Answer:
        return Answer((HIT,), 1, partial=quick)

    def facets(self, asked: ParsedQuery, *, any_word: bool = False) -> tuple[Facet, ...]:
        return ()

    def count(self) -> int:
        return 1

    def frequency(self, term: str) -> int:
        return 1

    def near(self, term: str) -> dict[str, int]:
        return {"box": 100}

    def document(self, name: str) -> Hit | None:
        return HIT

    def why(self, asked: ParsedQuery, name: str) -> list[Any]:
        return []


def searching(failure: Exception | None, stored: Page | None = None, index: Exception | None = None) -> Searching:
    async def row(key: str) -> None:
        if failure is not None:
            raise failure

    async def read(key: str, visit: int) -> Page | None:
        if failure is not None:
            raise failure
        return stored

    def latest() -> Index:
        if index is not None:
            raise index
        return OneHit()  # type: ignore[return-value]

    return Searching(latest, SimpleNamespace(page=read, row=row))


def answer(searched: Searching, path: str, query: bytes, accept: bytes = b"*/*") -> tuple[int, bytes, str]:
    """Status, media type and body."""
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": b""}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": path, "query_string": query, "server": ("a", 80)}
    headers = [(b"accept", accept)]
    asyncio.run(routed(routes(searched))({**scope, "headers": headers, "scheme": "http"}, receive, send))
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


@pytest.mark.parametrize("path", ["/", "/text", "/why"])
def test_what_is_gone_is_said_to_a_browser_on_a_page(path: str) -> None:
    query = b"q=fox" if path == "/" else b"id=x"
    status, kind, body = answer(searching(None, index=Unusable("/secret holds none")), path, query, b"text/html")
    assert (status, kind) == (503, b"text/html; charset=utf-8")
    assert "<code>gregor index</code> makes one" in body and "secret" not in body


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


class Slow(OneHit):
    """An index that looks through all only when it is let."""

    def __init__(self) -> None:
        self.let = threading.Event()
        self.quickly = 0

    def search(self, asked: ParsedQuery, limit: int = 10, offset: int = 0, *, quick: bool = False) -> Answer:
        self.quickly += quick
        assert quick or self.let.wait(30)
        return super().search(asked, limit, offset, quick=quick)

    def why(self, asked: ParsedQuery, name: str) -> list[Any]:
        assert self.let.wait(30)
        return []


async def read_nothing(key: str, visit: int) -> Page | None:
    return None


def test_a_query_that_takes_long_is_answered_with_what_was_found_so_far_and_that_is_said() -> None:
    index = Slow()

    async def run() -> Any:
        searched = Searching(lambda: index, SimpleNamespace(page=read_nothing), seconds=0.1)  # type: ignore[arg-type, return-value]
        return await searched.results_of(SearchQuery("fox"))

    try:
        begun = time.monotonic()
        answer = asyncio.run(_let_at_the_end(run(), index))
        assert answer.partial and len(answer.hits) == index.quickly == 1 and time.monotonic() - begun < 5
        assert "too long" in views.results(answer, everything=False)
    finally:
        index.let.set()


def test_an_engine_that_does_not_say_what_is_new_is_asked_as_it_was_and_in_the_same_time() -> None:
    index, looks = Slow(), list[float]()

    def latest() -> Index:
        looks.append(time.monotonic())
        assert len(looks) == 1 or index.let.wait(30)
        return index  # type: ignore[return-value]

    async def run() -> tuple[Any, float]:
        searched = Searching(latest, SimpleNamespace(page=read_nothing), seconds=0.4)
        await searched.hit("x")
        begun = time.monotonic()
        return await searched.results_of(SearchQuery("fox")), time.monotonic() - begun

    answer, took = asyncio.run(_let_at_the_end(run(), index))
    assert len(looks) == 2 and answer.partial and len(answer.hits) == index.quickly == 1
    assert 0.25 < took < 0.45  # what was waited for what is new is no time of its own


async def _let_at_the_end(answer: Any, index: Slow) -> Any:
    found = await answer
    index.let.set()  # the pool is joined at the end of the loop
    return found


@pytest.mark.parametrize("call", ["results_of", "why"])
def test_an_index_is_asked_beside_the_event_loop(call: str) -> None:
    """Whoever asks on the loop would wait for ever: it is let from there."""
    index = Slow()

    async def run() -> None:
        searched = Searching(lambda: index, SimpleNamespace(page=read_nothing))  # type: ignore[arg-type, return-value]
        asked = SearchQuery("fox") if call == "results_of" else HitQuery("x", "fox")
        task = asyncio.ensure_future(getattr(searched, call)(asked))
        await asyncio.sleep(0.05)
        assert not task.done()
        index.let.set()
        await task

    asyncio.run(run())


def test_more_searches_than_may_wait_are_refused() -> None:
    index = Slow()

    async def run() -> list[Any]:
        searched = Searching(lambda: index, SimpleNamespace(page=read_nothing), seconds=30)  # type: ignore[arg-type, return-value]
        await searched.hit("x")
        tasks = [asyncio.ensure_future(searched.why(HitQuery("x"))) for _ in range(200)]
        await asyncio.sleep(0.05)
        index.let.set()
        return await asyncio.gather(*tasks, return_exceptions=True)

    refused = [answer for answer in asyncio.run(run()) if isinstance(answer, Problem)]
    assert 0 < len(refused) < 200 and {problem.status for problem in refused} == {429}


@pytest.mark.parametrize(
    ("path", "accept", "kind"),
    [
        ("/nothing", b"text/html,*/*;q=0.8", b"text/html; charset=utf-8"),
        ("/?page=0", b"text/html", b"text/html; charset=utf-8"),
        ("/nothing", b"*/*", b"application/problem+json"),
        ("/api/v1/nothing", b"text/html", b"application/problem+json"),
        ("/text?id=%3Cscript%3E&page=1", b"TEXT/HTML", b"text/html; charset=utf-8"),
    ],
)
def test_a_browser_is_refused_by_a_page(path: str, accept: bytes, kind: bytes) -> None:
    where, _, query = path.partition("?")
    status, media_type, body = answer(searching(None), where, query.encode(), accept)
    assert status in (400, 404) and media_type == kind
    assert "<script" not in body and ("<h1>" in body) == (kind.startswith(b"text/html"))


def test_a_text_that_may_not_be_shown_in_snippets_is_not() -> None:
    closed = searching(None, page(URL, "a fox", directives=("nosnippet",)))
    (hit,) = json.loads(answer(closed, "/search.json", b"q=fox")[2])["hits"]
    assert hit["snippet"] == []


def test_what_may_have_been_meant_is_said_where_little_is_found() -> None:
    found = json.loads(answer(searching(None), "/search.json", b"q=boxx+-boxx+site:boxx")[2])
    assert found["suggestion"] == 'box -"boxx" site:boxx'
    shown = answer(searching(None), "/", b"q=boxx")[2]
    assert 'Did you mean <a href=".?q=box"><bdi>box</bdi></a>?' in shown


def test_what_was_understood_is_said_beside_a_hint() -> None:
    shown = answer(searching(None), "/", b"q=fox+lang%3A+site%3A///")[2]
    assert "Looked for: <bdi>fox site</bdi>" in shown
    assert "Looked for: <bdi>nothing</bdi>" in answer(searching(None), "/", b"q=before%3A2024-99-99")[2]
    assert "Looked for" not in answer(searching(None), "/", b"q=fox")[2]


async def _asked_twice() -> Searching:
    asked = searching(None, page(URL, "fox"))
    for _ in range(2):
        await asked.results_of(SearchQuery("fox"))
    return asked


def test_how_long_queries_take_is_measured() -> None:
    assert asyncio.run(_asked_twice()).timing.count == 2


def test_facets_that_take_too_long_are_left_out_and_the_hits_come_all_the_same() -> None:
    class Slow(OneHit):
        def facets(self, asked: ParsedQuery, *, any_word: bool = False) -> tuple[Facet, ...]:
            ended.wait(5)
            return (Facet("host", "", (ValueCount("a", 1, "host:a"),)),)

    ended = threading.Event()
    found = asyncio.run(Searching(Slow, None, seconds=0.05).results_of(SearchQuery("fox")))  # type: ignore[arg-type]
    ended.set()
    assert found.total == 1 and found.facets == []
    found = asyncio.run(Searching(Slow, None).results_of(SearchQuery("fox")))  # type: ignore[arg-type]
    assert [facet.name for facet in found.facets] == ["host"]
    assert asyncio.run(Searching(Slow, None).results_of(SearchQuery(like="x"))).facets == []  # type: ignore[arg-type]


@pytest.mark.parametrize("failure", [Unusable("no index"), Unavailable("OpenSearch", "gone"), None])
def test_hits_come_without_facets_and_suggestion_where_these_cannot_be_had(
    failure: Exception | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Failing(OneHit):
        def facets(self, asked: ParsedQuery, *, any_word: bool = False) -> tuple[Facet, ...]:
            raise failure or AssertionError

        def frequency(self, term: str) -> int:
            raise failure or AssertionError

    said: list[tuple[str, dict[str, str]]] = []
    monkeypatch.setattr(answering, "_LOG", SimpleNamespace(warning=lambda text, **more: said.append((text, more))))

    async def run() -> views.SearchResults:
        searched = Searching(Failing, None)  # type: ignore[arg-type]
        if failure is None:  # no thread is free once the hits are there
            monkeypatch.setattr(searched, "_on_answer", lambda *_: setattr(searched, "_searches", Threads(1, -1)))
        return await searched.results_of(SearchQuery("foxes"))

    found = asyncio.run(run())
    assert (found.total, len(found.hits), found.facets, found.suggestion) == (1, 1, [], "")
    reason = str(failure or "too many wait")
    assert [more["why"] for _, more in said] == [reason, reason]


@pytest.mark.parametrize("path", ["/", "/search.json", "/search.rss"])
def test_an_engine_that_says_nothing_holds_no_reader(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def latest() -> Index:
        ended.wait(5)
        return OneHit()  # type: ignore[return-value]

    ended = threading.Event()
    monkeypatch.setattr("gregor.worker.api.problems.PATIENCE", 0.05)
    status, _, said = answer(Searching(latest, None), path, b"q=fox")
    ended.set()
    assert status == 503 and "took longer" in said
