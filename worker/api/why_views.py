"""Why a document is where it is, as programs get it: what its score is made of, and what became of its URL."""

import msgspec

from gregor.search.borders import ScorePart
from gregor.worker.inspect.explain import Explanation


class WorthView(msgspec.Struct, frozen=True):
    """A part of a document's score: what it is for, for people, and by which words."""

    what: str
    words: str
    score: float


class Why(msgspec.Struct, frozen=True):
    """What a document's place for a query is made of; together the parts are the score. ``crawled``: what became of its
    URL in the crawl, as `gregor explain` says it; null where that cannot be read now."""

    url: str
    score: float
    parts: list[WorthView]
    crawled: Explanation | None

    @classmethod
    def of(cls, url: str, reasons: list[ScorePart], crawled: Explanation | None) -> "Why":
        """That of a document."""
        parts = [WorthView(reason.what, reason.words, reason.score) for reason in reasons]
        return cls(url, sum(part.score for part in parts), parts, crawled)
