"""Stored pages to documents: what is indexed of a content, under all its URLs. Pure."""

import re
from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import unquote

import msgspec

from gregor.schemas.items import StoredItem
from gregor.schemas.messages import STILL_THERE, Page, Row
from gregor.search.query_text import facet
from gregor.search.terms import terms

MOST_TERMS: Final = 100_000
"""Terms of a text that are indexed."""
MOST_URLS: Final = 100
"""URLs of one content that are kept with it; all of them are counted."""
MOST_ANCHORS: Final = 200
"""Anchor texts that are indexed with a document, those that most hosts use first."""
MOST_ITEM_VALUES: Final = 500
"""Values of a page's items that are indexed."""
BUCKETS: Final = 16
"""Steps of ranks that an index tells apart: documents are written anew only when theirs is another."""
_THERE: Final = ("new", "changed", "unchanged")
HIDDEN: Final = frozenset({"noindex", "none"})
"""What a page says that is not to be found."""
_SHORT_TYPES: Final = {
    "application/xhtml+xml": ("html", "xhtml"),
    "text/plain": ("text", "txt"),
    "text/markdown": ("md",),
    "application/msword": ("doc",),
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ("docx", "doc"),
}


class Anchor(msgspec.Struct, frozen=True):
    """What links of a host that lead to a document say."""

    text: str
    host: str


class ContentUrl(msgspec.Struct, frozen=True):
    """A URL that a content is under."""

    key: str
    visit: int  # the version of its page
    duplicate: bool  # whether the crawl stored it as one of another URL's page
    depth: int

    @classmethod
    def of(cls, page: Page) -> "ContentUrl":
        """That of a page."""
        return cls(page.key, page.visit, page.state != "fetched", page.depth)


class Noted(msgspec.Struct, frozen=True):
    """What is remembered of a content: the URLs that it is under, in no order, and its rank, from 0 to 1."""

    members: list[ContentUrl]
    rank: float


class IndexedDocument(msgspec.Struct, frozen=True):
    """One content. ``id`` names it; ``keys``: its URLs with the visits that stored them, first its own."""

    id: str
    keys: tuple[tuple[str, int], ...]
    href: str  # what is requested of the first
    host: str
    title: str
    text: str
    headings: tuple[str, ...] = ()
    items: tuple[str, ...] = ()  # names of its items, and "field=value" of their fields, lower case
    anchors: tuple[Anchor, ...] = ()
    language: str = ""  # lower case, "" when the page says none
    content_type: str = ""
    at: float = 0.0  # when the first was fetched, unix seconds
    size: int = 0  # bytes of the body
    depth: int = 0  # links from a seed
    label: str = ""  # of the seed
    near: str = ""  # the key of a page with nearly the same text; "": none
    rank: float = 0.0  # from 0 to 1, as the last ranking has it

    @property
    def key(self) -> str:
        """The URL that it is shown by."""
        return self.keys[0][0]

    @property
    def visit(self) -> int:
        """The version of the first URL's page that was indexed."""
        return self.keys[0][1]


def is_found(page: Page | None, row: Row | None) -> bool:
    """Whether a page belongs in the index: it is kept, was there at its last visit, and does not ask to be left out.

    A requisite is none, until a link makes a page of it, which its row alone says.

    One whose next visit failed for now stays until the URL is given up.
    """
    if page is None or HIDDEN.intersection(page.directives):
        return False
    if page.requisite if row is None else row.requisite:
        return False
    return row is None or row.state in STILL_THERE


def quotable(page: Page | None) -> str:
    """The text of a page as far as parts of it may be shown."""
    return "" if page is None or "nosnippet" in page.directives else page.text


def content_of(page: Page) -> str:
    """The name of a page's content, which its duplicates share."""
    return page.fingerprint.hex() or page.key


def in_order(members: Iterable[ContentUrl]) -> list[ContentUrl]:
    """The URLs of a content, the one that it is shown by first: no duplicate if there is one, the nearest to a seed."""
    return sorted(members, key=lambda one: (one.duplicate, one.depth, len(one.key), one.key))


def document(
    shown: Page, members: Iterable[ContentUrl], anchors: Iterable[Anchor] = (), rank: float = 0.0
) -> IndexedDocument:
    """The document of a content that is under all these URLs, ``shown`` being the page of the first of them."""
    ordered = in_order(members)
    return IndexedDocument(
        id=content_of(shown),
        keys=tuple((member.key, member.visit) for member in ordered[:MOST_URLS]),
        href=shown.href,
        host=shown.host,
        title=shown.title or "",
        text=shown.text,
        headings=shown.headings,
        items=tuple(item_values(shown.items)),
        anchors=tuple(anchors),
        language=shown.language.lower().replace("_", "-")[:35],
        content_type=shown.content_type[:100],
        at=shown.fetched_at,
        size=shown.size,
        depth=min(member.depth for member in ordered),
        label=shown.label,
        near=shown.near_duplicate_of,
        rank=rank,
    )


def item_values(items: Iterable[StoredItem]) -> list[str]:
    """What items are called, and their fields that are one value or a list of such, as filters ask for them."""
    values: dict[str, None] = {}
    for item in items:
        if item.change in _THERE:
            values[facet(item.item)] = None
            for name, value in msgspec.json.decode(item.fields, type=dict[str, Any]).items():
                for part in value if isinstance(value, list) else [value]:
                    if isinstance(part, str | int | float):
                        values[facet(f"{name}={part}")] = None
    return list(values)[:MOST_ITEM_VALUES]


def anchor_terms(anchors: Iterable[Anchor]) -> list[str]:
    """The terms of the anchor texts, each text once; those that more hosts use come first."""
    hosts: dict[str, set[str]] = {}
    for anchor in anchors:
        hosts.setdefault(anchor.text, set()).add(anchor.host)
    ordered = sorted(hosts, key=lambda text: (-len(hosts[text]), text))
    seen: dict[tuple[str, ...], None] = {}
    for text in ordered[:MOST_ANCHORS]:
        seen[tuple(terms(text))] = None
    return [term for words in seen for term in words]


def url_terms(keys: Iterable[str]) -> list[str]:
    """The words of addresses, each once: of host and path as people read them, and of the query."""
    words: dict[str, None] = {}
    for key in keys:
        words |= dict.fromkeys(terms(unquote(key.partition("://")[2])))
    return list(words)


def sites(host: str) -> list[str]:
    """A host's name without its port, and every domain above it."""
    name = re.sub(r":[0-9]+$", "", host)
    if name.startswith("[") or re.fullmatch(r"[0-9.]+", name):
        return [name]
    labels = name.split(".")
    return [".".join(labels[number:]) for number in range(len(labels))]


def languages(language: str) -> list[str]:
    """A language tag and what it is a kind of: de-at is de too."""
    parts = language.split("-")
    return ["-".join(parts[:count]) for count in range(1, len(parts) + 1)] if language else []


def types(content_type: str) -> list[str]:
    """A media type and the short names that people use for it."""
    if not content_type:
        return []
    return list(dict.fromkeys((content_type, content_type.rpartition("/")[2], *_SHORT_TYPES.get(content_type, ()))))
