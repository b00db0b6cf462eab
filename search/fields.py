"""What is indexed of a document, field by field, and what its words count: the same for every engine. Pure."""

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from gregor.search.borders import Hit
from gregor.search.documents import (
    MOST_TERMS,
    MOST_URLS,
    IndexedDocument,
    anchor_terms,
    languages,
    sites,
    types,
    url_terms,
)
from gregor.search.query import ParsedQuery, Phrase
from gregor.search.terms import joined

TEXTS: Final = ("title", "headings", "text", "anchors", "url")
"""Fields of terms."""
QUICK: Final = ("title", "anchors")
"""Those that are short, and looked through in a small part of the time."""
EXACT: Final = ("host", "site", "language", "type", "label", "item")
"""Fields of values that are met or not."""
COUNTED: Final = frozenset(EXACT) - {"site"}
"""Those whose values are counted in what a query finds."""
SPOKEN: Final = {
    "title": "title",
    "headings": "headings",
    "text": "text",
    "anchors": "words of links to it",
    "url": "address",
}
"""The fields, for people."""
MAY_LACK: Final = 4
"""One in so many words of a query may be missing in what is found."""
RANK_WORTH: Final = 0.25
"""By so much of its score the best ranked document is put up; one that is not ranked stays as it is."""
LONGEST_PHRASE: Final = 6
"""Words of a query that are looked for together in texts: more of them are a title, and seldom stand in a text."""


class Weights(msgspec.Struct, frozen=True):
    """What a term counts in each field, and what it is worth that words stand together."""

    title: float = 3.0
    headings: float = 1.3
    text: float = 1.0
    anchors: float = 1.5
    url: float = 0.7
    title_phrase: float = 2.0
    text_phrase: float = 1.0
    tie: float = 0.4
    """What a field counts that is not the one where the term is worth most."""


def shown(document: IndexedDocument) -> Hit:
    """What is kept with a document to show it by, with a score of 0."""
    return Hit(
        id=document.id,
        key=document.key,
        visit=document.visit,
        keys=tuple(key for key, _ in document.keys[:MOST_URLS]),
        href=document.href,
        host=document.host,
        title=document.title,
        language=document.language,
        content_type=document.content_type,
        at=document.at,
        size=document.size,
        score=0.0,
        depth=document.depth,
        label=document.label,
        near=document.near,
        rank=document.rank,
    )


def fields(document: IndexedDocument) -> dict[str, Any]:
    """The values of all fields: texts as terms joined by spaces, exact ones as they are, ``at`` in unix seconds."""
    return {
        "host": document.host,
        "site": sites(document.host),
        "language": languages(document.language),
        "type": types(document.content_type),
        "label": document.label.lower(),
        "item": [*document.items],
        "title": joined(document.title),
        "headings": joined("\n".join(document.headings)),
        "text": _bounded(joined(document.text)),
        "anchors": " ".join(anchor_terms(document.anchors)),
        "url": " ".join(url_terms(key for key, _ in document.keys[:MOST_URLS])),
        "at": document.at,
    }


def _bounded(text: str) -> str:
    """Joined terms, as many as are indexed."""
    return text if len(text) < 2 * MOST_TERMS else " ".join(text.split(None, MOST_TERMS)[:MOST_TERMS])


def boost(rank: float) -> float:
    """By what a document's score is multiplied for its rank."""
    return 1.0 + RANK_WORTH * rank


def phrase_worth(words: Phrase, weights: Weights, texts: Sequence[str] = TEXTS) -> dict[str, float]:
    """What it is worth, by field, that the words of a query stand next to each other."""
    if len(words) < 2:
        return {}
    worth = {"title": weights.title_phrase, "text": weights.text_phrase}
    if len(words) > LONGEST_PHRASE or "text" not in texts:
        del worth["text"]
    return worth


def least(asked: ParsedQuery) -> int:
    """How many of a query's words have to be there."""
    return asked.least or len(asked.words) - len(asked.words) // MAY_LACK
