"""What of a page its class is told by: the words of its text, of its title and of its URL. Pure.

A word is a run of letters and digits in lower case; scripts that put no space between words (Chinese, Japanese, Thai
and so on) give each two neighbouring characters in its place, so that no language has to be known. Neighbours in titles
and URLs count as pairs, too, and digits only by how many there are: an address with a number is of a kind.
"""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from operator import mul
from typing import Final, NamedTuple
from urllib.parse import unquote

import xxhash

BITS: Final = 18
"""Features are told apart by so many bits of the hashes of their names."""
MOST_TEXT: Final = 6000
"""Characters of a text that are looked at, from its beginning."""
_MOST_WORDS: Final = 200
"""Words of a title, of a URL or of an anchor that are looked at."""
_MARK: Final = r"[\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff]"
_WORDS: Final = re.compile(rf"(?:[^\W_]|{_MARK})+")
"""Letters and digits, and the marks that stand with letters of many scripts."""
_MARKS, _NO_MARKS = re.compile(_MARK), re.compile(r"[^\W_]+")
_BETWEEN: Final = re.compile(r"[\u2000-\u206f\u20a0-\u20bf\u2190-\u22ff]+")
"""Typographic signs, currencies, arrows: what else is beyond Latin-1 in most texts that are written in its letters."""
_ASCII: Final = bytes(code if chr(code).isalnum() and code < 128 else 32 for code in range(256)).lower()
_LATIN: Final = bytes(code if chr(code).isalnum() else 32 for code in range(256))
"""What parts words, of text that is ASCII or Latin-1 alone: quicker than an expression."""
_UNSPACED: Final = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+"
)
_DIGITS: Final = re.compile(r"\d+")
_SCHEME: Final = re.compile(r"^[a-zA-Z][a-zA-Z0-9+.-]*://(?:www\.)?")
_LOGARITHMS: Final = tuple(1.0 + math.log(max(1, count)) for count in range(MOST_TEXT + 1))


PARTS: Final = ("text", "title", "url")
"""What of a page words are told apart by."""


class PageWords(NamedTuple):
    """The words of a page's parts, and how often each is there."""

    text: Counter[str]
    title: Counter[str]
    url: Counter[str]


def words(text: str, most: int = MOST_TEXT) -> list[str]:
    """The words of a text, in their order; of scripts without spaces pairs of characters, behind all others."""
    text = text[:most]
    if text.isascii():
        return text.encode().translate(_ASCII).decode().split()
    text = unicodedata.normalize("NFKC", text).lower()[:most]  # what is one sign may come apart into many
    try:
        return _BETWEEN.sub(" ", text).encode("latin-1").translate(_LATIN).decode("latin-1").split()
    except UnicodeEncodeError:  # other scripts
        pass
    if _UNSPACED.search(text) is None:
        return (_NO_MARKS if _MARKS.search(text) is None else _WORDS).findall(text)
    unspaced = [run[at : at + 2] for run in _UNSPACED.findall(text) for at in range(max(1, len(run) - 1))]
    return _WORDS.findall(_UNSPACED.sub(" ", text)) + unspaced


def url_words(href: str) -> list[str]:
    """The words of a URL, percent-encodings read, digits by how many there are."""
    return [_digits(word) for word in words(unquote(_SCHEME.sub("", href[:2048])), 2048)[:_MOST_WORDS]]


def with_pairs(several: Sequence[str]) -> Iterator[str]:
    """Words, and each two neighbours."""
    yield from several
    for before, after in pairwise(several):
        yield f"{before} {after}"


def of_page(title: str | None, text: str, href: str) -> PageWords:
    """Those of a page."""
    of_title = words(title or "", 1024)[:_MOST_WORDS]
    return PageWords(Counter(words(text)), Counter(with_pairs(of_title)), Counter(with_pairs(url_words(href))))


def weights(counts: Iterable[int]) -> list[float]:
    """What each word of a part weighs by how often it is there: the squares of all make 1."""
    logarithms = list(map(_LOGARITHMS.__getitem__, counts))
    scale = 1.0 / (math.sqrt(sum(map(mul, logarithms, logarithms))) or 1.0)
    return [logarithm * scale for logarithm in logarithms]


def numbers_of(part: str) -> Callable[[str], int]:
    """What gives the number of a word's feature in a part ("text", "title" or "url")."""
    mask = (1 << BITS) - 1
    return lambda word: xxhash.xxh3_64_intdigest(f"{part} {word}".encode()) & mask


def features(page: PageWords) -> dict[int, float]:
    """The features of a page, with their values."""
    values: dict[int, float] = {}
    for part, counts in zip(PARTS, page, strict=True):
        number = numbers_of(part)
        for word, weight in zip(counts, weights(counts.values()), strict=True):
            key = number(word)
            values[key] = values.get(key, 0.0) + weight
    return values


def _digits(word: str) -> str:
    return _DIGITS.sub(lambda digits: "0" * min(6, len(digits[0])), word)
