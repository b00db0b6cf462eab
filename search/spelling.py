"""What somebody may have meant to type, by the terms that documents have. Pure."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from gregor.search.query import ParsedQuery

FEW: Final = 5
"""A query that finds so many documents, and has all its words, is taken for meant; so is a word that so many have."""
_SHORTEST, _LONGEST = 4, 30
"""Characters of a term that is looked at: of shorter ones nearly all are near each other."""
LONG: Final = 7
"""Characters of a term that may be two slips from another."""
_MOST_NEAR: Final = 5
"""Terms near one that are looked up among the documents that are there."""
_MOST_WORDS: Final = 8
"""Words of a query that hardly any document has, and that are looked at: more of them are no slips."""
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


def edits(term: str, first: int | None = None) -> Iterator[str]:
    """What a term may be after one slip: a letter more, less or another, or two of them in the wrong order; in front of
    so many of the ``first`` letters, or at any place."""
    letters = "".join(alphabet for alphabet in _LETTERS if not set(term).isdisjoint(alphabet))
    if not may_be_meant(term):
        return
    for at in range(len(term) + 1)[:first]:
        before, behind = term[:at], term[at:]
        yield from (f"{before}{letter}{behind}" for letter in letters)
        if behind:
            yield before + behind[1:]
            yield from (f"{before}{letter}{behind[1:]}" for letter in letters if letter != behind[0])
        if len(behind) > 1 and behind[0] != behind[1]:
            yield before + behind[1] + behind[0] + behind[2:]


def is_one_apart(term: str, other: str) -> bool:
    """Whether two terms are one slip apart."""
    if abs(len(term) - len(other)) > 1 or term == other:
        return False
    rest, others = _different(term, other)
    swapped = len(rest) > 1 and rest[1] + rest[0] + rest[2:] == others
    return rest[1:] == others[1:] or rest[1:] == others or rest == others[1:] or swapped


def may_be_meant(term: str) -> bool:
    """Whether a term is so long that others are looked for that are near it."""
    return _SHORTEST <= len(term) <= _LONGEST


def apart(term: str, other: str, most: int) -> int:
    """How many slips two terms are apart, two neighbours in the wrong order being one; more than ``most``: any number
    above it."""
    if abs(len(term) - len(other)) > most:
        return most + 1
    term, other = _different(term, other)
    term, other = (part[::-1] for part in _different(term[::-1], other[::-1]))
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


def _different(term: str, other: str) -> tuple[str, str]:
    """Two terms from the first letter on that is another one."""
    at = next((at for at, (letter, another) in enumerate(zip(term, other, strict=False)) if letter != another), None)
    at = min(len(term), len(other)) if at is None else at
    return term[at:], other[at:]


def still_there(counts: Mapping[str, int], frequency: Frequency) -> dict[str, int]:
    """Of terms with how many documents have them, about, the commonest that documents still have: dictionaries have
    words of documents that are gone, too, until the files that they are in are merged."""
    commonest = sorted(counts, key=lambda term: -counts[term])[:_MOST_NEAR]
    return {term: count for term in commonest if (count := frequency(term))}


def suggestion(asked: ParsedQuery, frequency: Frequency, near: Near) -> str:
    """The query with other words for those that hardly any document has; "" when there is none better.

    What is left out, filters and phrases that are excluded stay as they are.
    """
    counts = {word: frequency(word) for word in asked.words if may_be_meant(word) and not word.isdecimal()}
    rare = sorted((word for word, count in counts.items() if count < FEW), key=counts.__getitem__)
    meant = {word: better for word in rare[:_MOST_WORDS] if (better := _meant(word, counts[word], near)) is not None}
    if not meant:
        return ""
    return " ".join(_replaced(piece, meant) for piece in _PIECE.findall(asked.said))


def _meant(word: str, count: int, near: Near) -> str | None:
    """The term of most documents near a word, if it is so much commoner."""
    candidates = {term: others for term, others in near(word).items() if term != word}
    best = min(candidates, key=lambda term: (apart(word, term, 2), -candidates[term], term), default=None)
    return best if best is not None and candidates[best] > _COMMONER * count else None


def _replaced(piece: str, meant: Mapping[str, str]) -> str:
    if piece.startswith("-") or ":" in piece:
        return piece
    quote = '"' if piece.startswith('"') else ""
    return quote + " ".join(meant.get(word, word) for word in piece.strip('"').split()) + quote
