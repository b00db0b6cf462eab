"""What a search answers: as HTML that needs no script, as JSON, as RSS with OpenSearch elements. Pure.

All that pages of strangers say is text: escaped, without control signs, in an element of its own direction.
"""

from datetime import UTC, datetime
from email.utils import format_datetime
from functools import lru_cache
from html import escape
from typing import Final
from urllib.parse import quote

import msgspec

from gregor.search.results import PER_PAGE, Shown
from gregor.search.snippets import Piece, plain
from gregor.worker.api import search_frame as frame
from gregor.worker.api.narrowing import FacetView, ValueView, narrowed

LONGEST_TITLE: Final = 200
"""Characters of a title that are shown."""
_REMEMBERED: Final = 4096
"""Words of links that are remembered as they stand there."""
_LONG: Final = 200
"""Characters of one that is not."""
_ATOM: Final = 'xmlns:atom="http://www.w3.org/2005/Atom" xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/"'


class HitView(msgspec.Struct, frozen=True):
    """A hit as programs get it. ``at``: when it was fetched, unix seconds; ``urls``: all that the document is under."""

    id: str
    url: str
    title: str
    host: str
    language: str
    content_type: str
    at: float
    score: float
    rank: float
    urls: list[str]
    snippet: list[Piece]
    depth: int = 0
    label: str = ""
    more_of_host: int = 0
    nearly_the_same: int = 0


class Like(msgspec.Struct, frozen=True):
    """The document that others are like."""

    id: str
    title: str
    url: str


class SearchResults(msgspec.Struct, frozen=True):
    """What a query finds. ``total``: all documents; ``position``: of the index, to be given back for the next page.

    ``partial``: there was no time for all, so that more may be found; ``suggestion``: a query that may have been meant;
    ``facets``: by what it can be narrowed, counted over all documents.
    """

    query: str
    understood: str
    hints: list[str]
    any_word: bool
    total: int
    page: int
    more: bool
    position: int
    hits: list[HitView]
    partial: bool = False
    suggestion: str = ""
    order: str = "best"
    like: Like | None = None
    facets: list[FacetView] = msgspec.field(default_factory=list)


def hit_view(entry: Shown, pieces: tuple[Piece, ...]) -> HitView:
    """A document as it is shown, with its snippet."""
    hit = entry.hit
    return HitView(
        id=hit.id,
        url=hit.href,
        title=hit.title,
        host=hit.host,
        language=hit.language,
        content_type=hit.content_type,
        at=hit.at,
        score=hit.score,
        rank=hit.rank,
        urls=list(hit.keys),
        snippet=list(pieces),
        depth=hit.depth,
        label=hit.label,
        more_of_host=entry.of_host,
        nearly_the_same=entry.alike,
    )


def date(at: float) -> str:
    """The day, in UTC."""
    return datetime.fromtimestamp(at, UTC).date().isoformat() if 0 < at < 2e11 else ""


def link(path: str, **query: object) -> str:
    """A relative URL, escaped for an attribute; what is empty or None is left out. ``path`` and names need none."""
    given = [f"{name}={_quoted(str(value))}" for name, value in query.items() if value not in ("", None, False)]
    return f"{path}?{'&amp;'.join(given)}" if given else path


def _quoted(text: str) -> str:
    """A value in a query: words of the one that was typed are in every link of a page."""
    return "+".join([_quoted_word(word) if len(word) < _LONG else quote(word, safe="") for word in text.split(" ")])


@lru_cache(_REMEMBERED)
def _quoted_word(word: str) -> str:
    return quote(word, safe="")


def results(listing: SearchResults, *, everything: bool) -> str:
    """The page of results, or the empty form."""
    asked, like = listing.query.strip(), listing.like
    if like is not None:
        heading = f"Pages like {escape(title_of(like.title, like.url))}"
    else:
        heading = escape(f"Search: {plain(asked)[:LONGEST_TITLE]}" if asked else "Search")
    body = "".join(f'<p class="note">{note}</p>' for note in _notes(listing)) if asked or like else ""
    if asked or like:
        body += _listed(listing, everything)
    feed = (
        f'<link rel="alternate" type="application/rss+xml" title="RSS" href="{link("search.rss", q=asked)}">'
        if asked and like is None
        else ""
    )
    return frame.document(heading, body, query=listing.query, head=feed, focus=not asked and like is None)


