"""Links of a page have the same fates whether the native core judges them or Python alone, whatever came before."""

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gregor.schemas.messages import Page, Ticket
from gregor.worker.base.pieces import PIECE, at_once
from gregor.worker.config.settings import Config, replace
from gregor.worker.extract.crawled import NOTHING
from gregor.worker.frontier.sent import RecentlySent, SentByDepth
from gregor.worker.links.scope import Scope, ScopeRules
from gregor.worker.links.traps import Traps
from gregor.worker.observe.stats import Stats
from gregor.worker.read import native
from gregor.worker.read.document import Extract, Reference
from gregor.worker.read.native import Core
from gregor.worker.settle.document_links import DocumentLinks
from gregor.worker.web.urls import Urls

URLS = Urls()
built = pytest.mark.skipif(native.core() is None, reason=f"{native.why_not()} (make native)")
BASES = ("http://host/", "http://host/x/y?q#f", "https://other/x/")
LOOP = "/".join("abab" * 9)
TEXTS = (
    *(
        "",
        "/",
        "/a",
        "/A",
        "a",
        "a/b",
        "..",
        "./é",
        "é",
        "#top",
        "?q=1",
        "http://other/",
        "HTTP://host/a",
        "https://host/",
    ),
    *("mailto:a@b", "a:b", "//host/c", "http://", "/" + "x" * 600, f"/{LOOP}", "http://host:99999/", "\ud800", " b "),
)
KINDS = ("a", "area", "canonical", "img", "next", "stylesheet", "refresh", "frame")
REFERENCE = st.builds(
    Reference, st.sampled_from(TEXTS) | st.text(max_size=8), st.sampled_from(KINDS), st.booleans(), st.text(max_size=3)
)
PAGES = st.lists(
    st.tuples(
        st.sampled_from(BASES),
        st.sampled_from(("utf-8", "windows-1252")),
        st.lists(REFERENCE, max_size=12),
        st.booleans(),
        st.sampled_from((1, 1, 1, PIECE)),
    ),
    max_size=5,
)
SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "nofollow": st.booleans(),
        "max_depth": st.integers(0, 2),
        "sitemap_only": st.just(value=True),
        "requisites": st.just(value=True),
        "max_links": st.integers(0, 20),
        "canonical_links": st.booleans(),
    },
)


def judged(pages: list[Any], settings: dict[str, Any], core: Core | None) -> list[Any]:
    """What is said of pages one after another, by one that has judged none before."""
    scope, stats = Scope(ScopeRules(), ["host"]), Stats()
    sent = RecentlySent(100) if settings.get("max_depth") is None else SentByDepth(100)
    links = DocumentLinks(
        replace(Config(), **settings),
        urls=URLS,
        scope=lambda: scope,
        now=lambda: 1000.0,
        stats=stats,
        sent=sent,
        traps=Traps(),
        order=None,
        judges=NOTHING.judges,
        core=core,
    )
    said: list[Any] = []
    for number, (base, encoding, references, nofollow, times) in enumerate(pages):
        url = URLS.parse(base)
        assert url is not None
        ticket = Ticket(url.href, url.key, url.host, depth=number % 2, requisite=number == 3)
        page = Page(url.key, url.href, url.host, 1, "new", 200, 1000.0)
        page.directives = ("nofollow",) if nofollow else ()
        extract = Extract(links=references * times, encoding=encoding)
        tickets = at_once(links.of_page(ticket, url, extract, page, None))
        if number % 2:
            sent.learn(tickets)
        said.append((page, tickets, extract.truncated))
    return [*said, dict(stats.links), stats.traps]


@built
@given(PAGES, SETTINGS)
@example([("http://host/", "utf-8", [Reference("/a", "a")], said, 1) for said in (False, True)], {})
def test_links_are_judged_alike(pages: list[Any], settings: dict[str, Any]) -> None:
    assert judged(pages, settings, native.core()) == judged(pages, settings, None)


@built
def test_most_links_are_judged_without_python() -> None:
    core: Any = native.core()
    references = [Reference(f"/{number % 50}", "a", text="x") for number in range(600)]
    passed: list[int] = []

    class Counted:
        def __getattr__(self, name: str) -> Any:
            if name != "links_judged":
                return getattr(core, name)

            def counted(links: list[Reference], place: int, *more: Any) -> int:
                end: int = core.links_judged(links, place, *more)
                passed.append(end - place)
                return end

            return counted

    counting: Any = Counted()
    pages = [("http://host/", "utf-8", references, False, 1)] * 2
    assert judged(pages, {}, counting) == judged(pages, {}, None)
    assert sum(passed) >= 2 * len(references) - 50, "what was met once is judged natively"
