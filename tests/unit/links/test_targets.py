"""What is remembered of references says the same as resolving them afresh, whatever page they stand in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gregor.worker.links.scope import Scope, ScopeRules
from gregor.worker.links.targets import Target, Targets
from gregor.worker.read.native import Core, core
from gregor.worker.web.urls import Urls

URLS = Urls()
BASES = [
    "http://a.test/",
    "http://a.test/x/y.html",
    "http://a.test/x/z?q=/1/2#f/g",
    "http://a.test/x#/deep/er",
    "http://user@a.test/x/",
    "https://a.test/x/y.html",
    "http://b.test/?u=http://c.test/",
    "ftp://a.test/x/",
    "mailto:x@a.test",
]
PIECES = [
    "",
    "/",
    "//",
    ".",
    "..",
    "?",
    "#",
    ":",
    "\\",
    "http:",
    "https://",
    "http://",
    "a",
    "b.test",
    "\x01",
    "é",
    " ",
    "%2e",
]
REFERENCES = st.one_of(st.lists(st.sampled_from(PIECES), max_size=5).map("".join), st.text(max_size=12))
PAGES = st.lists(
    st.tuples(st.sampled_from(BASES), st.sampled_from(["utf-8", "windows-1252"]), st.lists(REFERENCES, max_size=6)),
    max_size=8,
)


def scope(*hosts: str) -> Scope:
    return Scope(ScopeRules(), hosts)


@pytest.mark.parametrize("core", [None, core()], ids=["python", "native"])
@given(PAGES, st.integers(0, 20))
def test_what_is_remembered_is_what_a_fresh_look_says(
    core: Core | None, pages: list[tuple[str, str, list[str]]], size: int
) -> None:
    targets = Targets(URLS, lambda: WITHIN, size, core)
    for base, encoding, references in pages:
        find, ahead, _ = targets.finder(base, encoding)
        ahead(references[1:])
        for reference in references:
            url = URLS.resolve(reference, base, encoding)
            assert find(reference) == (None if url is None else targets.target(url)), (base, reference)


WITHIN = scope("a.test")


@pytest.mark.parametrize("reference", ["/p", "http://b.test/p", "p", "?p", "//b.test/p"])
def test_seeds_that_come_later_change_the_scope(reference: str) -> None:
    now = scope("c.test")
    targets = Targets(URLS, lambda: now)
    found = targets.finder("http://b.test/", "utf-8").find(reference)
    assert isinstance(found, Target)
    assert found.out_of_scope == "scope: scope host"
    now = scope("b.test")
    again = targets.finder("http://b.test/", "utf-8").find(reference)
    assert again is not None
    assert again.out_of_scope == ""


def test_no_more_is_remembered_than_the_size_and_one_page() -> None:
    targets = Targets(URLS, lambda: WITHIN, 100)
    for number in range(50):
        find = targets.finder(f"http://h{number}.test/x/", "utf-8").find
        for reference in range(30):
            find(f"/{reference}")
    assert len(targets) <= 100 + 32


def test_long_references_are_resolved_and_forgotten() -> None:
    targets = Targets(URLS, lambda: WITHIN)
    find = targets.finder("http://a.test/x/", "utf-8").find
    before = len(targets)
    for number in range(50):
        found = find(f"/{number}{'x' * 600}")
        assert found is not None
        assert found.url.href == f"http://a.test/{number}{'x' * 600}"
    assert len(targets) == before


@pytest.mark.parametrize("core", [None, core()], ids=["python", "native"])
@pytest.mark.parametrize(("encoding", "query"), [("utf-8", "%C3%A9"), ("windows-1252", "%E9")])
def test_a_query_is_in_the_encoding_of_its_page(core: Core | None, encoding: str, query: str) -> None:
    references = ["/x?é", "?é", "x?é", "http://b.test/?é"]
    find, ahead, _ = Targets(URLS, lambda: WITHIN, core=core).finder("http://a.test/", encoding)
    ahead(references)
    queries = [target.url.href.partition("?")[2] for target in map(find, references) if target is not None]
    assert queries == [query] * 4
