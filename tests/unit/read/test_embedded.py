"""What is shown in a page though it does not stand there as elements do: shadow roots, and the documents of srcdoc."""

from html import escape

import pytest

from gregor.worker.read.document import Reference
from gregor.worker.read.html import linear, parse, shadow, xhtml
from gregor.worker.read.html.collector import MAX_EMBEDDED
from gregor.worker.read.html.references import base_url
from gregor.worker.web.urls import Urls

URLS = Urls()

LINK = "<a href=s>t</a>"
SHOWN = [
    f"<div><template shadowrootmode=open>{LINK}</template></div>",
    f"<my-tag>\n <TEMPLATE a=b shadowrootmode='Closed' c>{LINK}</template></my-tag>",
    f"<div><!-- <template> --><template shadowrootmode=open><script></template></script>{LINK}</template></div>",
    f"<div><template shadowrootmode=open><p><template shadowrootmode=open>{LINK}</template></p></template></div>",
    f"<div><template shadowrootmode=open><template>no</template>{LINK}</template></div>",
    f"<div><template shadowrootmode=open>{LINK}",
]
HIDDEN = [
    f"<template>{LINK}</template>",
    f"<div><template shadowrootmode=none>{LINK}</template></div>",
    f"<div><template shadowrootmode>{LINK}</template></div>",
    f"<div><template data-shadowrootmode=open>{LINK}</template></div>",
    f"<template><div><template shadowrootmode=open>{LINK}</template></div></template>",
    f"<ul><template shadowrootmode=open>{LINK}</template></ul>",
    f"<div><template shadowrootmode=open></template> <template shadowrootmode=open>{LINK}</template></div>",
    f"<script><div><template shadowrootmode=open></script><template>{LINK}</template>",
]


@pytest.mark.parametrize("page", SHOWN)
def test_the_content_of_a_shadow_root_is_content_of_the_page(page: str) -> None:
    found = parse.extract(page + "<p>behind")
    assert found.links == [Reference("s", "a", False, "t")]
    assert found.text in {"t behind", "t" if page.endswith(LINK) else "t behind"}
    assert linear.extract(shadow.opened(page)[0], "utf-8", 100).links == found.links


@pytest.mark.parametrize("page", HIDDEN)
def test_other_templates_stay_inert(page: str) -> None:
    found = parse.extract(page + "<p>behind")
    assert (found.links, found.text) == ([], "behind")


def test_very_many_shadow_roots_are_cut_and_it_is_said() -> None:
    assert parse.extract("<div><template shadowrootmode=open>a</template></div>" * shadow.MAX_TOKENS).cut == "tags"


def embedding(document: str, before: str = "", more: str = "") -> str:
    return f'{before}<p>before<iframe {more} srcdoc="{escape(document)}">no</iframe>behind'


def test_an_embedded_document_is_text_and_links_of_its_page() -> None:
    inner = (
        "<title>no</title><link rel=canonical href=/c><meta name=robots content=noindex><html lang=xx>"
        "<p>one &amp; two</p><a href=a rel=nofollow>A</a><img src=i>"
    )
    for found in (parse.extract(embedding(inner)), linear.extract(embedding(inner), "utf-8", 100)):
        assert found.text == "before one & two A behind"
        assert [(link.url, link.kind, link.nofollow) for link in found.links if link.kind != "link"] == [
            ("/c", "canonical", False), ("a", "a", True), ("i", "img", False),
        ]  # fmt: skip
        assert (found.title, found.lang, found.canonical, found.meta_robots) == (None, None, None, [])


def test_in_xhtml_too() -> None:
    page = f'<html xmlns="{xhtml.NAMESPACE}"><body><iframe srcdoc="{escape(LINK)}"/></body></html>'
    found = xhtml.extract(page)
    assert found is not None
    assert (found.text, found.links) == ("t", [Reference("s", "a", False, "t")])


def test_its_links_have_the_base_of_the_page_or_its_own() -> None:
    found = parse.extract(embedding(LINK, "<base href=/b/>"))
    assert (found.base, found.links[0].url) == ("/b/", "s")
    found = parse.extract(embedding("<base href=http://other.example/d/>" + LINK) + "<a href=own>")
    assert (found.base, [link.url for link in found.links]) == (None, ["http://other.example/d/s", "own"])


def test_what_is_embedded_deeper_or_is_too_large_is_left_out() -> None:
    found = parse.extract(embedding(embedding(LINK)))
    assert found.links == []
    large = parse.extract(embedding("x" * MAX_EMBEDDED + LINK))
    assert (large.links, large.cut) == ([], "embedded")
    many = parse.extract(embedding(LINK) * 30_000)
    assert many.cut == "embedded"
    assert 1000 < len(many.links) < 30_000


@pytest.mark.parametrize(
    "base", ["/d/", "/d/e", "d/", "../d/e/f", "?q", "//host/d/e", "", "http://host/d/", "data:x", "#f"]
)
@pytest.mark.parametrize("href", ["in", "./in", "../in", "/in", "?q", "", "//other/in", "http://other/in", "mailto:x"])
def test_the_base_of_an_embedded_document_is_resolved_by_that_of_the_page(base: str, href: str) -> None:
    """As a browser would: the document's references against its base, and that against the page's."""
    page = "http://page.test/a/b/c?x"
    found = parse.extract(embedding(f'<base href="{base}"><a href="{href}">t</a>'))
    (link,) = [link.url for link in found.links if link.kind == "a"]
    assert URLS.resolve(link, page) == URLS.resolve(href, base_url(base, page))


@pytest.mark.parametrize("filler", ["<p>x</p>", "<p>x</p>" * 20_000])
@pytest.mark.parametrize("page", SHOWN)
def test_shadow_roots_of_short_and_of_long_pages_are_open(page: str, filler: str) -> None:
    found = parse.extract(filler + page)
    assert found.links == [Reference("s", "a", False, "t")]
