"""Fingerprints of texts: exact ones, and simhashes that stay close when a text changes a little.

The simhash (Charikar 2002; Manku, Jain and Das Sarma 2007) has 64 bits over all runs of four letters of a text, as the
``simhash`` package takes them: lower case, everything but letters and digits left out, each run as often as it occurs.
Its value is that of ``Simhash(text, hashfunc=…)`` with the hash that `shingle_hashes` gives a run; only that here numpy
computes it. On the labelled near-duplicates of the conformance data these features leave pairs 1.9 bits apart on
average, three-word shingles 3.0; they cost the same, and scripts without spaces between words need no special
treatment.
"""

from collections.abc import Iterable
from functools import cache

import numpy as np
import numpy.typing as npt
import xxhash

from gregor.worker.read.white_space import collapse

BITS = 3
"""Two pages are near-duplicates when their simhashes differ in at most so many bits."""
BANDS = 4
"""Parts of a simhash, 16 bits each: two that differ in three bits agree in at least one (pigeonhole principle)."""
SHINGLE = 4
"""Letters of a shingle."""
MIN_LETTERS = 32
"""A text of fewer letters has no simhash: it says too little for "nearly the same" to mean anything."""
MAX_LETTERS = 200_000
"""Characters of a text that are looked at."""

Hashes = npt.NDArray[np.uint64]
Points = npt.NDArray[np.uint8] | npt.NDArray[np.uint32]

_PRIME = np.uint64(0x100000001B3)
_PRIME_SQUARED = np.uint64(0x100000001B3**2 % 2**64)
_MIX = [
    (np.uint64(factor), np.uint64(shift))
    for factor, shift in ((0x9E3779B97F4A7C15, 33), (0xC2B2AE3D27D4EB4F, 29), (0x9E3779B97F4A7C15, 32))
]
_SUMMED = 32
"""Numbers whose bits are added up in bytes at a time."""
_WEIGHTS = np.array([1, 2, 4])
_PLANES = 0x20000
BLOCK = 16 * 1024
"""Numbers that are looked at at a time: what is made of them stays in the cache of a processor."""
_NO_LETTERS = bytes(point for point in range(128) if not (chr(point).isalnum() or chr(point) == "_"))
_WHITE = bytes(point for point in range(128) if chr(point).isspace() and chr(point) != " ")
_BAND_BITS = 64 // BANDS


def text_fingerprint(text: str) -> bytes:
    """16 bytes (XXH3, 128 bits) over a text whose white space counts as one space, and not at all at its ends."""
    # Most texts come with single spaces, which is seen faster than repaired. No other white space is printable.
    octets = text.encode("utf-8", "surrogatepass")
    plain = len(octets.translate(None, _WHITE)) == len(octets) if text.isascii() else text.isprintable()
    if not plain or "  " in text or text[:1] == " " or text[-1:] == " ":
        octets = collapse(text).encode("utf-8", "surrogatepass")
    return xxhash.xxh3_128_digest(octets)


def simhash64(text: str) -> int:
    """The simhash of a text; 0, which is neither stored nor looked up, for a text of fewer than 32 letters."""
    letters = _letters(text)
    if len(letters) < MIN_LETTERS:
        return 0
    count = len(letters) - SHINGLE + 1
    blocks = (letters[start : start + BLOCK + SHINGLE - 1] for start in range(0, count, BLOCK))
    return majority(map(shingle_hashes, blocks), count)


def distance(a: int, b: int) -> int:
    """How many bits differ."""
    return (a ^ b).bit_count()


def majority(blocks: Iterable[Hashes], count: int) -> int:
    """The number of 64 bits in which a bit is set if it is set in more than half of ``count`` numbers.

    They come in blocks of at most `BLOCK`.
    """
    counts = sum(map(_counts, blocks), np.zeros(64, np.int64))
    return int.from_bytes(np.packbits(2 * counts > count).tobytes(), "big")


def _counts(hashes: Hashes) -> npt.NDArray[np.int64]:
    """In how many of the numbers of a block each bit is set, the highest bit first.

    Full adders make of seven numbers, bit by bit, one of weight 1, 2 and 4 each. Then a byte a bit is enough to add up
    many of those. Most texts are so short that the number of calls is what counts.
    """
    words = np.zeros((7, _SUMMED * -(-len(hashes) // (7 * _SUMMED))), np.uint64)
    words.reshape(-1)[: len(hashes)] = hashes
    left, carried = _add(words[:2], words[2:4], words[4:6])
    ones, carry = _add(left[0], left[1], words[6])
    twos, fours = _add(carried[0], carried[1], carry)
    bits = np.unpackbits(np.concatenate((ones, twos, fours)).view(np.uint8)).view(np.uint64)
    bytewise = bits.reshape(3, _SUMMED, -1).sum(axis=1).view(np.uint8)
    counts: npt.NDArray[np.int64] = _WEIGHTS @ bytewise.reshape(3, -1, 64).sum(axis=1, dtype=np.int64)
    return counts.reshape(8, 8)[::-1].reshape(64)  # in memory a number begins with its low byte


def _add(a: Hashes, b: Hashes, c: Hashes) -> tuple[Hashes, Hashes]:
    """A full adder: of three numbers, bit by bit, one of their weight and one of twice the weight."""
    either = a ^ b
    return either ^ c, (a & b) | (either & c)


def _letters(text: str) -> Points:
    """The code points of the letters and digits of a text, lower case."""
    text = text[:MAX_LETTERS].lower()
    if text.isascii():
        return np.frombuffer(text.encode().translate(None, _NO_LETTERS), np.uint8)
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    return points[_is_letter().take(points, mode="clip")]


@cache
def _is_letter() -> npt.NDArray[np.bool_]:
    """By code point, what a regular expression's ``\\w`` matches; beyond the first two planes there is little else."""
    known = (chr(point).isalnum() or point == ord("_") for point in range(_PLANES))
    return np.append(np.fromiter(known, np.bool_, _PLANES), True)


def shingle_hashes(letters: Points) -> Hashes:
    """For letters a, b, c and d: ((a·p + b)·p + c)·p + d with a prime p, made of what pairs of letters give; mixed."""
    points = letters.astype(np.uint64)
    pairs = points[:-1] * _PRIME
    pairs += points[1:]
    hashes = pairs[:-2] * _PRIME_SQUARED
    hashes += pairs[2:]
    shifted = points[: len(hashes)]  # room that is not needed any more
    for factor, shift in _MIX:
        hashes *= factor
        hashes ^= np.right_shift(hashes, shift, out=shifted)
    return hashes


def bands(simhash: int) -> tuple[tuple[int, int], ...]:
    """The (table, key) pairs under which a simhash is stored and looked up: four tables, keys of 16 bits.

    Everything within three bits shares at least one pair with it; what shares one may be farther away.
    """
    mask = (1 << _BAND_BITS) - 1
    return tuple((table, simhash >> (_BAND_BITS * table) & mask) for table in range(BANDS))
