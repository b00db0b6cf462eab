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

from gregor.search.terms import MARKS, terms

WIDTH: Final = 240
"""Characters of a snippet, about."""
_READ: Final = 100_000
"""Characters of a text that are looked through."""
_STRETCH: Final = 2 * WIDTH
"""Characters whose terms are compared at once: of the stretches the one that says most is looked at closely."""
_AROUND: Final = 2 * WIDTH
"""Characters before and behind a stretch that are looked at closely with it."""
_REMEMBERED: Final = 20_000
"""Runs of letters whose terms are remembered."""
_LONGEST_WORD: Final = 64
"""Where a stretch ends no word is cut that is not longer."""

_HIDDEN: Final = re.compile(
    "[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]+"
)
"""Control signs, those of direction among them, and what is no character."""
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


class _Hit(msgspec.Struct, frozen=True):
    start: int
    end: int
    term: str


def plain(text: str) -> str:
    """A text of strangers without signs that do something: each run of them is a space."""
    return _HIDDEN.sub(" ", text)


def snippet(text: str, wanted: Collection[str], width: int = WIDTH) -> tuple[Piece, ...]:
    """The place with most of the wanted terms, or the beginning where none is; () for a text with nothing in it.

    ``…`` stands where something was cut off. The pieces together are at most some characters longer than ``width``.
    """
    clean = " ".join(plain(text[:_READ]).split())
    if not clean:
        return ()
    asked = frozenset(wanted)
    first, last = _near(clean, asked, width) if asked else (0, min(len(clean), width + _AROUND))
    close = clean[first:last]
    hits = list(_hits(close, asked))
    start, end = _window(close, hits, width)
    inside = [hit for hit in hits if start <= hit.start and hit.end <= end]
    pieces = list(_marked(close, start, end, inside))
    if first + start > 0:
        pieces.insert(0, Piece("… "))
    if first + end < len(clean) or len(text) > _READ:
        pieces.append(Piece(" …"))
    return tuple(pieces)


def _near(text: str, wanted: frozenset[str], width: int) -> tuple[int, int]:
    """From where to where it is looked at closely: around the stretch with most different terms, of equal ones the
    first with most of them; the beginning where none is. It is found by whole stretches, which is cheap."""
    best, chosen = (0, 0), (0, 0)
    for start in range(0, len(text), max(width, WIDTH)):
        stretch = _between_words(text, start, start + max(2 * width, _STRETCH))
        there = [term for term in terms(text[slice(*stretch)]) if term in wanted]
        worth = (len({*there}), len(there))
        if worth > best:
            best, chosen = worth, stretch
        if stretch[1] == len(text):
            break
    first, _ = _between_words(text, max(0, chosen[0] - _AROUND), 0)
    _, last = _between_words(text, 0, chosen[1] + width + _AROUND)
    return first, last


def _between_words(text: str, start: int, end: int) -> tuple[int, int]:
    """A stretch that begins and ends at a space where one is near, else at least between characters."""
    if start:
        space = text.rfind(" ", max(0, start - _LONGEST_WORD), start)
        start = space + 1 if space >= 0 else start + _with_marks(text[start : start + _LONGEST_WORD], 0)
    if end < len(text):
        space = text.find(" ", end, end + _LONGEST_WORD)
        end = space if space >= 0 else end + _with_marks(text[end : end + _LONGEST_WORD], 0)
    return start, min(end, len(text))


def _hits(text: str, wanted: frozenset[str]) -> Iterator[_Hit]:
    """Where a wanted term stands."""
    for match in _RUN.finditer(text) if wanted else ():
        run_terms = _terms_of(match[0])
        if wanted.isdisjoint(run_terms):
            continue
        if len(run_terms) == 1:
            yield _Hit(*match.span(), run_terms[0])
            continue
        for start, end in _parts(text, match.span(), wanted):
            yield _Hit(start, end, text[start:end])


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


def _window(text: str, hits: list[_Hit], width: int) -> tuple[int, int]:
    """From where to where it is shown."""
    if len(text) <= width:
        return 0, len(text)
    first, last = _densest(hits, width) if hits else (0, 0)
    start = _sentence_start(text, first, max(0, last - width))
    return start, _end(text, start + width)


def _densest(hits: list[_Hit], width: int) -> tuple[int, int]:
    """The stretch no longer than the width with most different terms; of equal ones that with most hits, the first."""
    inside: Counter[str] = Counter()
    best, place, left = (0, 0), (hits[0].start, hits[0].end), 0
    for right, hit in enumerate(hits):
        inside[hit.term.casefold()] += 1
        while hit.end - hits[left].start > width and left < right:
            gone = hits[left].term.casefold()
            inside[gone] -= 1
            if not inside[gone]:
                del inside[gone]
            left += 1
        worth = (len(inside), right - left)
        if worth > best:
            best, place = worth, (hits[left].start, hit.end)
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


def _marked(text: str, start: int, end: int, hits: list[_Hit]) -> Iterator[Piece]:
    at = start
    for hit in hits:
        if hit.start > at:
            yield Piece(text[at : hit.start])
        yield Piece(text[hit.start : hit.end], marked=True)
        at = hit.end
    if at < end:
        yield Piece(text[at:end])
