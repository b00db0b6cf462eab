"""Links: elements, base, srcset, refresh, canonical, style sheets, attributes (HTML Standard)."""

from typing import Any

from selectolax.lexbor import LexborHTMLParser

from gregor.worker.read import css
from gregor.worker.read.document import Document, Extract, Reference
from gregor.worker.read.html import references
from gregor.worker.read.html.guard import guard
from gregor.worker.read.processors import process
from gregor.worker.robots.meta import meta_robots
from gregor.worker.web import http_headers
from gregor.worker.web.urls import Urls
from tests.web.suites import Line, Suite, Verdict, equal, octets

_URLS = Urls()
_KINDS = {
    "img@srcset": {"srcset"},
    "source@srcset": {"srcset"},
    "link@href": {"link", "css", "icon", "next", "canonical", "feed", "sitemap"},
    "object@data": {"object"},
    "video@poster": {"poster"},
    "body@background": {"background"},
    "blockquote@cite": {"cite"},
    "q@cite": {"cite"},
}
"""The kinds of links of an element and attribute where they are not just the element's name."""


def _html(case: Line) -> bytes:
    if "html_build" in case:
        return "".join(text * times for text, times in case["html_build"]).encode()
    return octets(case, "html")


def _extract(case: Line) -> tuple[Extract, str]:
    """What the document says, and its base URL."""
    href = case.get("base_url") or case["document_url"]
    found = process(Document(href, _html(case), case.get("content_type", "text/html; charset=utf-8")))
    return found, references.base_url(found.base, href)


def _resolved(found: Extract, base: str, links: list[Reference]) -> list[str]:
    targets = [_URLS.resolve(link.url, base, found.encoding) for link in links]
    return list(dict.fromkeys(target.href for target in targets if target is not None))


def _crawlable(urls: list[str]) -> list[str]:
    """The http(s) URLs of a list, without fragments, each once: what a crawler keeps of them."""
    return list(dict.fromkeys(target.href for target in map(_URLS.parse, urls) if target is not None))


def _links(case: Line) -> Verdict:
    found, base = _extract(case)
    kinds: set[str] = set()
    for element in case["elements"]:
        kinds |= _KINDS.get(element, {element.split("@")[0] if element != "meta@refresh" else "refresh"})
    links = [link for link in found.links if link.kind in kinds]
    tolerated = set(_crawlable(case.get("may_include", [])))
    expected = [url for url in _crawlable(case["links"]) if url not in tolerated]
    verdict = equal([url for url in _resolved(found, base, links) if url not in tolerated], expected)
    if not verdict.passed:
        return verdict
    closed = meta_robots(found.meta_robots, [], "gregor", 0.0).nofollow
    followed = [] if closed else _resolved(found, base, [link for link in links if not link.nofollow])
    followable = [url for url in _crawlable(case["followable"]) if url not in tolerated]
    return equal([url for url in followed if url not in tolerated], followable)


def _base_url(case: Line) -> Verdict:
    return equal(_extract(case)[1], case["base_url"])


def _canonical(case: Line) -> Verdict:
    base = case["document_url"]
    if "link_header" in case:
        reference = http_headers.canonical_link(case["link_header"])
    else:
        found, base = _extract(case)
        reference = found.canonical
    target = None if reference is None else _URLS.resolve(reference, base)
    return equal(target and target.href, case["canonical"])


def _css(case: Line) -> Verdict:
    found = [Reference(url, kind) for url, kind in css.references(case["css"])]
    if case["urls"] is None:
        return Verdict(True, "")
    return equal(_resolved(Extract(), case["base_url"], found), _crawlable(case["urls"]))


def _srcset(case: Line) -> Verdict:
    return equal(next(references.srcset(case["srcset"]), None), case["first_valid_candidate"])


def _refresh_content(case: Line) -> Verdict:
    found = references.refresh(case["content"])
    if found is None:
        return Verdict(not case["refreshes"], "nothing refreshes")
    return equal((True, found.delay, found.url), (case["refreshes"], case["delay"], case["url"]))


def _refresh_document(case: Line) -> Verdict:
    found, base = _extract(case)
    if found.refresh is None:
        return equal(None, case["target"])
    target: Any = _URLS.resolve(found.refresh, base, found.encoding) if found.refresh else _URLS.parse(base)
    wanted = _URLS.parse(case["target"]) if case["target"] else None
    return equal((found.refresh_delay, target), (case["delay"] and int(case["delay"]), wanted))


def _attributes(case: Line) -> Verdict:
    """The start tags of a tokenizer test, as the tree has them: the tests put them where trees drop none."""
    root = LexborHTMLParser(guard(case["html"]) or "").root
    found = {} if root is None else {node.tag: dict(node.attributes) for node in root.traverse()}
    expected = {
        name: {key: value or None for key, value in attributes.items()} for name, attributes in case["start_tags"]
    }
    seen = {name: {key: value or None for key, value in found.get(name, {}).items()} for name in expected}
    return equal(seen, expected)


SUITES = [
    Suite("links/extract", "links/extract.jsonl", "scrapy 76, lxml 74, bs4 71 of 83", _links),
    Suite("links/base_url", "links/base_url.jsonl", "", _base_url),
    Suite("links/canonical", "links/canonical.jsonl", "", _canonical),
    Suite("links/css_urls", "links/css_urls.jsonl", "", _css),
    Suite("links/srcset", "links/srcset.jsonl", "split on comma 3 of 159", _srcset),
    Suite("links/refresh_content", "links/meta_refresh_content.jsonl", "w3lib 29 of 45", _refresh_content),
    Suite("links/refresh_documents", "links/meta_refresh_documents.jsonl", "w3lib 32 of 33", _refresh_document),
    Suite("links/attributes", "links/html_attributes.jsonl", "html.parser 219 of 241", _attributes),
]
