"""Lines of pages in vain: how many of them, each found on the one before, led to a page. Pure, bounded in memory.

An endless space is one whose pages lead on to further ones of their kind, again and again; a list of pages that are
alike, however long, does so once.
"""

from array import array
from typing import Final

import xxhash

_PAGES: Final = 1 << 16
_LONGEST: Final = 255


class Chains:
    """The last pages of all hosts that brought nothing new: a table in which a page takes the place of another one with
    the same end of its hash."""

    def __init__(self, pages: int = _PAGES) -> None:
        """``pages``: places of the table, 9 bytes each."""
        self._pages = array("Q", bytes(8 * pages))
        self._lengths = array("B", bytes(pages))

    def __contains__(self, key: str) -> bool:
        """Whether a page is one of them."""
        page = _print(key)
        return self._pages[page % len(self._pages)] == page

    def add(self, key: str, via: str, step: int) -> int:
        """A page brought nothing new, and ``via`` led to it. Gives how many such pages led here, this one counted as so
        many as ``step`` says; after a page that was forgotten a new line begins."""
        before = self._lengths[_print(via) % len(self._lengths)] if via in self else 0
        page, length = _print(key), min(before + step, _LONGEST)
        self._pages[page % len(self._pages)], self._lengths[page % len(self._pages)] = page, length
        return length


def _print(key: str) -> int:
    return xxhash.xxh3_64_intdigest(key.encode("utf-8", "surrogatepass"))