def _listed(listing: SearchResults, everything: bool) -> str:
    """How many were found, the hits of this page, and by what to narrow them."""
    count = f"{listing.total} document{'' if listing.total == 1 else 's'}"
    to_narrow = '<span class="to-narrow"> · <a href="#narrow">Narrow</a></span>' if listing.facets else ""
    start = (listing.page - 1) * PER_PAGE + 1
    hits = "".join(_hit(listing, hit) for hit in listing.hits)
    listed = f'<ol class="hits" start="{start}">{hits}</ol>' if hits else ""
    return (
        f'<p class="quiet"><span role="status">{count}</span>{to_narrow}</p>'
        f'<div class="columns"><div>{listed}{_pages(listing, everything)}</div>{_narrow(listing, everything)}</div>'
    )


def _narrow(listing: SearchResults, everything: bool) -> str:
    if not listing.facets:
        return ""
    parts = "".join(
        f"<h3>{escape(_facet_title(facet))}</h3>"
        f"<ul>{''.join(_value(listing, value, everything) for value in facet.values)}</ul>"
        for facet in listing.facets
    )
    return f'<section class="narrow" aria-labelledby="narrow"><h2 id="narrow">Narrow</h2>{parts}</section>'


def _facet_title(facet: FacetView) -> str:
    return plain(facet.field) or {"host": "Host", "lang": "Language", "type": "Type", "label": "Label"}.get(
        facet.name, "Items"
    )


def _value(listing: SearchResults, value: ValueView, everything: bool) -> str:
    order = "" if listing.order == "best" else listing.order
    to = link(".", q=value.query, order=order, all=1 if everything else None)
    said = f"<bdi>{escape(plain(value.value))}</bdi>"
    count = "" if value.count is None else f' <span class="quiet">{value.count}</span>'
    if value.chosen:
        return f'<li><a href="{to}" aria-label="Without {escape(plain(value.value))}">✕ {said}</a>{count}</li>'
    return f'<li><a href="{to}">{said}</a>{count}</li>'


def _notes(listing: SearchResults) -> list[str]:
    """What is to be said of the query and its answer, as HTML."""
    notes = [escape(hint) for hint in listing.hints]
    if notes:
        notes.append(f"Looked for: <bdi>{escape(plain(listing.understood)) or 'nothing'}</bdi>")
    if listing.suggestion:
        better = f'<a href="{link(".", q=listing.suggestion)}"><bdi>{escape(listing.suggestion)}</bdi></a>'
        notes.append(f"Did you mean {better}?")
    if listing.partial:
        notes.append("To look through all would have taken too long: these are what was found so far.")
    if listing.any_word and listing.hits:
        notes.append("No document has all of these words: these have some of them.")
    return notes


def title_of(title: str, url: str) -> str:
    """What a document is called."""
    return plain(title)[:LONGEST_TITLE] or url


def _hit(listing: SearchResults, hit: HitView) -> str:
    title = escape(title_of(hit.title, hit.url))
    facts = [date(hit.at), hit.language, *([f"{len(hit.urls)} addresses"] if len(hit.urls) > 1 else [])]
    if hit.nearly_the_same:
        facts.append(f"{hit.nearly_the_same} more say nearly the same")
    links = f'<a href="{link("text", id=hit.id, q=listing.query)}">Stored text<span class="skip"> of {title}</span></a>'
    links += f' · <a href="{link("why", id=hit.id, q=listing.query)}">Why here<span class="skip">: {title}</span></a>'
    likes = link(".", like=hit.id)
    links += f' · <a href="{likes}">Pages like this<span class="skip">: {title}</span></a>'
    if hit.more_of_host:
        of_host = link(".", q=narrowed(listing.query, f"host:{hit.host}"))
        links += f' · <a href="{of_host}">{hit.more_of_host} more of {escape(hit.host)}</a>'
    return (
        f'<li><h2 dir="auto"><a href="{escape(hit.url)}" rel="noreferrer nofollow">{title}</a></h2>'
        f'<p class="url"><bdi>{escape(hit.url)}</bdi></p><p dir="auto">{_snippet(hit.snippet)}</p>'
        f'<p class="quiet">{escape(" · ".join(filter(None, facts)))} · {links}</p></li>'
    )


