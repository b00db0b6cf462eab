"""Simhash and sketch of a text by numpy: the values of `simhashing` and `sketches`, in a fifth of their time.

Imported only where numpy is installed (the extra ``fast``), by `fingerprints`.
"""

from typing import Final

import numpy as np
import numpy.typing as npt
from xxhash import xxh3_64_intdigest

from gregor.worker.read import sketches
from gregor.worker.read.simhashing import MIXED, PRIME, SHINGLE

Uint64Array = npt.NDArray[np.uint64]

BLOCK: Final = 8 * 1024
"""Hashes whose bits are counted at a time: what is made of them stays in the second cache of a processor."""
_SUMMED: Final = 64
"""Numbers whose bits are added up in one byte each; at most 255."""
_PRIME: Final = np.uint64(PRIME)
_PRIME_SQUARED: Final = np.uint64(PRIME**2 % 2**64)
_MIXED: Final = [(np.uint64(factor), np.uint64(shift)) for factor, shift in MIXED]
_HALF: Final = np.uint64(32)
_LOW_HALF: Final = np.uint64(2**32 - 1)
_TOP: Final = np.uint64(0xFF << 56)
_OCTET: Final = np.uint64(8)
_BINS: Final = np.arange(sketches.BINS)
_BIN: Final = np.uint64(sketches.BINS - 1)
_BIN_BITS: Final = np.uint64(sketches.BINS.bit_length() - 1)
_MARK: Final = np.uint64(15)
_KEY_PLACES: Final = np.arange(sketches.KEYS, dtype=np.uint64)
_KEY_MIX: Final = np.uint64(sketches.MIX)
_KEY_SHIFT: Final = np.uint64(33)

# XXH3 of 9 to 16 bytes (xxHash specification): what of its secret is mixed in, the length, and how it ends.
_EIGHTS: Final = np.array([[0], [sketches.RUN - 8]])
_FLIPS: Final = np.array([[0x6782737BEA4239B9], [0xAF56BC3B0996523A]], np.uint64)
_LENGTH: Final = np.uint64(sketches.RUN)
_END_FACTOR: Final = np.uint64(0x165667919E3779F9)
_END_SHIFTS: Final = (np.uint64(37), np.uint64(32))


def simhash_and_sketch(letters: str | bytes, octets: bytes, width: int) -> tuple[int, bytes]:
    """As `simhashing.hashed` and `sketches.of_runs` have them. There are at least four letters; ``octets``: the same,
    as code points of ``width`` octets each (1 or 4), low octet first."""
    hashes = _hashes(np.frombuffer(octets, f"<u{width}"))
    return _majority(hashes), _sketch(letters, octets, hashes)


def _hashes(points: npt.NDArray[np.unsignedinteger]) -> Uint64Array:
    """The hash of each run of four letters, made of what pairs of letters give."""
    letters = points.astype(np.uint64)
    pairs = letters[:-1] * _PRIME
    pairs += letters[1:]
    hashes = pairs[: 1 - SHINGLE + 1] * _PRIME_SQUARED
    hashes += pairs[SHINGLE - 2 :]
    shifted = letters[: len(hashes)]  # room that is not needed any more
    for factor, shift in _MIXED:
        hashes *= factor
        hashes ^= np.right_shift(hashes, shift, out=shifted)
    return hashes


def _majority(hashes: Uint64Array) -> int:
    """The 64 bits of which each is set in more than half of the numbers."""
    counts = sum(_counts(hashes[start : start + BLOCK]) for start in range(0, len(hashes), BLOCK))
    return int.from_bytes(np.packbits(2 * counts > len(hashes)).tobytes()[::-1])


