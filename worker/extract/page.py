"""A document as rules see it: parsed once, and only as far as a rule asks."""

import re
from collections import defaultdict
from functools import cached_property
from typing import Any, Final

import msgspec
from lxml import etree
from selectolax.lexbor import LexborHTMLParser, LexborNode

from gregor.schemas.events import rfc3339
from gregor.schemas.messages import Page
from gregor.worker.extract import json_text, text
from gregor.worker.extract.model import RuleFailed, Spent
from gregor.worker.extract.needs import Alternatives
from gregor.worker.extract.work import MOST, Work
from gregor.worker.read.document import Document
from gregor.worker.read.html import shadow, xhtml
from gregor.worker.read.html.guard import guard
from gregor.worker.read.html.references import base_url
from gregor.worker.read.processors import decoded

LxmlElement = etree._Element

MOST_SCRIPTS: Final = 200
"""Scripts of a page that are looked into."""
MOST_TEXT: Final = 16 << 20
"""Characters of all values of a page."""
MOST_NESTED: Final = 512
"""Elements within elements that XPath may look in."""
_TOO_DEEP: Final = etree.XPath(f"boolean(//*[not(*)][ancestor::*[{MOST_NESTED}]])")
_APART: Final = "script apart "
_JSON_SCRIPTS: Final = 'script[type*="json" i]'
_JSON_TYPES: Final = re.compile(r"(?:application|text)/(?:[\w.+-]+\+)?json")
_XML_TYPES: Final = re.compile(r"(?:application|text)/(?:[\w.+-]+\+)?xml")


class PageFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What the crawl knows of a page beside its body: the source ``page`` of a field. "" and 0: it is not known."""

    url: str
    host: str = ""
    status: int = 0
    fetched_at: str = ""
    at: float = 0.0
    """``fetched_at`` in unix seconds: what "yesterday" is reckoned from."""
    language: str = ""
    title: str = ""
    text: str = ""
    content_type: str = ""
    depth: int = 0
    label: str = ""
    version: int = 0


def of_stored(page: Page, body: bytes) -> "Parsed":
    """A stored page with its body, decoded of content codings."""
    media = media_type(page)
    header = f"{media}; charset={page.encoding}" if page.encoding else media
    return Parsed(Document(page.href, body, header), facts_of(page))


def facts_of(page: Page) -> PageFacts:
    """What is known of a page that was read."""
    return PageFacts(
        url=page.href,
        host=page.host,
        status=page.status,
        fetched_at=rfc3339(page.fetched_at),
        at=page.fetched_at,
        language=page.language,
        title=page.title or "",
        text=page.text,
        content_type=media_type(page),
        depth=page.depth,
        label=page.label,
        version=page.visit,
    )


def media_type(page: Page) -> str:
    """The media type of a page, without parameters."""
    return page.content_type.partition(";")[0].strip().lower()


def is_readable(media: str) -> bool:
    """Whether rules can find anything in documents of a media type."""
    return media.startswith("text/") or bool(_JSON_TYPES.fullmatch(media) or _XML_TYPES.fullmatch(media))


class Parsed:
    """A document, parsed as far as it was asked for. Its URL is that of ``facts``."""

    def __init__(self, document: Document, facts: PageFacts, most: int = MOST) -> None:
        """``most``: the steps that it may cost, see `Work`."""
        self.facts = facts
        self._most = most
        self.document = document
        self._scripts: dict[str, list[Any]] = {}
        self._apart: dict[str, str] = {}
        self.renew()
        self.entities: dict[str, list[dict[str, Any]]] = {}
        """Those of schema.org that were looked for, by type."""
        self.left_out: dict[str, set[str]] = defaultdict(set)
        """What of its data is beyond the bounds ("more than 50000 values of Job"), by what was looked for: a type of
        schema.org, the scripts of a selector, or "" for a document of JSON."""
        self.shortened: dict[str, set[str]] = defaultdict(set)
        """What is beyond the bounds of the entities that were found, by their type."""
        self.is_cut = False
        """Whether a value was cut since it was set to False."""
        self._there: dict[str, bool] = {}
        """Of names that were looked for whether an element may have them."""

    def look_for(self, names: tuple[str, ...]) -> None:
        """Names of elements, classes and ids are looked for at once, where that is quick: what `lacks` knows."""
        root, core = self.document.tree, self.document.core
        if names and root is not None and core is not None:
            self._there.update(zip(names, map(bool, core.names_there(root.mem_id, " ".join(names))), strict=True))

    def lacks(self, needs: Alternatives) -> bool:
        """Whether the page has certainly not what a selector needs."""
        there = self._there
        return bool(needs) and all(any(there.get(name) is False for name in names) for names in needs)

    def renew(self) -> None:
        """What it may cost and give begins anew: those who read it now are others."""
        self._room = MOST_TEXT
        self.work = Work(self.document.size, self._most, self.document.core)

    def take(self, characters: int) -> None:
        """Values of so many characters are made of it. Raises `Spent` beyond what a page may give: elements within
        elements say the same text again and again."""
        self._room -= characters
        if self._room < 0:
            raise Spent(f"its values are longer than {MOST_TEXT >> 20} MiB")

    @cached_property
    def kind(self) -> str:
        """ "html", "xml", "json" or "other"."""
        media = self.document.content_type
        if media in ("text/html", "application/xhtml+xml"):
            return "html"
        return "json" if _JSON_TYPES.fullmatch(media) else "xml" if _XML_TYPES.fullmatch(media) else "other"

    @cached_property
    def markup(self) -> str:
        """The body as text, as far as its size is bounded."""
        return decoded(self.document)[0]

    @cached_property
    def node(self) -> LexborNode | None:
        """The root of the tree that a browser builds; None where the document is no page. Raises `RuleFailed` where the
        tree would be huge."""
        if self.kind != "html":
            return None
        if self.document.tree is not None:  # whoever read it has parsed it
            return self.document.tree
        markup = self.markup
        if self.document.content_type == "application/xhtml+xml" and (root := xhtml.parse_page(markup)) is not None:
            markup = etree.tostring(_plain(root), encoding="unicode", method="html")
        markup = shadow.opened(markup)[0]
        tame = guard(markup)
        if tame is None:  # what looks like much markup may be data
            markup, self._apart = without_scripts(markup)
            tame = guard(markup)
        if tame is None:
            raise RuleFailed("the page has too much markup for a tree")
        return LexborHTMLParser(tame).root

    @cached_property
    def element(self) -> LxmlElement | None:
        """The same tree for XPath; that of an XML document; None for any other."""
        if self.kind == "xml":
            root = xhtml.parse(self.markup)
            return None if root is None else _plain(root)
        return None if self.node is None else element_of(self.node)

    @cached_property
    def base(self) -> str:
        """What references of the document are resolved against."""
        element = self.node.css_first("base[href]") if self.node is not None else None
        return base_url(None if element is None else (element.attributes.get("href") or ""), self.facts.url)

    @cached_property
    def json(self) -> list[Any]:
        """The JSON document that it is; nothing for any other."""
        return list(json_text.read(self.markup, self.left_out[""])) if self.kind == "json" else []

    @cached_property
    def metas(self) -> dict[str, list[str]]:
        """The contents of the ``meta`` elements by name, property, itemprop or http-equiv, in lower case."""
        contents: dict[str, list[str]] = {}
        for meta in self.node.css("meta[content]") if self.node is not None else ():
            attributes = meta.attributes
            for key in ("name", "property", "itemprop", "http-equiv"):
                if name := attributes.get(key):
                    contents.setdefault(name.strip().lower(), []).append(attributes.get("content") or "")
        return contents

    def scripts(self, selector: str | None) -> list[Any]:
        """The JSON in the scripts that a CSS selector chooses, or that say they are JSON: a script's whole text, or
        all that it assigns."""
        chosen = selector or _JSON_SCRIPTS
        if chosen not in self._scripts:
            nodes = self.node.css(chosen) if self.node is not None else []
            if len(nodes) > MOST_SCRIPTS:
                self.left_out[chosen].add(f"more than {MOST_SCRIPTS} scripts of JSON")
            sources = map(self._source, nodes[:MOST_SCRIPTS])
            self._scripts[chosen] = [
                value for source in sources for value in json_text.in_script(source, self.left_out[chosen])
            ]
        return self._scripts[chosen]

    def left_out_of_json(self, selector: str | None) -> set[str]:
        """What is beyond the bounds in the document, if it is JSON, else in the scripts, see `scripts`."""
        return self.left_out["" if self.kind == "json" else selector or _JSON_SCRIPTS]

    def _source(self, script: LexborNode) -> str:
        """What a script says, also where it is kept apart."""
        said = text.raw(script)
        return self._apart.get(said, said)


def without_scripts(markup: str) -> tuple[str, dict[str, str]]:
    """A page with a name in the place of what each script says, and that by its name."""
    lower = markup.lower() if markup.isascii() else "".join(map(_lower, markup))
    pieces: list[str] = []
    apart: dict[str, str] = {}
    at = 0
    while (start := lower.find("<script", at)) >= 0 and (begin := lower.find(">", start) + 1):
        end = lower.find("</script", begin)
        if end < 0:
            break
        name = f"{_APART}{len(apart)}"
        pieces += (markup[at:begin], name)
        apart[name] = markup[begin:end]
        at = end
    return "".join([*pieces, markup[at:]]), apart


def _lower(character: str) -> str:
    """Lower case of ASCII, so that nothing moves."""
    return character.lower() if character.isascii() else character


def element_of(node: LexborNode, work: Work | None = None) -> LxmlElement | None:
    """The element of a node's own markup, for XPath; None for what makes no tree. ``work`` pays for a part of a page.

    Its size is bounded already; elements may be nested deeper than the 255 that are libxml2's own bound, but no deeper
    than in browsers: what an XPath costs grows with the third power of it. Raises `RuleFailed`.
    """
    markup = node.html or ""
    if work is not None:
        work.parse(markup)
    root = etree.HTML(markup, etree.HTMLParser(encoding="utf-8", huge_tree=True, no_network=True))
    if root is not None and _TOO_DEEP(root):
        raise RuleFailed(f"its elements are nested more than {MOST_NESTED} deep, which is too much for XPath")
    if root is None or node.tag == "html":
        return root
    body = root if node.tag == "body" else root.find("body")
    first = None if body is None else body.find("*")
    return root if first is None else first


def _plain(root: LxmlElement) -> LxmlElement:
    """A tree of XML whose names have no namespaces."""
    for element in root.iter(etree.Element):
        if isinstance(element.tag, str) and "}" in element.tag:
            element.tag = element.tag.rpartition("}")[2]
    return root
