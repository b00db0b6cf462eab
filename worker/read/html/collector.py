"""What a page says, gathered element by element, whatever tree the elements come from."""

from collections.abc import Callable, Mapping
from itertools import islice
from typing import Final, Protocol, TypeAlias

from gregor.worker.read.document import Extract, Reference
from gregor.worker.read.html import references
from gregor.worker.read.white_space import collapse

MAX_LINKS = 100_000
"""Links of one page that are kept; `max_links` says how many of them are followed."""
MAX_EMBEDDED = 1 << 20
"""Characters of the ``srcdoc`` attributes of a page that are read."""
MAX_EMBEDDED_COST = 80_000
"""What these may cost in all, as `linear` counts it (some 0.2 s)."""
_EMBEDDED_COST = 5
MAX_METAS = 1000
"""``meta`` elements with a name that are kept."""
MAX_WORDS: Final = 4096
"""Characters of an attribute that is a list of words (``rel``) that are read."""
MAX_ANCHOR = 200
"""Characters of an anchor text that are kept."""
ANCHOR_SHARE: Final = 2
"""Characters of anchor texts that are read in all, for each of the page: anchors may nest (in tables), so they may be
far longer than the page."""
MAX_HEADINGS: Final = 50
"""Headings of one page that are kept."""
MAX_HEADING: Final = 200
"""Characters of each."""
HEADINGS: Final = frozenset({"h1", "h2", "h3"})
_NOFOLLOW = frozenset({"nofollow", "ugc", "sponsored"})
_DRAWN = frozenset({"svg", "g", "symbol", "path", "use", "circle", "rect"})
"""Parents whose ``title`` is a tool tip of SVG, not the title of the page, and whose ``base`` is none."""


def names(text: str) -> frozenset[str]:
    """Element names written as one line."""
    return frozenset(text.split())


BLOCKS: Final = names(
    "address article aside blockquote body br button caption center dd details dialog dir div dl dt fieldset figcaption"
    " figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html img input legend li main menu nav noscript ol optgroup"
    " option p pre search section select summary table tbody td textarea tfoot th thead tr ul video xmp"
)
"""Elements whose text stands apart from the text around them."""
HIDDEN: Final = names("script style title template iframe noembed noframes")
"""Elements whose content is not text of the page."""


class Element(Protocol):
    """What is asked of an element of any tree; names are lower case."""

    @property
    def tag(self) -> str | None: ...
    @property
    def attributes(self) -> Mapping[str, str | None]: ...
    @property
    def parent(self) -> "Element | None": ...
    def text(self) -> str: ...


_SOURCES = {
    "script": [("src", "script")],
    "embed": [("src", "embed")],
    "object": [("data", "object")],
    "audio": [("src", "audio")],
    "video": [("src", "video"), ("poster", "poster")],
    "track": [("src", "track")],
    "input": [("src", "input")],
    "body": [("background", "background")],
    "blockquote": [("cite", "cite")],
    "q": [("cite", "cite")],
    "ins": [("cite", "cite")],
    "del": [("cite", "cite")],
    "iframe": [("src", "iframe")],
    "frame": [("src", "frame")],
    "img": [("src", "img")],
    "source": [("src", "source")],
}
"""Elements that refer by plain attributes, and the kind of each such link."""
_LINK_KINDS = (
    ("canonical", "canonical"),
    ("next", "next"),
    ("stylesheet", "css"),
    ("icon", "icon"),
    ("apple-touch-icon", "icon"),
    ("preload", "preload"),
    ("modulepreload", "preload"),
    ("sitemap", "sitemap"),
)
_FEEDS = frozenset({"application/rss+xml", "application/atom+xml", "application/feed+json"})


Embed: TypeAlias = Callable[["Collector", str, int], int]
"""Reads a document into a collector, up to a cost, and gives what it took."""


