"""What a page says beside its address: its words without those that only repeat its URL. Pure."""

from calendar import day_name, month_name
from collections.abc import Iterable
from typing import Final, NamedTuple
from urllib.parse import unquote

import xxhash

_64_BITS: Final = 0xFFFFFFFFFFFFFFFF
_MOST: Final = 64 * 1024
"""Characters of a text that are looked at."""
_SPACED: Final = bytes(
    point + 32 if 65 <= point <= 90 else point if chr(point).isalnum() or point > 127 else 32 for point in range(256)
)
"""Lower case, with a space for everything that is neither a letter nor a digit."""


_DATES: Final = frozenset(
    name[:length].lower().encode() for name in (*month_name, *day_name) for length in (3, 4, len(name)) if name
)
"""Names of months and days, which are numbers by another name."""


class Words(NamedTuple):
    """Hashes over the words of a text, however often and in whatever order, without those of its URL: with its numbers,
    and without."""

    full: int
    bare: int


def words_of(text: str, target: str, media: Iterable[str] = ()) -> Words:
    """The words of a text at a URL; ``target`` is the URL's path and query, ``media`` are the URLs of what is shown.

    Whatever stands in the URL and has a letter is left out of both: a session, a path or a filter that the page quotes.
    """
    words = set(_words(text[:_MOST]))
    words.difference_update(word for word in _words(unquote(target)) if not word.isdigit())
    full = _sum(words) + xxhash.xxh3_64_intdigest("\n".join(sorted(set(media))).encode("utf-8", "surrogatepass"))
    bare = full - _sum(filter(bytes.isdigit, words)) - _sum(words & _DATES)
    return Words(full & _64_BITS, bare & _64_BITS)


def _words(text: str) -> list[bytes]:
    return text.encode("utf-8", "surrogatepass").translate(_SPACED).split()


def _sum(words: Iterable[bytes]) -> int:
    """Alike for the same words in another order."""
    return sum(map(xxhash.xxh3_64_intdigest, words))
