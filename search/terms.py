"""Text to terms: what is compared when something is searched for, the same for documents and for queries. Pure.

A text is brought to NFKC and case-folded, then cut into runs of letters, digits and their marks: at white space, dots,
dashes and all other signs. What differs by habit alone is folded (é and e, ё and е, ı and i, ß and ss, أ and ا, digits
of any script); what makes another word is not: й is no и, and Devanagari keeps its vowel signs, which are marks that
no letter stands for. Scripts that put no space between words (Chinese, Japanese, Korean, Thai, Lao, Khmer, Burmese)
become overlapping pairs of characters, each with its marks, so that a word is found inside a sentence.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from operator import add
from typing import Final

LONGEST: Final = 64
"""Characters of a term: what is longer is no word, and is cut."""
_REMEMBERED: Final = 200_000
_LONG: Final = 1000
"""Bytes of a text that is looked at as an array, which takes a while to begin."""
_SPACE, _LAST_ASCII = ord(" "), 127

_JOINERS: Final = "\u00ad\u0640\u200c-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufe00-\ufe0f\ufeff"
"""Soft hyphens, the tatweel that stretches Arabic, joiners, direction marks, variants: they are no part of a word."""
_UNSPACED: Final = (
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
    unspaced = re.compile(f"[{_UNSPACED}]")
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
_WORD: Final = re.compile(f"[{_LETTERS}{MARKS}{_JOINERS}{_ASTRAL}]+")
_PIECE: Final = re.compile(f"({_WORD.pattern})|([{_UNSPACED}][{_UNSPACED}{MARKS}]*)")
_HAS_UNSPACED: Final = re.compile(f"[{_UNSPACED}]")
_UNIT: Final = re.compile(f"[^{MARKS}][{MARKS}]*")
_HAS_MARK: Final = re.compile(f"[{MARKS}]")
_NO_WORD: Final = re.compile(f"[^{_LETTERS}{_UNSPACED}{MARKS}{_ASTRAL}]+")
_CUT: Final = bytes(
    code if code > 127 else ord(chr(code).lower()) if chr(code).isalnum() else ord(" ") for code in range(256)
)
"""Bytes of UTF-8: letters of ASCII in lower case, its digits and what is not ASCII as they are, spaces for others."""
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
        self[word] = term = _term(word)
        return term


_folded: Final = _Folded()


def _term(word: str) -> str:
    """The term of a run of letters; "" for one that is all joiners and marks."""
    if word.isascii():
        return word.lower()[:LONGEST]
    normal = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", word).casefold())
    return normal.translate(_signs)[:LONGEST]


class _Pieces(dict[str, str]):
    """What stands between spaces and ASCII's signs, lower case as far as it is ASCII, to its terms joined by spaces."""

    def __missing__(self, piece: str) -> str:
        is_word = piece.isascii() or _WORD.fullmatch(piece) is not None
        joined = _term(piece) if is_word else " ".join(_of_piece(piece))
        if len(piece) <= LONGEST:
            if len(self) >= _REMEMBERED:
                self.clear()
            self[piece] = joined
        return joined


_pieces: Final = _Pieces()


def terms(text: str) -> list[str]:
    """The terms of a text in their order; none is empty or has white space in it."""
    return joined(text).split()


def joined(text: str) -> str:
    """The terms of a text, with white space between them, more than one sign in places.

    At ASCII's signs every script is cut, and what stands between them is mostly a word that was met before: so most of
    a text is looked at by functions of the interpreter alone, whatever it is written in.
    """
    cut = text.encode("utf-8", "surrogatepass").translate(_CUT)
    if len(cut) >= _LONG and (joined_long := _joined_long(cut)) is not None:
        return joined_long
    said = cut.decode("utf-8", "surrogatepass")
    pieces = said.split(" ")
    if said.isascii() and len(max(pieces, key=len)) <= LONGEST:
        return said
    return " ".join(map(_pieces.__getitem__, pieces))


@cache
def _has_numpy() -> bool:
    """Whether long texts can be looked at as arrays; asked once, and by the first long text alone: a crawl loads this
    module, and neither needs numpy nor waits for it."""
    try:
        import numpy  # noqa: F401
    except ModuleNotFoundError:
        return False
    return True


def _joined_long(cut: bytes) -> str | None:
    """The terms of a long text, of which only the pieces are looked up that are not ASCII, or too long; None where
    these are many, and without numpy."""
    if not _has_numpy():
        return None
    import numpy as np

    signs = np.frombuffer(cut, np.uint8)
    spaces = np.flatnonzero(signs == _SPACE)
    bounds = np.concatenate(([-1], spaces, [len(cut)]))
    looked_up = np.diff(bounds) > LONGEST + 1
    looked_up[np.searchsorted(spaces, np.flatnonzero(signs > _LAST_ASCII))] = True
    places = np.flatnonzero(looked_up)
    if 2 * len(places) > len(looked_up):
        return None
    parts, at = [], 0
    for before, end in zip(bounds[places].tolist(), bounds[places + 1].tolist(), strict=True):
        term = _pieces[cut[before + 1 : end].decode("utf-8", "surrogatepass")]
        parts += [cut[at : before + 1], term.encode("utf-8", "surrogatepass")]
        at = end
    return b"".join([*parts, cut[at:]]).decode("utf-8", "surrogatepass")


def _of_piece(text: str) -> list[str]:
    """The terms of a text that has signs beyond ASCII."""
    if _HAS_UNSPACED.search(text) is None:
        return list(filter(None, map(_folded.__getitem__, _WORD.findall(text))))
    mixed: list[str] = []
    plain = unicodedata.is_normalized("NFKC", text) and _HAS_MARK.search(text) is None
    for word, run in _PIECE.findall(text):
        if run:
            mixed.extend((map(add, run, run[1:]) if len(run) > 1 else run) if plain else _pairs(run))
        elif term := _folded[word]:
            mixed.append(term)
    return mixed


def _pairs(run: str) -> Iterator[str]:
    """Each two neighbours; a character that stands alone by itself."""
    run = unicodedata.normalize("NFKC", run)
    if _HAS_MARK.search(run) is None:
        return map(add, run, run[1:]) if len(run) > 1 else iter([run])
    units = [unit[: LONGEST // 2] for unit in _UNIT.findall(run)]
    return map(add, units, units[1:]) if len(units) > 1 else iter(units)