def _snippet(pieces: list[Piece]) -> str:
    return "".join(f"<mark>{escape(part.text)}</mark>" if part.marked else escape(part.text) for part in pieces)


def _pages(listing: SearchResults, everything: bool) -> str:
    every, like = 1 if everything else None, listing.like.id if listing.like else None
    order = "" if listing.order == "best" else listing.order
    asked = {"q": listing.query, "like": like}
    entries = []
    if listing.page > 1:
        back = link(".", **asked, page=listing.page - 1, all=every, order=order, at=listing.position)
        entries.append(f'<a rel="prev" href="{back}">Previous</a>')
    entries.append(f'<span aria-current="page">Page {listing.page}</span>')
    if listing.more:
        on = link(".", **asked, page=listing.page + 1, all=every, order=order, at=listing.position)
        entries.append(f'<a rel="next" href="{on}">Next</a>')
    if not everything and not listing.more and listing.total > len(listing.hits) + (listing.page - 1) * PER_PAGE:
        entries.append(f'<a href="{link(".", **asked, order=order, all=1)}">All of every host</a>')
    if listing.hits:
        other, words = ("", "Best first") if order else ("newest", "Newest first")
        entries.append(f'<a href="{link(".", **asked, order=other, all=every)}">{words}</a>')
    if listing.page == 1 and not listing.hits and len(entries) == 1:
        return ""
    return f'<nav aria-label="Pages of results"><ul>{"".join(f"<li>{entry}</li>" for entry in entries)}</ul></nav>'


def rss(listing: SearchResults, base: str) -> str:
    """RSS 2.0 with the elements of OpenSearch 1.1; ``base``: where the search page is."""
    items = "".join(
        f"<item><title>{_xml(hit.title or hit.url)}</title><link>{_xml(hit.url)}</link>"
        f'<guid isPermaLink="false">{_xml(hit.id)}</guid>'
        f"<pubDate>{format_datetime(datetime.fromtimestamp(hit.at, UTC))}</pubDate>"
        f"<description>{_xml(escape(''.join(part.text for part in hit.snippet)))}</description></item>"
        for hit in listing.hits
    )
    return (
        f'<?xml version="1.0" encoding="UTF-8"?><rss version="2.0" {_ATOM}><channel>'
        f"<title>{_xml(listing.query)}</title>"
        f"<link>{_xml(base)}</link><description>Documents of a crawl</description>"
        f"<opensearch:totalResults>{listing.total}</opensearch:totalResults>"
        f"<opensearch:startIndex>{(listing.page - 1) * PER_PAGE + 1}</opensearch:startIndex>"
        f"<opensearch:itemsPerPage>{PER_PAGE}</opensearch:itemsPerPage>{items}</channel></rss>"
    )


def description(base: str) -> str:
    """The OpenSearch description document, by which a browser adds the search."""
    urls = (("text/html", ""), ("application/rss+xml", "search.rss"), ("application/json", "search.json"))
    entries = "".join(
        f'<Url type="{kind}" template="{_xml(f"{base}{path}?q={{searchTerms}}")}"/>' for kind, path in urls
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?><OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">'
        "<ShortName>Gregor</ShortName><Description>Search what was crawled</Description><InputEncoding>UTF-8"
        f"</InputEncoding>{entries}</OpenSearchDescription>"
    )


def _xml(text: str) -> str:
    return escape(plain(text))
