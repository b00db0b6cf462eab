"""Which words tell what a page is about, by which pages like it are found. Pure."""

from collections import Counter
from collections.abc import Callable
from math import log
from typing import Final

from gregor.search.query import ParsedQuery
from gregor.search.terms import terms

WORDS: Final = 20
"""Words that are looked for."""
_READ: Final = 20_000
"""Characters of a text that are read."""
_TITLE: Final = 3
"""A word of the title counts as so many of the text."""
_ALL_BUT: Final = 4
"""One in so many of the words has to be there."""
_SHORTEST: Final = 2


def about(title: str, text: str, frequency: Callable[[str], int], documents: int) -> ParsedQuery:
    """The query that finds pages like this one, among so many documents; an empty one where no word tells it apart.

    A word tells the more, the oftener it is here and the fewer other documents have it; one that no other has, nothing.
    """
    counts = Counter(terms(text[:_READ]))
    for term in terms(title):
        counts[term] += _TITLE
    worth: dict[str, float] = {}
    for term, count in counts.items():
        others = frequency(term) if len(term) >= _SHORTEST and not term.isdecimal() else 0
        if 1 < others <= documents // 2:
            worth[term] = (1 + log(count)) * log(documents / others)
    words = tuple(sorted(worth, key=lambda term: (-worth[term], term))[:WORDS])
    return ParsedQuery(words=words, said=" ".join(words), least=max(1, len(words) // _ALL_BUT))
