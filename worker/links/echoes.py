"""What a page says beside its address: its words without those that only repeat its URL. Pure."""

from calendar import day_name, month_name
from collections.abc import Iterable
from typing import Final, NamedTuple
from urllib.parse import unquote

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
    """Hashes over the words of a text, in whatever order, without those of its URL: with its numbers, and without."""

    full: int
    bare: int


def words_of(text: str, target: str, media: Iterable[str] = ()) -> Words:
    """The words of a text at a URL; ``target`` is the URL's path and query, ``media`` are the URLs of what is shown.

    Whatever stands in the URL and has a letter is left out of both: a session, a path or a filter that the page quotes.
    """
    echoes = {word for word in _words(unquote(target)) if not word.isdigit()}
    words = [word for word in _words(text[:_MOST]) if word not in echoes]
    shown = hash(frozenset(media))
    bare = [word for word in words if not word.isdigit() and word not in _DATES]
    return Words(_hash(words, shown), _hash(bare, shown))


def _words(text: str) -> list[bytes]:
    return text.encode("utf-8", "surrogatepass").translate(_SPACED).split()


def _hash(words: list[bytes], shown: int) -> int:
    """Alike for the same words in another order; it is this process's own."""
    return (sum(map(hash, words)) + shown) & 0xFFFFFFFFFFFFFFFF
