"""Links of pages as they are kept beside an index to rank by: numbers of URLs, words, hosts. Pure; without scipy."""

import sys
from array import array
from collections.abc import Iterable
from itertools import chain
from typing import Final

import msgspec
import numpy as np
import numpy.typing as npt
import xxhash

NOFOLLOW: Final = 1
"""The lowest bit of a link's second number: the link says nofollow."""
RECOMMENDING: Final = frozenset({"a", "area"})
"""Kinds of links that recommend what they lead to."""
MOST_LINKS: Final = 2000
"""Links of a page that are counted, each target and text once."""


def signed(number: int) -> int:
    """64 bits as a signed number."""
    return number - (1 << 64) if number >> 63 else number


def words_of(text: str, nofollow: bool) -> int:
    """The number of a link's words, whose lowest bit says nofollow; without words, that bit alone."""
    said = text.strip()
    if not said:
        return int(nofollow)
    number = xxhash.xxh3_64_intdigest(said.encode(errors="surrogatepass")) & ~NOFOLLOW | nofollow
    return number - (1 << 64) if number >> 63 else number


class Node(msgspec.Struct, frozen=True):
    """A page that is to be found: its number, the content that it has, and its host."""

    number: int
    content: str
    host: str


class Links(msgspec.Struct, frozen=True):
    """The links of a page: its number, and rows of target, words and own host (as `PageBook` keeps them)."""

    source: int
    rows: npt.NDArray[np.int64]


def packed(rows: Iterable[tuple[int, ...]]) -> bytes:
    """Rows of signed numbers of 64 bits, little-endian."""
    data = array("q", chain.from_iterable(rows))
    if sys.byteorder == "big":
        data.byteswap()
    return data.tobytes()
