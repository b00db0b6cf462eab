"""The native reading core computes what the Python code does, bit for bit. Skipped where it is not built."""

import random
import re
from collections.abc import Sequence
from typing import Any, Final, Never

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gregor.schemas.messages import url_fingerprint
from gregor.worker.config.settings import Config, replace
from gregor.worker.links.url_loops import malformed
from gregor.worker.read import native
from gregor.worker.read.configured import configured
from gregor.worker.read.document import Document, Extract, Reference
from gregor.worker.read.fingerprints import MAX_LETTERS, simhash_and_sketch, text_fingerprint
from gregor.worker.read.html import guard, parse, references
from gregor.worker.read.html.natively import NativeAttempt
from gregor.worker.read.processors import Html, Processors
from gregor.worker.read.read import read
from gregor.worker.web.urls import Urls

built = pytest.mark.skipif(native.core() is None, reason=f"{native.why_not()} (make native)")

MARKUP: Final = (
    *(
        "<a href=x>",
        "</a>",
        "<p>",
        "</p>",
        "<div>",
        "</div>",
        "<table><td>",
        "</table>",
        "<title>",
        "</title>",
        "<svg>",
    ),
    *("</svg>", "<base href=b>", "<link rel=canonical href=c>", "<meta name=robots content=d>", "<h2>", "</h2>", "<b>"),
    *(
        "<img srcset='e 1x, f'>",
        "<meta http-equiv=refresh content='1;g'>",
        "<iframe src=h srcdoc='<a href=i>j'>",
        "<form",
    ),
    *(
        "<template shadowrootmode=open>",
        "</template>",
        " ",
        "\u2003",
        "<!--",
        "-->",
        "<script>",
        "</script>",
        "&amp;",
        ">",
    ),
)

ALPHABETS: Final[tuple[Sequence[int], ...]] = (
    range(0x20, 0x7F),
    range(0x250),
    range(0x370, 0x530),
    range(0, 0x20000, 7),
    range(0xD7F0, 0xE010),
    range(0, 0x110000, 101),
    [*b"\t\n \x1c", 0x85, 0xA0, 0x2003, *b"ab", 0x3A3, 0x130],
)


def equal(text: str) -> None:
    core = native.core()
    assert text_fingerprint(text, core) == text_fingerprint(text), repr(text)
    assert simhash_and_sketch(text, core) == simhash_and_sketch(text), repr(text)


@built
@given(st.text(st.characters(codec=None)), st.integers(1, 60))
def test_fingerprints_of_any_text_are_those_of_python(text: str, times: int) -> None:
    equal(text * times)


@built
@pytest.mark.parametrize("alphabet", ALPHABETS, ids=len)
def test_fingerprints_of_every_script_are_those_of_python(alphabet: Sequence[int]) -> None:
    chance = random.Random(len(alphabet))
    for size in (0, 1, 5, 31, 32, 35, 43, 44, 60, 300, 2000):
        equal("".join(map(chr, chance.choices(alphabet, k=size))))


