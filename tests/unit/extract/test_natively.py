"""What rules find in a tree that the native core looks through too is what they find without it, at the same price."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gregor.worker.extract.items import extract
from gregor.worker.extract.model import Field, Rule
from gregor.worker.extract.needs import alternatives, names_of
from gregor.worker.extract.page import PageFacts, Parsed
from gregor.worker.extract.selectors import CssSelector
from gregor.worker.extract.work import Work
from gregor.worker.read import native
from gregor.worker.read.document import Document
from gregor.worker.read.processors import Processors
from gregor.worker.web.urls import Urls

built = pytest.mark.skipif(native.core() is None, reason=f"{native.why_not()} (make native)")
URL = "http://a.example/"
SELECTORS = (
    *("title", "p.price", ".Price", "#main", "div > b", "#main .price::text", "a[href]::attr(href)", "svg", "G"),
    *("p, .x", "b::text", "div ::text", "li:first-child", "*", "div:not(.x)", "html", "tbody td", "linearGradient"),
)
PIECES = (
    *(
        "<p class=price>",
        "<P CLASS='x PRICE'>",
        "<div id=main>",
        "<div id=MAIN>",
        "</div>",
        "<b>",
        "</b>",
        "<a href=u>",
    ),
    *("<svg><g class=price><title>", "<linearGradient>", "</svg>", "<table><td>", "<script>", "</script>", "<li>", "&"),
    *(
        "<template><p class=price>",
        "</template>",
        "<!--",
        "-->",
        "<p class='pr&#105;ce'>",
        "<title>",
        "<iframe>",
        " a ",
    ),
    *("<noscript>", "</noscript>", "<x:p>", "<foo-bar>", "<math><mi>", "<plaintext>", "<i>" * 18, "\u00a0", "\0"),
)


def found(page: str, rule: Rule, *, natively: bool) -> tuple[object, ...]:
    core = native.core() if natively else None
    document = Document(URL, page.encode(), "text/html; charset=utf-8")
    document.keeps_tree = True
    Processors().natively(core).process(document)
    assert document.core is core
    parsed, url = Parsed(document, PageFacts(url=URL)), Urls().parse(URL)
    assert url is not None
    made = extract((rule,), parsed, url)
    return made.items, made.losses, steps(parsed.work)


def steps(work: Work) -> float:
    """How many are left."""
    return round(work._left, 3)


def rule_of(selectors: Iterator[str]) -> Rule:
    fields = tuple(Field(f"f{number}", (CssSelector(selector),)) for number, selector in enumerate(selectors))
    many = tuple(Field(f"many{field.name}", field.sources, many=True) for field in fields)
    rule = Rule("r", "r", None, None, None, (*fields, *many))
    return Rule("r", "r", None, None, None, rule.fields, names=names_of(rule))


@built
@given(
    st.sampled_from(("", "<!doctype html>")),
    st.lists(st.sampled_from(PIECES) | st.text(st.characters(codec="utf-8"), max_size=4), max_size=20).map("".join),
)
def test_any_page_gives_the_same_at_the_same_price(doctype: str, page: str) -> None:
    rule = rule_of(iter(SELECTORS))
    assert found(doctype + page, rule, natively=True) == found(doctype + page, rule, natively=False)


@pytest.mark.parametrize(
    ("selector", "needs"),
    [
        ("h1", (("h1",),)),
        ("Div.a.b > #c  span", (("div", ".a", ".b", "#c", "span"),)),
        ("p, .x + li", (("p",), (".x", "li"))),
        ("a[href^='/x, y']:nth-child(2n+1)", (("a",),)),
        ("[itemprop=price]", ()),  # it names nothing
        ("p, *", ()),
        ("*.x", ((".x",),)),
        ("div:not(.x)", ()),
        ("div:has(p, b)", ()),
        (":is(p)", ()),
        (r"a\.b", ()),
        ("svg|a", ()),
        (".\u00e9", ()),
        ("a[title='\\'b']", ()),
        ("a[title='x]y,z']", ()),
        ("", ()),
    ],
)
def test_what_a_selector_needs_is_said_where_it_is_certain(selector: str, needs: object) -> None:
    assert alternatives(selector) == needs


def test_only_what_is_looked_for_in_the_whole_page_is_looked_for_at_once() -> None:
    price = Field("price", (CssSelector(".price"),))
    assert names_of(Rule("r", "r", None, CssSelector("#shop"), CssSelector("li"), (price,))) == ("#shop", "li")
    assert names_of(Rule("r", "r", None, CssSelector("#shop"), None, (price,))) == ("#shop", ".price")