class Collector:
    """Takes the elements and texts of one page in document order."""

    def __init__(self, html: str, encoding: str, max_links: int, embed: Embed | None = None) -> None:
        """``embed`` reads what the page embeds as a text; without it that is left out."""
        self._embed = embed
        self._embedded, self._embedded_cost = MAX_EMBEDDED, MAX_EMBEDDED_COST
        self._extract = Extract(encoding=encoding, links=[], meta_robots=[], headings=[])
        self._links = self._extract.links
        self._max_links, self._budget = max_links, references.CandidateBudget()
        self.parts: list[str] = []
        self._anchor_budget = ANCHOR_SHARE * len(html)

    def finished(self) -> Extract:
        text = "".join(self.parts)
        self.parts.clear()  # a large text should not be there thrice
        self._extract.text = collapse(text)
        return self._extract

    def cut(self, what: str) -> None:
        """Note that the page was not read to its end, and of what there was too much."""
        self._extract.cut = self._extract.cut or what

    def add(self, url: str, kind: str, nofollow: bool = False, text: str = "") -> None:
        if len(self._links) < self._max_links:
            self._links.append(Reference(url, kind, nofollow, text))
        else:
            self._extract.truncated = True

    def open_anchor(self, node: Element) -> int:
        """Take an anchor whose text has still to come: its place among the links, -1 if it is none."""
        attributes = node.attributes
        return self.open_link(_stripped(attributes["href"]), _nofollow(attributes)) if "href" in attributes else -1

    def open_link(self, url: str, nofollow: bool = False) -> int:
        """The same of an anchor that refers to ``url``."""
        place = len(self._links)
        self.add(url, "a", nofollow)
        return place if len(self._links) > place else -1

    def name_anchor(self, place: int, text: str) -> None:
        """The text of an anchor, up to its end."""
        link = self._links[place]
        self._links[place] = Reference(link.url, link.kind, link.nofollow, collapse(text)[:MAX_ANCHOR])

    def anchor(self, node: Element) -> None:
        attributes = node.attributes
        if "href" not in attributes:
            return
        text, href = "", attributes["href"]
        if self._anchor_budget > 0:  # as `_text_within` and `add`, without their calls: most links are anchors
            text = node.text()
            self._anchor_budget -= len(text)
            text = " ".join(text[: 4 * MAX_ANCHOR].split())[:MAX_ANCHOR]
        if len(self._links) < self._max_links:
            url = href.strip(references.SPACE) if href else ""
            self._links.append(Reference(url, "a", "rel" in attributes and _nofollow(attributes), text))
        else:
            self._extract.truncated = True

    def _text_within(self, node: Element, most: int) -> str:
        """The text of an element, as far as there is room for it: elements may nest."""
        if self._anchor_budget <= 0:
            return ""
        text = node.text()
        self._anchor_budget -= len(text)
        return collapse(text[: 4 * most])[:most]

    def heading(self, node: Element) -> None:
        if len(self._extract.headings) < MAX_HEADINGS and (text := self._text_within(node, MAX_HEADING)):
            self._extract.headings.append(text)

    def area(self, node: Element) -> None:
        attributes = node.attributes
        if "href" in attributes:
            text = collapse(attributes.get("alt") or "")[:MAX_ANCHOR]
            self.add(_stripped(attributes["href"]), "area", _nofollow(attributes), text)

    def sources(self, node: Element) -> None:
        attributes = node.attributes
        for name, kind in _SOURCES.get(node.tag or "", ()):
            if url := _stripped(attributes.get(name)):
                self.add(url, kind)
        self._candidates(attributes.get("srcset"))

    def _candidates(self, srcset: str | None) -> None:
        most = self._max_links - len(self._links) + 1  # one more shows that there were more
        for url in islice(references.srcset(srcset or "", self._budget), most):
            self.add(url, "srcset")
        self._extract.truncated = self._extract.truncated or self._budget.left < 0

    def iframe(self, node: Element) -> None:
        """Its ``src``, and the text and links of its ``srcdoc``, which is shown in its place."""
        self.sources(node)
        if self._embed is not None and (document := node.attributes.get("srcdoc")):
            self._read_embedded(document, self._embed)

    def _read_embedded(self, document: str, embed: Embed) -> None:
        """What the document says about itself, as its title and its robots, is not said of the page."""
        if len(document) > self._embedded or self._embedded_cost <= 0:
            self.cut("embedded")
        if not self._embedded or self._embedded_cost <= 0:
            return
        document = document[: self._embedded]
        self._embedded -= len(document)
        inner = Collector(document, self._extract.encoding, self._max_links)
        inner._links, inner.parts, before = self._links, self.parts, len(self._links)
        self.parts.append(" ")
        self._embedded_cost -= _EMBEDDED_COST + embed(inner, document, self._embedded_cost)
        self.parts.append(" ")
        if inner._extract.cut:
            self.cut("embedded")
        self._extract.truncated = self._extract.truncated or inner._extract.truncated
        if inner._extract.base is not None:
            self._links[before:] = [references.rebased(link, inner._extract.base) for link in self._links[before:]]

    def form(self, node: Element) -> None:
        attributes = node.attributes
        url = _stripped(attributes.get("action"))
        if url and (attributes.get("method") or "get").lower() not in {"post", "dialog"}:
            self.add(url, "form")

    def link(self, node: Element) -> None:
        attributes = node.attributes
        self._candidates(attributes.get("imagesrcset"))
        url = _stripped(attributes.get("href"))
        if not url:
            return
        rel = _listed(attributes.get("rel"))
        kind = next((kind for token, kind in _LINK_KINDS if token in rel), "link")
        if kind == "link" and "alternate" in rel and (attributes.get("type") or "").strip().lower() in _FEEDS:
            kind = "feed"
        if kind == "canonical":
            parent = node.parent
            if parent is None or parent.tag != "head":
                kind = "link"
            elif self._extract.canonical is None:
                self._extract.canonical = url
        self.add(url, kind)

    def base(self, node: Element) -> None:
        attributes = node.attributes
        if self._extract.base is None and "href" in attributes and not _is_drawn(node):
            self._extract.base = _stripped(attributes["href"])

    def meta(self, node: Element) -> None:
        attributes = node.attributes
        content = attributes.get("content")
        if content is None:
            return
        if (name := attributes.get("name")) and len(self._extract.meta_robots) < MAX_METAS:
            self._extract.meta_robots.append((name.strip().lower(), content))
        if (attributes.get("http-equiv") or "").lower() == "refresh" and self._extract.refresh is None:
            refresh = references.refresh(content)
            if refresh is not None:
                self._extract.refresh = _stripped(refresh.url)
                self._extract.refresh_delay = refresh.delay
                if self._extract.refresh:
                    self.add(self._extract.refresh, "refresh")

    def title(self, node: Element) -> None:
        if self._extract.title is None and not _is_drawn(node):
            self._extract.title = collapse(node.text())

    def root(self, node: Element) -> None:
        self._extract.lang = (node.attributes.get("lang") or "").strip() or None


def _is_drawn(node: Element) -> bool:
    """Whether an element is SVG's, not HTML's of the same name."""
    parent = node.parent
    return parent is not None and parent.tag in _DRAWN


def _stripped(value: str | None) -> str:
    return value.strip(references.SPACE) if value else ""


def _nofollow(attributes: Mapping[str, str | None]) -> bool:
    return not _NOFOLLOW.isdisjoint(_listed(attributes.get("rel")))


def _listed(words: str | None) -> list[str]:
    """The words of an attribute that is a list of them, lower case."""
    return words[:MAX_WORDS].lower().split() if words else []


HANDLERS: Final[dict[str, Callable[[Collector, Element], None]]] = {
    **dict.fromkeys(_SOURCES, Collector.sources),
    **dict.fromkeys(HEADINGS, Collector.heading),
    "iframe": Collector.iframe,
    "a": Collector.anchor,
    "area": Collector.area,
    "form": Collector.form,
    "link": Collector.link,
    "base": Collector.base,
    "meta": Collector.meta,
    "title": Collector.title,
    "html": Collector.root,
}