@built
@pytest.mark.parametrize("words", ["abc ", "déf "])
def test_fingerprints_of_a_long_text_are_those_of_python(words: str) -> None:
    equal(words * (MAX_LETTERS // 3))


@built
def test_every_character_is_white_space_or_a_letter_as_in_python() -> None:
    for start in (*range(0, 0x20000, 0x1000), 0x20000, 0xE0000, 0x10F000):
        equal("".join(f"a{chr(point)}b" for point in range(start, start + 0x1000)))


@built
def test_a_table_of_another_size_is_refused() -> None:
    core = native.core()
    assert core is not None
    with pytest.raises(ValueError, match="a table of letters has 16384 bytes, not 3"):
        core.simhash_and_sketch("a", b"abc")
    with pytest.raises(TypeError):
        core.text_fingerprint(b"a")  # type: ignore[arg-type]


class Noting:
    """A core that says what it was asked."""

    def __init__(self, why: str = "") -> None:
        self.texts: list[str] = []
        self._why = why

    def read_page(self, html: str, characters: int, links: int, closed: bool, /) -> native.NativeAnswer | str:
        self.texts.append(html)
        return self._why or ("Title", "Text", [("u", "a", True, "t")], None, None, [(" N ", "c")], " ", [], False, [])

    def read_tree(self, *asked: object) -> Never:
        raise AssertionError("only the installed core reads trees")

    words_of = names_there = node_seen = links_judged = resolve = longest_tag = read_tree

    def is_too_costly(self, html: str, tags: int, *bounds: int) -> bool:
        return guard.too_costly(html, tags)

    def formatting_elements(self, html: str, /) -> int:
        return html.count("<")

    def is_too_deep(self, *asked: object) -> None:
        """Python is to say."""

    def text_fingerprint(self, text: str, /) -> bytes:
        self.texts.append(text)
        return b"f" * 16

    def simhash_and_sketch(self, text: str, letters: bytes, /) -> tuple[int, bytes]:
        self.texts.append(text)
        return 7, b"s"


def test_a_core_is_asked_where_a_registry_has_one_and_its_descendants_have_it_too() -> None:
    core = Noting()
    registry = Processors().natively(core).replacing(())
    said = read(registry, Document("http://a/", b"<title>A</title>B", "text/html"), False)
    assert (said.fingerprint, said.simhash, said.sketch) == (b"f" * 16, 7, b"s")
    assert core.texts == ["<title>A</title>B", "Title Text", "title text"]
    assert said.extract.links == [Reference("u", "a", True, "t")]
    assert (said.extract.meta_robots, said.extract.lang) == ([("n", "c")], None)


def test_what_a_core_leaves_is_read_by_python() -> None:
    page = b"<title>A</title>B"
    said = read(Processors().natively(Noting("embedded")), Document("http://a/", page, "text/html"), False)
    assert said.extract == read(Processors(), Document("http://a/", page, "text/html"), False).extract


def way(page: str, core: native.Core | None, *, keeps_tree: bool = False) -> str:
    document = Document("http://a/", page.encode(), "text/html")
    document.keeps_tree = keeps_tree
    return read(Processors().natively(core), document, False).way


def test_which_way_a_page_was_read_is_told() -> None:
    assert way("a", None) == "python"
    assert way("a", Noting()) == "native"
    assert way("a", Noting(), keeps_tree=True) == "tree"
    assert way("a", Noting("embedded")) == "embedded"
    assert way("<b>" * 1_000_000, Noting()) == "costly"
    assert read(Processors().natively(Noting()), Document("http://a/", b"a", "text/plain"), False).way == ""


@built
def test_a_page_whose_tree_is_kept_is_read_natively_from_that() -> None:
    assert native.tree_core() is native.core()
    assert way("a", native.core(), keeps_tree=True) == "native"
    assert way("<iframe srcdoc='<b>'>", native.core(), keeps_tree=True) == "embedded"


@built
def test_a_core_that_sees_nodes_otherwise_reads_no_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "sees", lambda core, node: False)
    native.tree_core.cache_clear()
    try:
        assert native.tree_core() is None
        assert way("a", native.core(), keeps_tree=True) == "tree"
    finally:
        native.tree_core.cache_clear()


@pytest.mark.parametrize("core", [None, native.core()], ids=["python", "native"])
def test_a_tree_that_the_page_was_not_read_from_is_not_kept(
    core: native.Core | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its shadow root is closed in that; opened, the page has too much markup for one."""
    document = Document("http://a/", b"<div><template shadowrootmode=open><p>a</template></div>", "text/html")
    document.keeps_tree = True
    tamed = iter(("<div><template shadowrootmode=open><p>a</template></div>", None))
    monkeypatch.setattr(parse, "guard", lambda *_: next(tamed))
    assert Html(core).process(document).text == "a"
    assert document.tree is None


def test_where_another_tree_or_what_is_shown_is_wanted_no_core_is_asked() -> None:
    core = Noting()
    for kept, shown in ((True, False), (False, True)):
        document = Document("http://a/", b"<p>B", "text/html", requisites=shown)
        document.keeps_tree = kept
        assert Html(core).process(document).text == "B"
    assert not core.texts


PAGES: Final = (
    "<title>A\u00a0 b</title><svg><title>no</title><a href=x>t<b>u</a></svg>",
    "<a href=' x ' rel='x\u2003NOFOLLOW'>" + "w " * 500,
    "<table><a href=a><td>1<a href=b>2</table>" * 30,
    "<head><link rel=canonical href=a><body><link rel=canonical href=b>"
    "<link rel='alternate' type=' Application/RSS+XML\u2003' href=f>",
    "<img srcset='a 1x, b 2x,,c ('><meta http-equiv=ReFresh content='3; url= d '>"
    "<meta http-equiv=refresh content=0><a href=e>",
    "<meta http-equiv=refresh content=x><meta http-equiv=refresh content='1'>",
    "<meta name='\u0130 \u212a\u03a3' content><meta name=a><meta name=b content=''>",
    "<iframe src=a srcdoc='<a href=b>'></iframe>c",
    "<div><template shadowrootmode=open><a href=x>y</a></template></div>z",
    "<p>a<template>b<a href=c>d</a></template>e<noscript>f</noscript><iframe>g</iframe><textarea>h</textarea>",
    "<base><base href=' b '><base href=c><html lang=' de '><html lang=en>",
    "<h1> <b>a</b>\u3000</h1><h2></h2>" + "<h3>x</h3>" * 60,
    "".join(f"<a href={number}>" for number in range(3000)) + "text",
    "\ud800<a href=x>\udfff",
    "a&nGt;&#0;&#xD800;\0b<plaintext></a>",
    "<b>a</b><i>b</i><span><div>c</div>d</span>" + "<b>" * 20 + "e",
)


def attempt() -> NativeAttempt:
    core = native.core()
    assert core is not None
    return NativeAttempt(core)


def natively(page: str, most: int) -> list[Extract]:
    """What is read of a page, and of one whose tree is kept."""
    keeping = Document("http://a/", b"", "text/html")
    return [parse.extract(page, max_links=most, attempt=attempt(), kept_in=kept) for kept in (None, keeping)]


@built
@pytest.mark.parametrize("page", PAGES, ids=range(len(PAGES)))
@pytest.mark.parametrize("most", [100_000, 2])
def test_a_page_is_read_as_by_python(page: str, most: int) -> None:
    assert natively(page, most) == [parse.extract(page, max_links=most)] * 2


@built
@pytest.mark.parametrize("most", [4, 6, 7])
def test_of_candidates_that_are_none_a_bounded_number_is_looked_at(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(references, "MOST_CANDIDATES", most)
    page = "<img srcset='a 1,b 2,c 1x,'>" * 2 + "<a href=x>y</a><img srcset=d>"
    found = parse.extract(page)
    assert [link.url for link in found.links] == ["c", *["c"][: most // 6], "x", *["d"][: most // 7]]
    assert found.truncated is (most < 7)
    assert natively(page, 100) == [found] * 2


@built
@given(st.lists(st.sampled_from(MARKUP) | st.text(max_size=5), max_size=25).map("".join), st.sampled_from((0, 3, 9999)))
def test_any_page_is_read_as_by_python(page: str, most: int) -> None:
    assert natively(page, most) == [parse.extract(page, max_links=most)] * 2


def test_a_core_that_was_built_with_another_parser_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    other = type("Other", (), {"INTERFACE": native.INTERFACE, "BUILT_WITH": (("selectolax", "0.0.1"),)})
    monkeypatch.setattr(native, "import_module", lambda name: other)
    native.why_not.cache_clear()
    try:
        assert re.fullmatch(r"gregor-native was built with selectolax 0\.0\.1, not \d.*", native.why_not())
    finally:
        native.why_not.cache_clear()


def test_no_core_is_asked_where_the_settings_say_so() -> None:
    assert configured(Processors(), Config()).core is native.core()
    assert configured(Processors().natively(Noting()), replace(Config(), native=False)).core is None


def test_a_core_of_another_version_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "import_module", lambda name: type("Other", (), {"INTERFACE": -1}))
    native.why_not.cache_clear()
    try:
        assert native.why_not() == f"gregor-native is of another version (-1, not {native.INTERFACE})"
    finally:
        native.why_not.cache_clear()


AUTHORITIES = [
    "a.test",
    "A.test:80",
    "a.test.:443",
    "a.test:8080",
    "a.test.",
    "u:p@a.test",
    "[::1]:81",
    "127.1",
    "é.test",
]
PARTS = [
    *"/?#%:@;&=.~\\ \t\n\x00é\ud800",
    "//",
    "..",
    "%2e",
    "%2F",
    "%7e",
    "%41",
    "%c3%a9",
    "%%34",
    "%4",
    "a",
    "a=b",
    "x" * 40,
]
REFERENCES = st.one_of(
    st.lists(st.sampled_from(PARTS), max_size=14).map("".join),
    st.tuples(
        st.sampled_from(["http://", "https:", "//", "HTTP://", "ftp://", "mailto:"]),
        st.sampled_from(AUTHORITIES),
        st.lists(st.sampled_from(PARTS), max_size=8).map("".join),
    ).map("".join),
    st.text(max_size=20),
    st.sampled_from(["/a" * 50, "?" + "a=1&" * 50, "/" + "%25" * 9, "//" + "a." * 11 + "test", "/" + "ab" * 150]),
)


@built
@given(
    st.tuples(st.sampled_from(["http://", "https://"]), st.sampled_from(AUTHORITIES)).map("".join),
    st.sampled_from(["/", "", "/b/c?d#e", "/b/%2e%2e/c%"]),
    st.lists(REFERENCES, max_size=8),
    st.sampled_from([4096, 30, 0]),
)
def test_references_lead_where_python_says(origin: str, path: str, references: list[str], most: int) -> None:
    core, urls = native.core(), Urls(max_length=most)
    assert core is not None
    for reference, answer in zip(references, core.resolve(references, origin + path, most), strict=True):
        if isinstance(answer, bool):
            assert "%" in reference + path or not reference.isascii(), reference
            continue
        url = urls.resolve(reference, origin + path)
        if answer is None or url is None:
            assert answer is None and url is None, (reference, answer, url)
            continue
        href, key, host, fingerprint, plain = answer
        assert (href, key, host, fingerprint) == (url.href, url.key, url.host, url_fingerprint(url.key)), reference
        assert not (plain and malformed(url)), url


@built
def test_what_is_no_list_of_texts_is_refused() -> None:
    core: Any = native.core()
    for arguments in (("ab", "http://a/", 9), ([b"a"], "http://a/", 9), ([None], "http://a/", 9), (["a"], b"", 9)):
        with pytest.raises(TypeError):
            core.resolve(*arguments)
    with pytest.raises(ValueError, match="below 0"):
        core.resolve(["a"], "http://a/", -1)


TAG_PARTS = [
    *"<>/='\"! \t\x0b\x0c\x1c\xa0\u2003\u0085aé\u0130\ud800",
    "</",
    "<div",
    "</div>",
    "<P>",
    "<b",
    "</B>",
    "<li ",
    "<caption>",
    "<a-b",
]
TAG_PARTS += ["a=1", "b = 'x", 'c="y"', " = ", "=", "<script>", "x" * 9]
PAGES_OF_TAGS = st.lists(st.sampled_from(TAG_PARTS), max_size=40).map("".join)


@built
@given(PAGES_OF_TAGS, st.integers(1, 40), st.integers(0, 60), st.integers(0, 20))
def test_what_would_cost_too_much_is_told_as_python_does(part: str, times: int, room: int, most: int) -> None:
    core, html = native.core(), part * times
    assert core is not None
    tags = html.count("<")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (("MAX_DEPTH", most), ("MAX_ELEMENTS", room), ("MAX_NAMES", most), ("MAX_NODES", 4 * room)):
            patch.setattr(guard, name, value)
        patch.setattr(guard, "SAFE_PAGE", -1)
        assert core.is_too_costly(html, tags, 100_000, 4 * room, most) == guard.too_costly(html, tags)
        deep = core.is_too_deep(html, most, 2 * room)
        assert deep == guard._too_deep(html, None) or (deep is None and not html.isascii())
    assert core.formatting_elements(html) == len(guard._FORMATTING.findall(html))
    assert core.longest_tag(html) == max((len(tag[0]) for tag in guard._TAG.finditer(html)), default=0)


@built
@pytest.mark.parametrize("part", ["é a='b' <c d>", "\x0b/e=f ", "<table><tr><td>x", "\U0001f600 g\ud800", "</p><b>\0"])
def test_names_across_the_parts_of_a_long_text_are_counted_as_python_does(part: str) -> None:
    core, html = native.core(), (part * (600_000 // len(part)))[3:]
    assert core is not None
    numbered = f"{html} " + " ".join(f"n{number}" for number in range(50))
    with pytest.MonkeyPatch.context() as patch:
        for most in (1, 2, 3, 4, 5, 6, 7, 8, 50, 56, 58, 60):
            patch.setattr(guard, "MAX_NAMES", most)
            for nodes in (10, 10**9):
                patch.setattr(guard, "MAX_NODES", nodes)
                assert core.is_too_costly(numbered, 9, 100_000, nodes, most) == guard.too_costly(numbered, 9)
