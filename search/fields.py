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
from gregor.search.words import endings

TEXTS: Final = ("title", "headings", "text", "anchors", "url")
"""Fields of terms."""
QUICK: Final = ("title", "anchors")
"""Those that are short, and looked through in a small part of the time."""
EXACT: Final = ("host", "site", "language", "type", "label", "item")
"""Fields of values that are met or not."""
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


MOST_NEAR_WORDS: Final = 3
"""Words of a query that are looked for near each other in texts, in their order."""
NEAR: Final = 8
"""So many places between them at most."""


class Weights(msgspec.Struct, frozen=True):
    """What a term counts in each field, all of which are added up, and what it is worth that words stand together."""

    title: float = 3.0
    headings: float = 0.8
    text: float = 1.0
    anchors: float = 1.3
    url: float = 0.4
    title_phrase: float = 2.0
    text_phrase: float = 1.0
    text_near: float = 0.5


class Together(msgspec.Struct, frozen=True):
    """Words of a query that stand next to each other in a field, or no more than so many places from there."""

    field: str
    worth: float
    apart: int = 0

    @property
    def spoken(self) -> str:
        """That, for people."""
        return f"words {'near each other' if self.apart else 'together'} in the {SPOKEN[self.field]}"


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
        "title": _with_endings(joined(document.title)),
        "headings": _with_endings(joined("\n".join(document.headings))),
        "text": _with_endings(_bounded(joined(document.text))),
        "anchors": _with_endings(" ".join(anchor_terms(document.anchors))),
        "url": _with_endings(" ".join(url_terms(key for key, _ in document.keys[:MOST_URLS]))),
        "at": document.at,
    }


def _bounded(text: str) -> str:
    """Joined terms, as many as are indexed."""
    return text if len(text) < 2 * MOST_TERMS else " ".join(text.split(None, MOST_TERMS)[:MOST_TERMS])


def _with_endings(text: str) -> str:
    return text + endings(text)


def boost(rank: float) -> float:
    """By what a document's score is multiplied for its rank."""
    return 1.0 + RANK_WORTH * rank


def places_together(words: Phrase, weights: Weights, texts: Sequence[str] = TEXTS) -> list[Together]:
    """What it is worth that the words of a query stand together."""
    if len(words) < 2:
        return []
    places = [Together("title", weights.title_phrase)]
    if "text" in texts and len(words) <= LONGEST_PHRASE:
        places.append(Together("text", weights.text_phrase))
    if "text" in texts and len(words) <= MOST_NEAR_WORDS:
        places.append(Together("text", weights.text_near, NEAR))
    return places


def least(asked: ParsedQuery) -> int:
    """How many of a query's words have to be there."""
    return asked.least or len(asked.words) - len(asked.words) // MAY_LACK
