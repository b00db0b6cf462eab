"""What is shown of a hit: the place of its stored text that says most about the query, its words marked. Pure.

A snippet is text and marks, never HTML: whoever shows it escapes it. Signs that change the direction of writing are
taken out, so that a page cannot turn what stands around its snippet; nothing is cut inside a character and its marks.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator
from functools import lru_cache
from typing import Final

import msgspec

from gregor.search.places import Place, places
from gregor.search.terms import LONGEST, MARKS, terms
from gregor.search.words import is_lone

WIDTH: Final = 240
"""Characters of a snippet, about."""
_READ: Final = 100_000
"""Characters of a text that are looked through."""
_REMEMBERED: Final = 20_000
"""Runs of letters whose terms are remembered."""
_LONGEST_WORD: Final = 64
"""Where a stretch ends no word is cut that is not longer."""

_HIDDEN: Final = re.compile(
    "[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]+"
)
"""Control signs, those of direction among them, and what is no character."""
_VISIBLE: Final = re.compile(rf"[^\s{_HIDDEN.pattern[1:-2]}]")
_FAR: Final = (
    "\U00010a01-\U00010a0f\U00011000-\U00011fff\U00016af0-\U00016b36\U0001e000-\U0001e2ff\U000e0100-\U000e01ef"
)
_RUN: Final = re.compile(rf"[^\W_](?:[^\W_]++|[\u00ad\u200c\u200d{MARKS}{_FAR}]++)*+")
"""Letters and digits with their marks; blocks of scripts beyond the first plane as a whole."""
_SENTENCE_END: Final = re.compile(r"[.!?…؟۔।]+[\"'”’)\]»]*\s+|[。！？]+[」』）]*")


class Piece(msgspec.Struct, frozen=True):
    """A part of a snippet; ``marked``: it is what was asked for."""

    text: str
    marked: bool = False


def plain(text: str) -> str:
    """A text of strangers without signs that do something: each run of them is a space."""
    return _HIDDEN.sub(" ", text)


def snippet(text: str, wanted: Collection[str], width: int = WIDTH) -> tuple[Piece, ...]:
    """The place with most of the wanted terms, or the beginning where none is; () for a text with nothing in it.

    ``…`` stands where something was cut off. The pieces together are at most some characters longer than ``width``.
    """
    read, asked = text[:_READ], frozenset(wanted)
    first, last = _near(read, asked, width)
    close = " ".join(plain(read[first:last]).split())
    if not close:
        return ()
    hits = list(_hits(close, asked))
    start, end = _window(close, hits, width)
    inside = [hit for hit in hits if start <= hit[0] and hit[1] <= end]
    pieces = list(_marked(close, start, end, inside))
    if start > 0 or _VISIBLE.search(read, 0, first):
        pieces.insert(0, Piece("… "))
    if end < len(close) or _VISIBLE.search(text, last):
        pieces.append(Piece(" …"))
    return tuple(pieces)


def _near(text: str, wanted: frozenset[str], width: int) -> tuple[int, int]:
    """From where to where it is looked at closely: around the place with most different terms, of equal ones the first
    with most of them; the beginning where none is."""
    if where := places(text, wanted, width) if wanted else []:
        start, end = _densest(where, width)
        first, _ = _between_words(text, max(0, end - width - _LONGEST_WORD), 0)
    else:
        visible = _VISIBLE.search(text)
        first = start = end = visible.start() if visible is not None else len(text)
    _, last = _between_words(text, 0, max(end, start + width) + _LONGEST_WORD)
    return min(first, start), last


def _between_words(text: str, start: int, end: int) -> tuple[int, int]:
    """A stretch that begins and ends at a space where one is near, else at least between characters."""
    if start:
        space = text.rfind(" ", max(0, start - _LONGEST_WORD), start)
        start = space + 1 if space >= 0 else start + _with_marks(text[start : start + _LONGEST_WORD], 0)
    if end < len(text):
        space = text.find(" ", end, end + _LONGEST_WORD)
        end = space if space >= 0 else end + _with_marks(text[end : end + _LONGEST_WORD], 0)
    return start, min(end, len(text))


def _hits(text: str, wanted: frozenset[str]) -> Iterator[Place]:
    """Where a wanted term stands."""
    lone = sorted(filter(is_lone, wanted), key=len, reverse=True)
    alone = re.compile("|".join(map(re.escape, lone))) if lone else None
    for match in _RUN.finditer(text) if wanted else ():
        word = match[0]
        if word.isascii():
            if (term := word.lower()[:LONGEST]) in wanted:
                yield *match.span(), term
            continue
        run_terms = _terms_of(word)
        singles = [] if alone is None else [unit.span() for unit in alone.finditer(text, *match.span())]
        if not singles and wanted.isdisjoint(run_terms):
            continue
        if len(run_terms) == 1:
            yield *match.span(), run_terms[0]
            continue
        last = 0
        for start, end in sorted([*singles, *_parts(text, match.span(), wanted)]):
            if end > last:
                yield max(start, last), end, text[max(start, last) : end].casefold()
                last = end


@lru_cache(_REMEMBERED)
def _terms_of(word: str) -> tuple[str, ...]:
    """The terms of a run of letters: most are met again and again, in this snippet or the next."""
    return tuple(terms(word))


def _is_mark(sign: str) -> bool:
    return sign > "\u02ff" and unicodedata.category(sign) in ("Mn", "Mc")


def _with_marks(text: str, end: int) -> int:
    while end < len(text) and _is_mark(text[end]):
        end += 1
    return end


def _parts(text: str, run: tuple[int, int], wanted: frozenset[str]) -> Iterator[tuple[int, int]]:
    """Where in a run that has several terms the wanted ones are: pairs of characters that follow each other are one."""
    units = [run[0], *(at for at in range(run[0] + 1, run[1]) if not _is_mark(text[at])), run[1]]
    open_start = open_end = -1
    for first, last in zip(units, units[2:], strict=False):
        if wanted.isdisjoint(terms(text[first:last])):
            continue
        if first > open_end:
            if open_end >= 0:
                yield open_start, open_end
            open_start = first
        open_end = last
    if open_end >= 0:
        yield open_start, open_end


def _window(text: str, hits: list[Place], width: int) -> tuple[int, int]:
    """From where to where it is shown."""
    if len(text) <= width:
        return 0, len(text)
    first, last = _densest(hits, width) if hits else (0, 0)
    start = _sentence_start(text, first, max(0, last - width))
    end = _end(text, start + width)
    return start, _with_marks(text, last) if end < last <= start + width + _LONGEST_WORD // 2 else end


def _densest(hits: list[Place], width: int) -> tuple[int, int]:
    """The stretch no longer than the width with most different terms; of equal ones that with most hits, the first."""
    inside: Counter[str] = Counter()
    best, place, left = (0, 0), hits[0][:2], 0
    for right, (_, end, term) in enumerate(hits):
        inside[term] += 1
        while end - hits[left][0] > width and left < right:
            gone = hits[left][2]
            inside[gone] -= 1
            if not inside[gone]:
                del inside[gone]
            left += 1
        worth = (len(inside), right - left)
        if worth > best:
            best, place = worth, (hits[left][0], end)
    return place


def _sentence_start(text: str, at: int, earliest: int) -> int:
    """Where the sentence of a place begins, if that is not too far before it; else a word near by."""
    if at == 0 or (earliest == 0 and at < 40):
        return 0
    begins = [match.end() for match in _SENTENCE_END.finditer(text, earliest, at)]
    if begins:
        return begins[-1]
    if earliest == 0:
        return 0
    near = text.find(" ", max(earliest, at - 40), at)
    return near + 1 if near >= 0 else at


def _end(text: str, at: int) -> int:
    """The end of a sentence or a word near a place."""
    if at >= len(text):
        return len(text)
    ends = [match.end() for match in _SENTENCE_END.finditer(text, at - 60, at)]
    if ends:
        return len(text[: ends[-1]].rstrip())
    space = text.rfind(" ", at - 30, at)
    return space if space > 0 else _with_marks(text, at)


def _marked(text: str, start: int, end: int, hits: list[Place]) -> Iterator[Piece]:
    at = start
    for first, last, _ in hits:
        if first > at:
            yield Piece(text[at:first])
        yield Piece(text[first:last], marked=True)
        at = last
    if at < end:
        yield Piece(text[at:end])
