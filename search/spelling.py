"""What somebody may have meant to type, by the terms that documents have. Pure."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from gregor.search.query import ParsedQuery

FEW: Final = 5
"""A query that finds so many documents, and has all its words, is taken for meant."""
_SHORTEST: Final = 4
"""Characters of a term that is looked at: of shorter ones nearly all are near each other."""
_LONGEST: Final = 30
LONG: Final = 7
"""Characters of a term that may be two slips from another."""
MOST_NEAR: Final = 5
"""Terms near one that are looked up among the documents that are there."""
_COMMONER: Final = 20
"""A term that documents have is taken for another one that so many times as many have."""
_LETTERS: Final = (
    "abcdefghijklmnopqrstuvwxyz0123456789",
    "абвгдежзийклмнопрстуфхцчшщъыьэюяіїєґўјљњћџ",
    "αβγδεζηθικλμνξοπρσςτυφχψω",
    "אבגדהוזחטיךכלםמןנסעףפץצקרשת",
    "ابتثجحخدذرزسشصضطظعغفقكلمنهوي",
    "աբգդեզէըթժիլխծկհձղճմյնշոչպջռսվտրցւփքօֆ",
    "აბგდევზთიკლმნოპჟრსტუფქღყშჩცძწჭხჯჰ",
)
_PIECE: Final = re.compile(r'[^\s"]*"[^"]*"|\S+')

Near = Callable[[str], Mapping[str, int]]
"""Terms of documents that are spelled nearly like one, each with how many documents have it."""
Frequency = Callable[[str], int]
"""How many documents have a term."""


def edits(term: str) -> Iterator[str]:
    """What a term may be after one slip: a letter more, less or another, or two of them in the wrong order."""
    letters = "".join(alphabet for alphabet in _LETTERS if not set(term).isdisjoint(alphabet))
    if not _SHORTEST <= len(term) <= _LONGEST:
        return
    for at in range(len(term) + 1):
        before, behind = term[:at], term[at:]
        yield from (f"{before}{letter}{behind}" for letter in letters)
        if behind:
            yield before + behind[1:]
            yield from (f"{before}{letter}{behind[1:]}" for letter in letters if letter != behind[0])
        if len(behind) > 1 and behind[0] != behind[1]:
            yield before + behind[1] + behind[0] + behind[2:]


def apart(term: str, other: str, most: int) -> int:
    """How many slips two terms are apart, two neighbours in the wrong order being one; more than ``most``: any number
    above it."""
    if abs(len(term) - len(other)) > most:
        return most + 1
    older: list[int] = []
    last = list(range(len(other) + 1))
    for row, letter in enumerate(term, 1):
        line = [row]
        for column, another in enumerate(other, 1):
            slips = min(last[column] + 1, line[column - 1] + 1, last[column - 1] + (letter != another))
            if row > 1 and column > 1 and letter == other[column - 2] and term[row - 2] == another:
                slips = min(slips, older[column - 2] + 1)
            line.append(slips)
        if min(line) > most:
            return most + 1
        older, last = last, line
    return last[-1]


def suggestion(asked: ParsedQuery, frequency: Frequency, near: Near) -> str:
    """The query with other words for those that hardly any document has; "" when there is none better.

    What is left out, filters and phrases that are excluded stay as they are.
    """
    meant = {word: better for word in asked.words if (better := _meant(word, frequency(word), near)) is not None}
    if not meant:
        return ""
    return " ".join(_replaced(piece, meant) for piece in _PIECE.findall(asked.said))


def _meant(word: str, count: int, near: Near) -> str | None:
    """The term of most documents near a word, if it is so much commoner."""
    if not _SHORTEST <= len(word) <= _LONGEST or word.isdecimal():
        return None
    candidates = {term: others for term, others in near(word).items() if term != word}
    best = min(candidates, key=lambda term: (apart(word, term, 2), -candidates[term], term), default=None)
    return best if best is not None and candidates[best] > _COMMONER * count else None


def _replaced(piece: str, meant: Mapping[str, str]) -> str:
    if piece.startswith("-") or ":" in piece:
        return piece
    quote = '"' if piece.startswith('"') else ""
    return quote + " ".join(meant.get(word, word) for word in piece.strip('"').split()) + quote
