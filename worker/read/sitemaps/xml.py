"""The events of an XML sitemap or feed, made into entries while they come in."""

from collections.abc import Mapping
from typing import Final

from gregor.worker.read.sitemaps.entries import (
    CHANGE_FREQUENCIES,
    Extension,
    Sitemap,
    SitemapUrl,
    parse_date,
    parse_priority,
)

MAX_FIELD: Final = 8192
"""Characters of an address or another value that are kept."""
MAX_ELEMENTS: Final = 350_000
"""Elements of a document that are read (some 0.6 s): an entry of a sitemap has two to six."""
MAX_EXTENSIONS: Final = 1000
"""Extensions of an entry that are kept (Google's bound for images)."""
_SHARED_NAMESPACES = frozenset(
    {
        "",  # where the root alone has a prefix, or one is not declared
        "http://purl.org/rss/1.0/",
        "http://my.netscape.com/rdf/simple/0.9/",  # RSS 0.90
        "http://www.sitemaps.org/schemas/sitemap/0.9",
    }
)
_DUBLIN_CORE = "http://purl.org/dc/elements/1.1/"
"""Has the date of an item of RSS 1.0, which has none of its own."""
_RELATIONS = "http://www.iana.org/assignments/relation/"
"""What may stand before a relation's registered name (RFC 4287 section 4.2.7.2)."""
_FAMILIES = ("image", "video", "news", "mobile")
_KINDS = {
    "urlset": ("urlset", "url"),
    "sitemapindex": ("index", "sitemap"),
    "rss": ("rss", "item"),
    "rdf": ("rss", "item"),
    "feed": ("atom", "entry"),
}
"""Root element → kind of document, name of its entries."""
_FIELDS = {
    "urlset": {"loc": "loc", "lastmod": "lastmod", "changefreq": "changefreq", "priority": "priority"},
    "index": {"loc": "loc", "lastmod": "lastmod"},
    "rss": {"link": "loc", "guid": "id", "pubdate": "lastmod"},
    "atom": {"id": "id", "updated": "lastmod", "modified": "lastmod"},  # the latter in Atom 0.3
}


