"""The border to what finds documents. Whoever implements it keeps what is said here: tests/search/test_index.py."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Final, Protocol

import msgspec

if TYPE_CHECKING:  # a crawl asks for ranks alone: terms and their tables take it long to load
    from gregor.search.documents import IndexedDocument
    from gregor.search.query import ParsedQuery

FARTHEST: Final = 10_000
"""The last hit of a query that is given to anybody: who wants more narrows the query."""


class Unusable(Exception):
    """An index cannot be used; the message says why and what to do."""


class IndexLost(Unusable):
    """What was written is not in the index any more: it has to be taken in once more, from the beginning."""


class TakenOver(Unusable):
    """Another process writes the index now."""


class NotAllowed(Unusable):
    """Who asks is refused for who they are, which may be set right while one waits."""


class Hit(msgspec.Struct, frozen=True):
    """A document that was found, without its text: that is in the crawl, under ``key`` and ``visit``."""

    id: str
    key: str
    visit: int
    keys: tuple[str, ...]  # all its URLs, ``key`` first
    href: str
    host: str
    title: str
    language: str
    content_type: str
    at: float  # when it was fetched, unix seconds
    size: int
    score: float
    near: str = ""  # the key of a page with nearly the same text; "": none
    rank: float = 0.0  # of the document, from 0 to 1
    depth: int = 0  # links from a seed
    label: str = ""  # of the seed


class ScorePart(msgspec.Struct, frozen=True):
    """A part of a document's score: what it is for, for people, and by which words."""

    what: str
    words: str
    score: float


class Answer(msgspec.Struct, frozen=True):
    """What was found: ``total`` documents in all, of which these are asked for, the best first."""

    hits: tuple[Hit, ...] = ()
    total: int = 0
    any_word: bool = False  # no document has all the words: these have some of them
    partial: bool = False  # all would have taken too long: these are what was found so far


class ValueCount(msgspec.Struct, frozen=True):
    """How many of the documents that were found have a value; ``query``: the filter that finds these among them."""

    value: str
    count: int
    query: str


class Facet(msgspec.Struct, frozen=True):
    """The commonest values of what was found, the commonest first. ``name``: the filter that they are of; ``field``:
    that of items, "" for their names and for what is no item."""

    name: str
    field: str
    values: tuple[ValueCount, ...]


class Index(Protocol):
    """Documents that can be searched. One writer at a time; whoever searches sees what was committed last."""

    def position(self) -> int:
        """How far the changes of the crawl were taken in, as the last commit says; 0 for none."""

    def put(self, documents: Sequence[IndexedDocument]) -> None:
        """Replace the documents of these names, or add them. Seen after `commit` alone, as all that is written."""

    def remove(self, names: Collection[str]) -> None:
        """Take documents out; one that is not there changes nothing."""

    def commit(self, position: int) -> None:
        """Make all that was written durable, and the position with it: either both hold after a crash, or neither.

        On servers some of what was written may hold without the position, never the other way round.
        """

    def count(self) -> int:
        """How many documents there are."""

    def documents(self) -> Iterator[Hit]:
        """Every document as it was committed last, with a score of 0, in no order; some at a time."""

    def search(self, asked: ParsedQuery, limit: int = 10, offset: int = 0, *, quick: bool = False) -> Answer:
        """What a query finds, the best first; nothing for one that is empty, nor behind the `FARTHEST`th hit.

        Until something is committed, the answers to one query are parts of one list. ``quick``: words are looked for in
        titles and links alone, which takes a small part of the time; such an answer is partial.
        """

    def facets(self, asked: ParsedQuery, *, any_word: bool = False) -> tuple[Facet, ...]:
        """What the documents that a query finds have in common, counted over all of them, about: see `facets`.

        ``any_word``: of those that have some of the words, as the answer said.
        """

    def frequency(self, term: str) -> int:
        """How many documents have a term in one of their texts, about."""

    def near(self, term: str) -> dict[str, int]:
        """Terms of documents that are there, spelled nearly like this one, each with how many have it, about.

        Some of the commonest; {} where there are none.
        """

    def document(self, name: str) -> Hit | None:
        """A document by its name, with a score of 0; None when there is none."""

    def why(self, asked: ParsedQuery, name: str) -> list[ScorePart]:
        """What a document's score for a query is made of; together they are the score. [] where it has none."""

    def close(self) -> None:
        """End. What was not committed is gone. Nothing else may be called afterwards, but this again."""
