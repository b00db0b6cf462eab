"""Terms of an index in a folder that are spelled nearly like one. Few steps lead to them in its dictionaries.

Of one slip either the first letters are right, and then it is among the terms that begin with them, or the slip is in
these, and there are not many that it can be. Looked at are texts and titles: what other fields have is mostly there,
too, and addresses have what is no word.
"""

from collections.abc import Iterator
from typing import Final

from gregor.search.adapters.whole_searcher import WholeSearcher
from gregor.search.spelling import LONG, apart, edits, is_one_apart, may_be_meant

_FIELDS: Final = ("text", "title")
_RIGHT: Final = 3
"""Letters that are right, or have the slip, in a small index."""
_LARGER: Final = 100_000
"""Documents of an index in which many terms begin with as many letters: one more is taken."""
_MOST: Final = 2000
"""Terms that begin alike and are looked at, the commonest."""


def nearly_like(searcher: WholeSearcher, term: str) -> dict[str, int]:
    """Terms one slip from one, or two where none is and it is long, each with how many documents have it, about.

    Two slips are looked for behind the first letter, in titles alone.
    """
    if not may_be_meant(term):
        return {}
    right = min(_RIGHT + (searcher.num_docs >= _LARGER), len(term) - 1)
    counts = searcher.frequencies(_FIELDS, edits(term, right))
    for field in _FIELDS:
        for other, count in _with_most_letters_of(term, searcher.terms_with(field, term[:right], _MOST), 1):
            if is_one_apart(term, other):
                counts[other] = max(count, counts.get(other, 0))
    near = {other: count for other, count in counts.items() if count}
    if not near and len(term) >= LONG:
        begin = term[: 1 if searcher.num_docs < _LARGER else 3]
        titles = _with_most_letters_of(term, searcher.terms_with("title", begin, _MOST), 2)
        near = {other: count for other, count in titles if apart(term, other, 2) <= 2 and other != term}
    return near


def _with_most_letters_of(term: str, counted: list[tuple[str, int]], slips: int) -> Iterator[tuple[str, int]]:
    """Those that may be so many slips from a term: a cheap look before a closer one."""
    shortest, longest, letters = len(term) - slips, len(term) + slips, frozenset(term)
    for other, count in counted:
        if shortest <= len(other) <= longest and len(letters.difference(other)) <= slips:
            yield other, count
