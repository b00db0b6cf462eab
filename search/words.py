"""A piece of text to its terms: which signs make a word, and what is folded. Pure; others use `gregor.search.terms`.

A text is brought to NFKC and case-folded, then cut into runs of letters, digits and their marks: at white space, dots,
dashes and all other signs. What differs by habit alone is folded (é and e, ё and е, ı and i, ß and ss, أ and ا, digits
of any script); what makes another word is not: й is no и, and Devanagari keeps its vowel signs, which are marks that
no letter stands for. Scripts that put no space between words (Chinese, Japanese, Korean, Thai, Lao, Khmer, Burmese)
become overlapping pairs of characters, each with its marks, so that a word is found inside a sentence.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from operator import add
from typing import Final

LONGEST: Final = 64
"""Characters of a term: what is longer is no word, and is cut."""
_REMEMBERED: Final = 200_000
_TERMS: Final = 4096
"""Terms of queries of which it is remembered what they are a part of: each is asked about for every field."""

_JOINERS: Final = "\u00ad\u0640\u200c-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufe00-\ufe0f\ufeff"
"""Soft hyphens, the tatweel that stretches Arabic, joiners, direction marks, variants: they are no part of a word."""
UNSPACED: Final = (
    "\u0e01-\u0e30\u0e32\u0e33\u0e40-\u0e46\u0e81-\u0eb0\u0eb2\u0eb3\u0ebd-\u0ec6\u0edc-\u0edf"  # Thai, Lao
    "\u1000-\u102a\u103f\u1050-\u1055\u1780-\u17b3"  # Burmese, Khmer
    "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # Japanese
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\u1100-\u11ff\u3131-\u318e\uac00-\ud7af"  # Korean
)
_ASTRAL: Final = "\U00010000-\U0001afff\U0001d400-\U0001d7ff\U0001e000-\U0001efff"
"""Letters and marks of scripts beyond the first plane, as whole blocks."""


def _ranges(codes: list[int]) -> str:
    """Code points as the inside of a character class."""
    spans: list[list[int]] = []
    for code in codes:
        if spans and spans[-1][1] == code - 1:
            spans[-1][1] = code
        else:
            spans.append([code, code])
    return "".join(f"{re.escape(chr(first))}-{re.escape(chr(last))}" for first, last in spans)


def _letters_and_marks() -> tuple[str, str]:
    """Of the first plane: letters and digits of scripts that put spaces between words; the marks of all."""
    unspaced = re.compile(f"[{UNSPACED}]")
    letters, marks = [], []
    for code in range(0x10000):
        character = chr(code)
        if unicodedata.category(character) in ("Mn", "Mc"):
            marks.append(code)
        elif character.isalnum() and not unspaced.match(character):
            letters.append(code)
    return _ranges(letters), _ranges(marks)


# One class for all that a word is made of: the engine then looks each character up, which alternatives would not do.
_LETTERS, MARKS = _letters_and_marks()
"""MARKS: those of the first plane, as the inside of a character class."""
WORD: Final = re.compile(f"[{_LETTERS}{MARKS}{_JOINERS}{_ASTRAL}]+")
_PIECE: Final = re.compile(f"({WORD.pattern})|([{UNSPACED}][{UNSPACED}{MARKS}]*)")
_FIRST_UNSPACED: Final = "\u0e01"
HAS_UNSPACED: Final = re.compile(f"[{UNSPACED}]")
_UNIT: Final = re.compile(f"[^{MARKS}][{MARKS}]*")
ENDING: Final = "_"
"""What stands before a character that ends a pair, and in no term."""
HAS_MARK: Final = re.compile(f"[{MARKS}]")
_NO_WORD: Final = re.compile(f"[^{_LETTERS}{UNSPACED}{MARKS}{_ASTRAL}]+")
_DROPPED: Final = re.compile(
    f"[{_JOINERS}\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1-\u05c7\u0610-\u061a\u064b-\u065f\u0670]"
)
"""Joiners, and marks that may be left out in writing: accents that are no part of a letter, Hebrew points, Arabic
vowels."""
_ALIKE: Final = {
    "ı": "i", "ø": "o", "đ": "d", "ł": "l", "ħ": "h", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d", "ё": "е",
    "ى": "ي", "ة": "ه", "ک": "ك", "ی": "ي",
}  # fmt: skip
_FOLDED_SCRIPTS: Final = ("LATIN", "GREEK", "ARABIC", "HEBREW")


def _fold(character: str) -> str:
    """What stands for a character, which is in NFKC and case-folded."""
    if character in _ALIKE:
        return _ALIKE[character]
    if (digit := unicodedata.decimal(character, None)) is not None:
        return str(digit)
    parts = unicodedata.normalize("NFD", character)
    if len(parts) > 1 and unicodedata.name(parts[0], "").startswith(_FOLDED_SCRIPTS):
        return "".join(_ALIKE.get(part, part) for part in _DROPPED.sub("", parts))
    return character


class _Signs(dict[int, str]):
    """Characters, in NFKC and case-folded, to what stands for them in a term; most are met again and again."""

    def __missing__(self, code: int) -> str:
        sign = chr(code)
        self[code] = folded = _NO_WORD.sub("", _fold(sign)) if _DROPPED.match(sign) is None else ""
        return folded


_signs: Final = _Signs()


class _Folded(dict[str, str]):
    """Runs of letters to their terms; most of a text are words that were met before."""

    def __missing__(self, word: str) -> str:
        if len(self) >= _REMEMBERED:
            self.clear()
        self[word] = term = term_of(word)
        return term


_folded: Final = _Folded()


def term_of(word: str) -> str:
    """The term of a run of letters; "" for one that is all joiners and marks."""
    if word.isascii():
        return word.lower()[:LONGEST]
    normal = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", word).casefold())
    return normal.translate(_signs)[:LONGEST]


def terms_of_piece(text: str) -> list[str]:
    """The terms of a text that has signs beyond ASCII."""
    if HAS_UNSPACED.search(text) is None:
        return list(filter(None, map(_folded.__getitem__, WORD.findall(text))))
    mixed: list[str] = []
    plain = unicodedata.is_normalized("NFKC", text) and HAS_MARK.search(text) is None
    for word, run in _PIECE.findall(text):
        if run:
            mixed.extend((map(add, run, run[1:]) if len(run) > 1 else run) if plain else _pairs(run))
        elif term := _folded[word]:
            mixed.append(term)
    return mixed


def _pairs(run: str) -> Iterator[str]:
    """Each two neighbours; a character that stands alone by itself."""
    run = unicodedata.normalize("NFKC", run)
    if HAS_MARK.search(run) is None:
        return map(add, run, run[1:]) if len(run) > 1 else iter([run])
    units = [unit[: LONGEST // 2] for unit in _UNIT.findall(run)]
    return map(add, units, units[1:]) if len(units) > 1 else iter(units)


def is_lone(term: str) -> bool:
    """Whether a term is a lone character of a script without spaces, with its marks: texts have it in pairs."""
    if term.isascii():  # as most are
        return False
    return HAS_UNSPACED.match(term) is not None and len(_UNIT.findall(term)) == 1


@lru_cache(_TERMS)
def of_pairs(term: str) -> str:
    """The terms that a lone character is a part of, as a regular expression that engines read; "" for other terms.

    Few steps lead to them in a dictionary: all begin alike. Pairs that it ends are found by what `endings` adds.
    """
    return f"{term}([{UNSPACED}].{{0,3}})?|{ENDING}{term}" if is_lone(term) else ""


def endings(joined: str) -> str:
    """What is indexed behind the terms of a text, so that a lone character is found by how terms begin: characters of
    scripts without spaces that end pairs and begin none, each behind a sign that no term has."""
    if joined.isascii():
        return ""
    terms = [term for term in {*joined.split()} if term >= _FIRST_UNSPACED]
    firsts, lasts = {term[0] for term in terms}, {term[-1] for term in terms}
    if any(map(HAS_MARK.match, lasts)) or max(map(len, terms), default=0) > 2:  # not all signs are units of their own
        units = [_UNIT.findall(term) for term in terms if HAS_UNSPACED.match(term) is not None]
        firsts, lasts = {parts[0] for parts in units}, {parts[-1] for parts in units}
    return "".join(f" {ENDING}{unit}" for unit in sorted(lasts - firsts) if HAS_UNSPACED.match(unit) is not None)