class SitemapTarget:
    """Takes the parser's events; keeps the entry and the field that are open."""

    def __init__(self, result: Sitemap, max_urls: int, extensions: bool) -> None:
        self._result = result
        self._max_urls = max_urls
        self._wants_extensions = extensions
        self.is_none = False
        """The root is that of something else: nothing will come of it."""
        self._namespace: str | None = None
        self._entry_name = ""
        self._fields: dict[str, str] = {}
        self._depth = self._elements = 0
        self._entry_depth = 0
        self._entry: dict[str, str] = {}
        self._extensions: list[Extension] = []
        self._extension: Extension | None = None
        self._field = ""
        self._field_depth = 0
        self._text: list[str] = []
        self._room = 0
        self._done = False

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._depth += 1
        self._elements += 1
        if self._done:
            return
        if self._elements > MAX_ELEMENTS:
            self._result.truncated = self._done = True
            return
        namespace, name = _split(tag)
        own = name.lower()  # XML minds the case of names; not everybody who writes it does
        if self._depth == 1:
            self._root(namespace, own)
        elif self._extension is not None:
            self._open_value(name, attributes)
        elif self._field_depth:
            if self._text and self._begins_entry(namespace, own):  # before any text it is a stray tag
                self._reopen()
        elif not self._entry_depth:
            if self._begins_entry(namespace, own):
                self._entry_depth = self._depth
        elif self._depth == self._entry_depth + 1:
            self._child(namespace, own, attributes)

    def _begins_entry(self, namespace: str, name: str) -> bool:
        return name == self._entry_name and self._is_own(namespace)

    def _reopen(self) -> None:
        """An entry begins inside another: an end tag is missing there."""
        if self._field_depth:
            self._close_field()
        self._flush()
        self._entry_depth = self._depth

    def _child(self, namespace: str, name: str, attributes: Mapping[str, str]) -> None:
        """What stands directly in an entry: a field, an extension, or the next entry if this one has no end tag."""
        if self._begins_entry(namespace, name):
            self._reopen()
        elif self._is_own(namespace) and self._result.kind == "atom" and name == "link":
            relation = attributes.get("rel", "").strip().lower().removeprefix(_RELATIONS)
            if relation in ("", "alternate"):
                self._entry.setdefault("loc", attributes.get("href", ""))
        elif self._is_own(namespace) and name in self._fields:
            self._open(self._fields[name])
            self._field_depth = self._depth
        elif self._result.kind == "rss" and namespace == _DUBLIN_CORE and name == "date":
            self._open("lastmod")
            self._field_depth = self._depth
        elif self._wants_extensions:
            self._extend(namespace, name, attributes)

    def _extend(self, namespace: str, name: str, attributes: Mapping[str, str]) -> None:
        """An extension. If the document forgot to declare its prefix, the parser drops it: ``image`` is left."""
        if name == "link" and "hreflang" in attributes and "alternate" in attributes.get("rel", "").lower().split():
            self._open_extension(name, attributes)
        elif family := next((it for it in _FAMILIES if f"sitemap-{it}" in (namespace or f"sitemap-{name}")), None):
            self._open_extension(family, attributes)

    def _root(self, namespace: str, name: str) -> None:
        self._namespace = namespace
        self._result.kind, self._entry_name = _KINDS.get(name, ("unknown", ""))
        self._fields = _FIELDS.get(self._result.kind, {})
        self.is_none = not self._entry_name

    def _is_own(self, namespace: str) -> bool:
        return namespace == self._namespace or namespace in _SHARED_NAMESPACES

    def _open_extension(self, name: str, attributes: Mapping[str, str]) -> None:
        values = {f"@{_split(key)[1]}": [value.strip()[:MAX_FIELD]] for key, value in attributes.items()}
        self._extension = Extension(name, values)

    def _open_value(self, name: str, attributes: Mapping[str, str]) -> None:
        assert self._extension is not None
        self._open(name)
        for key, value in attributes.items():
            self._extension.values.setdefault(f"{name}@{key}", []).append(value.strip()[:MAX_FIELD])

    def _open(self, field: str) -> None:
        self._field, self._text, self._room = field, [], MAX_FIELD

    def data(self, text: str) -> None:
        if self._field and self._room > 0:
            text = text if self._text else text.lstrip()
            if text:
                self._text.append(text[: self._room])
                self._room -= len(text)

    def end(self, tag: str) -> None:
        if not self._done:
            if self._extension is not None:
                self._end_extension(self._extension)
            elif self._field_depth == self._depth:
                self._close_field()
            elif self._entry_depth == self._depth:
                self._flush()
                self._entry_depth = 0
        self._depth -= 1

    def _end_extension(self, extension: Extension) -> None:
        value = " ".join("".join(self._text).split())
        if self._field and value:
            extension.values.setdefault(self._field, []).append(value)
        self._field, self._text = "", []
        if self._depth == self._entry_depth + 1:
            if len(self._extensions) < MAX_EXTENSIONS:
                self._extensions.append(extension)
            self._extension = None

    def _close_field(self) -> None:
        value = "".join(self._text).strip()
        if self._field == "loc" and self._entry.get("loc"):
            self._flush()
        if value:
            self._entry.setdefault(self._field, value)
        self._field, self._field_depth = "", 0

    def _flush(self) -> None:
        entry, self._entry = self._entry, {}
        extensions, self._extensions = self._extensions, []
        loc = entry.get("loc") or (entry["id"] if entry.get("id", "").startswith(("http://", "https://")) else "")
        if not loc:
            return
        entries = self._result.children if self._result.kind == "index" else self._result.urls
        if len(entries) >= self._max_urls:
            self._result.truncated = self._done = True
            return
        frequency = entry.get("changefreq", "").lower()
        entries.append(
            SitemapUrl(
                loc,
                parse_date(entry.get("lastmod", "")),
                frequency if frequency in CHANGE_FREQUENCIES else None,
                parse_priority(entry.get("priority", "")),
                tuple(extensions),
            )
        )

    def finish(self) -> None:
        """Takes what the end of the data cut short, if that is a sitemap's address; listens no more.

        Half an entry of a page is left out: what was cut off may be what it says about the page.
        """
        if not self._done and self._result.kind == "index":
            self._flush()
        self._done = True
        self._result.broken = self._result.broken or (self._depth > 0 and not self._result.truncated)

    def close(self) -> None:
        """Part of lxml's protocol."""


def _split(tag: str) -> tuple[str, str]:
    """Namespace and local name; an undeclared prefix counts as a namespace of its own."""
    namespace, brace, name = tag.rpartition("}")
    if brace:
        return namespace[1:], name
    prefix, _, name = tag.rpartition(":")
    return prefix, name
