"""Lines of pages in vain: how many of them, each found on the one before, led to a page. Pure, bounded in memory.

An endless space is one whose pages lead on to further ones of their kind, again and again; a list of pages that are
alike, however long, does so once.
"""

from array import array
from typing import Final

import xxhash

_PAGES: Final = 128
_LONGEST: Final = 255


class Chains:
    """The last pages of a host that brought nothing new."""

    __slots__ = ("_lengths", "_next", "_pages")

    def __init__(self) -> None:
        self._pages = array("Q")
        self._lengths = array("B")
        self._next = 0

    def __contains__(self, key: str) -> bool:
        """Whether a page is one of them."""
        return _print(key) in self._pages

    def add(self, key: str, via: str, step: int) -> int:
        """A page brought nothing new, and ``via`` led to it. Gives how many such pages led here, this one counted as so
        many as ``step`` says; after a page that was forgotten a new line begins."""
        before = _print(via)
        length = self._lengths[self._pages.index(before)] if before in self._pages else 0
        length = min(length + step, _LONGEST)
        if len(self._pages) < _PAGES:
            self._pages.append(_print(key))
            self._lengths.append(length)
        else:
            self._pages[self._next], self._lengths[self._next] = _print(key), length
            self._next = (self._next + 1) % _PAGES
        return length


def _print(key: str) -> int:
    return xxhash.xxh3_64_intdigest(key.encode("utf-8", "surrogatepass"))