def _counts(hashes: Uint64Array) -> npt.NDArray[np.int64]:
    """In how many numbers each bit is set; the lowest octet first, of each its highest bit."""
    numbers = np.zeros((_SUMMED, -(-len(hashes) // _SUMMED)), "<u8")
    numbers.reshape(-1)[: len(hashes)] = hashes
    bits = np.unpackbits(numbers.view(np.uint8)).view(np.uint64).reshape(_SUMMED, -1)  # an octet each, eight at a time
    octets = bits.sum(axis=0).view(np.uint8)
    counts: npt.NDArray[np.int64] = octets.reshape(-1, 64).sum(axis=0, dtype=np.int64)
    return counts


def _sketch(letters: str | bytes, octets: bytes, hashes: Uint64Array) -> bytes:
    count = len(hashes) - (sketches.RUN - SHINGLE)
    if count <= 0:
        return b""
    hashes = hashes[:count]
    last = sketches.last_looked_at(count)
    numbers, different = _least(letters, octets, hashes, last)
    while different < sketches.ENOUGH and last < 255:
        last = sketches.more(last)
        numbers, different = _least(letters, octets, hashes, last)
    least, filled = np.zeros(sketches.BINS, np.uint64), np.zeros(sketches.BINS, np.bool_)
    bins = (numbers & _BIN).astype(np.intp)
    least[bins] = numbers  # of several for one bin the last stays
    filled[bins] = True
    if not filled.all():
        places = filled.nonzero()[0]
        least = least[places[places.searchsorted(_BINS) % len(places)]]
    marks = (least >> _BIN_BITS & _MARK).astype(np.uint8)
    keys = (least[: 2 * sketches.KEYS : 2] * _KEY_MIX + least[1 : 2 * sketches.KEYS : 2]) * _KEY_MIX + _KEY_PLACES
    keys = keys * _KEY_MIX >> _KEY_SHIFT
    return keys.astype("<u4").tobytes() + (marks[::2] << 4 | marks[1::2]).tobytes()


def _least(letters: str | bytes, octets: bytes, hashes: Uint64Array, last: int) -> tuple[Uint64Array, int]:
    """The hashes of the runs whose first octet is up to ``last``, the greatest first; and how many are different."""
    starts = np.flatnonzero(hashes <= np.uint64((last << 56) + 2**56 - 1))
    if isinstance(letters, bytes):
        digests = _digests(octets, starts)
    else:
        runs = (letters[start : start + sketches.RUN].encode("utf-8", "surrogatepass") for start in starts.tolist())
        digests = np.fromiter(map(xxh3_64_intdigest, runs), np.uint64, len(starts))
    digests >>= _OCTET
    numbers = hashes[starts]
    numbers &= _TOP
    numbers |= digests
    numbers.sort()
    return numbers[::-1], len(numbers) and 1 + int(np.count_nonzero(numbers[1:] != numbers[:-1]))


def _digests(octets: bytes, starts: npt.NDArray[np.intp]) -> Uint64Array:
    """The 64-bit XXH3 of each run of 12 octets that begins at one of these."""
    eights = np.ndarray(len(octets) - 7, "<u8", octets, strides=(1,))
    both = eights[starts + _EIGHTS]  # the first eight octets of each run, and the last
    both ^= _FLIPS
    first, last = both
    digests: Uint64Array = first * last
    digests ^= _high(both)
    digests += first.byteswap()
    digests += last
    digests += _LENGTH
    digests ^= digests >> _END_SHIFTS[0]
    digests *= _END_FACTOR
    digests ^= digests >> _END_SHIFTS[1]
    return digests


def _high(both: Uint64Array) -> Uint64Array:
    """The high half of each product of 128 bits."""
    (a_low, b_low), (a_high, b_high) = both & _LOW_HALF, both >> _HALF
    carried: Uint64Array = a_low * b_low
    carried >>= _HALF
    mixed = a_high * b_low
    carried += mixed & _LOW_HALF
    carried += a_low * b_high
    carried >>= _HALF
    mixed >>= _HALF
    carried += mixed
    carried += a_high * b_high
    return carried
