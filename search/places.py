"""Where in a long text wanted terms stand, found by searches of the interpreter and tables of numpy alone: cheap, and
right for most. Pure.

Who shows a place looks at it closely: here it is only chosen.
"""

from collections.abc import Collection, Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Final

from gregor.search.terms import CUT, terms
from gregor.search.words import HAS_MARK, HAS_UNSPACED, WORD, term_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_MOST: Final = 30
"""Places of a term that are looked at, the first ones; and those near places of terms that have fewer."""
_HAN: Final = 0x20000
"""Where signs beyond the first plane begin that put no space between words."""
_LONGEST: Final = 64
"""Signs before and behind one that stands for none alone, as far as it makes a word with them."""
_ODD: Final = "\uffff"
"""What is put for a sign that is not one sign in a term: a mark that is left out, a ligature, the sharp s."""
_COMPOSING: Final = frozenset(
    ("\u3099", "\u309a", "\uff9e", "\uff9f", *map(chr, range(0x1161, 0x1176)), *map(chr, range(0x11A8, 0x11C3)))
)
"""Signs of scripts without spaces that become one with what stands before them."""


Place = tuple[int, int, str]
"""From where to where a term stands, and the term."""


def places(text: str, wanted: Collection[str], width: int) -> list[Place]:
    """Places of wanted terms, in their order: of each the first ones, and near those of terms that are rarer."""
    looked_in = alike(text)
    where = {term: _places_of(looked_in, term) for term in wanted}
    if missing := [term for term, places_of_it in where.items() if not places_of_it]:
        where |= _odd_places(text, looked_in, missing)
    often = {term for term, places_of_it in where.items() if len(places_of_it) >= _MOST}
    rare = sorted(start for term in where.keys() - often for start, _, _ in where[term])
    for term in often if rare else ():
        behind = where[term][-1][0]
        where[term] += _near_by(looked_in, term, (start for start in rare if start > behind), width)
    return sorted(place for places_of_it in where.values() for place in places_of_it)


def alike(text: str) -> str:
    """A text with what stands for each of its signs in a term, as far as that is one sign, at the place of the sign.

    Spaces are for signs that are in no term, and at both ends: there they are added.
    """
    if text.isascii():
        return f" {text.encode().translate(CUT).decode()} "
    import numpy as np

    table = _table()
    codes = np.frombuffer(text.encode("utf-16-le", "surrogatepass"), "<u2")
    if len(codes) == len(text):
        return f" {str(table[codes].tobytes(), 'utf-16-le', 'surrogatepass')} "
    far = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
    stands_for = np.where(far < _HAN, table[np.minimum(far, len(table) - 1)], far)
    return f" {str(stands_for.astype('<u4').tobytes(), 'utf-32-le', 'surrogatepass')} "


@cache
def _table() -> "npt.NDArray[np.uint16]":
    """What stands for each sign of the first plane; the last one, which is none, is for letters beyond it."""
    import numpy as np

    return np.fromiter((*(ord(_alike(chr(code))) for code in range(ord(_ODD))), ord(_ODD)), "<u2", 1 << 16)


def _alike(sign: str) -> str:
    if HAS_MARK.match(sign) is None and not sign.isalnum() and WORD.match(sign) is None:
        return " "
    term = term_of(sign)
    return term if len(term) == 1 and term < _ODD and sign not in _COMPOSING else _ODD


def _places_of(text: str, term: str) -> list[Place]:
    """Where a term stands: as a whole word, or anywhere in scripts that put no space between words."""
    before = 0 if HAS_UNSPACED.match(term) is not None else 1
    looked_for, length = f" {term} " if before else term, len(term)
    places_of_it: list[Place] = []
    at = text.find(looked_for)
    while at >= 0 and len(places_of_it) < _MOST:
        start = at + before - 1  # the text has a space in front
        places_of_it.append((start, start + length, term))
        at = text.find(looked_for, at + length + before)
    return places_of_it


def _near_by(text: str, term: str, places_of_others: Iterable[int], width: int) -> Iterator[Place]:
    """Where a term stands next behind places that are in their order, or before them, if that is near."""
    behind = 0
    for at in places_of_others:
        if at < behind:
            continue
        for start in (text.rfind(term, max(0, at - width), at), text.find(term, at, at + width)):
            if start >= 0:
                yield start - 1, start - 1 + len(term), term
        behind = at + width // 4


def _odd_places(text: str, looked_in: str, wanted: Collection[str]) -> dict[str, list[Place]]:
    """Where terms stand in words that have a sign which is not one sign in a term."""
    where: dict[str, list[Place]] = {term: [] for term in wanted}
    at = looked_in.find(_ODD)
    for _ in range(_MOST):
        if at < 0:
            break
        start = looked_in.rfind(" ", max(0, at - _LONGEST), at) + 1 or max(0, at - _LONGEST)
        end = looked_in.find(" ", at, at + _LONGEST)
        end = end if end >= 0 else at + _LONGEST
        for term in where.keys() & {*terms(text[max(0, start - 1) : end - 1])}:
            where[term].append((start - 1, end - 1, term))
        at = looked_in.find(_ODD, end)
    return where
