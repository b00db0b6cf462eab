"""Sketches of texts: how much two texts have in common, read off 56 bytes of each, and what likely twins are found by.

By minwise hashing (Broder 1997) with one minimum a bin (Li, Owen and Zhang 2012): the runs of 12 letters of a text are
hashed and dealt into 64 bins, and the least of each bin is kept. Two texts have as many minima in common as they have
runs in common of all that either has (Jaccard); as good as runs of three words, in whatever script. An empty bin
takes what the next one has (Shrivastava and Li 2014). What is least is decided first by the hash of a run's first four
letters, which the simhash has made anyway: so only the runs with the least of these are hashed, some 160 of a text.

A sketch holds four bits of each minimum, and six keys, each made of two minima: texts that have much in common share a
key, and in a crawl of millions hardly any others do. What decided on these numbers stands in docs/near-duplicates.md.
"""

import struct
from collections.abc import Iterable
from functools import cache
from typing import Final

from xxhash import xxh3_64_intdigest

KEYS: Final = 6
"""Keys of a sketch."""

BINS: Final = 64
_MARK_BITS: Final = 4
_KEYS: Final = struct.Struct(f"<{KEYS}I")
_SIZE: Final = _KEYS.size + BINS * _MARK_BITS // 8
_LOW: Final = int.from_bytes(b"\x11" * (BINS // 2))
_BY_CHANCE: Final = 1 / 16
"""Marks that are equal although their minima are not."""
_LOOKED_AT: Final = 160
"""Runs of a text that are hashed: with so many, five bins are empty."""
ENOUGH: Final = 96
"""Different ones among them, or more are looked at."""
RUN: Final = 12
"""Letters of a run."""
_TOLD: Final = 4
"""Letters of which the first octet of the hash is known."""
MIX: Final = 0x9E3779B97F4A7C15
_WORD: Final = 2**64 - 1


def of_runs(letters: str | bytes, tops: bytes) -> bytes:
    """The sketch of a text of ASCII letters or any; empty without a run of 12.

    ``tops``: the highest octets of the hashes of its runs of four letters.
    """
    count = len(tops) - (RUN - _TOLD)
    if count <= 0:
        return b""
    last = last_looked_at(count)
    hashes = _least(letters, tops, count, last)
    while len(hashes) < ENOUGH and last < 255:  # the text repeats itself
        last = more(last)
        hashes = _least(letters, tops, count, last)
    least = {number % BINS: number for number in sorted(hashes, reverse=True)}  # of several for one bin the last stays
    if len(least) < BINS:
        following = least[min(least)]
        for place in reversed(range(BINS)):
            following = least.setdefault(place, following)
    marks = 0
    for place in range(BINS):
        marks = marks << _MARK_BITS | least[place] // BINS % 16
    return _KEYS.pack(*(_key(place, least) for place in range(KEYS))) + marks.to_bytes(_SIZE - _KEYS.size)


def last_looked_at(count: int) -> int:
    """The greatest first octet of the runs that are looked at, of a text of so many."""
    return min(255, _LOOKED_AT * 256 // count)


def more(last: int) -> int:
    """The same where too few of the runs were different."""
    return min(255, 2 * last + 1)


def _least(letters: str | bytes, tops: bytes, count: int, last: int) -> set[int]:
    """The hashes of the runs whose octets are up to ``last``; they begin with these octets."""
    starts, marked = [], tops[:count].translate(_up_to(last))
    start = marked.find(1)
    while start >= 0:
        starts.append(start)
        start = marked.find(1, start + 1)
    if isinstance(letters, bytes):
        return {tops[start] << 56 | xxh3_64_intdigest(letters[start : start + RUN]) >> 8 for start in starts}
    runs = (letters[start : start + RUN].encode("utf-8", "surrogatepass") for start in starts)
    return {tops[start] << 56 | digest >> 8 for start, digest in zip(starts, map(xxh3_64_intdigest, runs), strict=True)}


@cache
def _up_to(last: int) -> bytes:
    """A table by which octets up to ``last`` are 1, all others 0."""
    return b"\1" * (last + 1) + b"\0" * (255 - last)


def _key(place: int, least: dict[int, int]) -> int:
    """31 bits, which any integer column holds."""
    mixed = (least[2 * place] * MIX + least[2 * place + 1] & _WORD) * MIX + place & _WORD
    return (mixed * MIX & _WORD) >> 33


def keys_of(sketch: bytes) -> tuple[int, ...]:
    """The keys of a sketch, of 31 bits; () of an empty one. Raises ValueError for what is no sketch."""
    if not sketch:
        return ()
    if len(sketch) != _SIZE:
        raise ValueError(f"a sketch has {_SIZE} bytes, not {len(sketch)}")
    return _KEYS.unpack_from(sketch)


def share(a: bytes, b: bytes) -> float:
    """The estimated share of runs that two texts have in common of all that either has, 0 to 1; 0 for an empty one."""
    if not a or not b:
        return 0.0
    differing = int.from_bytes(a[_KEYS.size :]) ^ int.from_bytes(b[_KEYS.size :])
    differing |= differing >> 2
    differing |= differing >> 1
    equal = 1 - (differing & _LOW).bit_count() / BINS
    return max(0.0, (equal - _BY_CHANCE) / (1 - _BY_CHANCE))


def alike(sketch: bytes, others: Iterable[tuple[str, bytes]], least: float) -> list[tuple[str, float]]:
    """Those of the others, by name, that share at least so much with a sketch, the likest first, each once."""
    shares = {name: share(sketch, other) for name, other in others}
    return sorted(
        ((name, much) for name, much in shares.items() if much >= least), key=lambda each: (-each[1], each[0])
    )
