"""Fingerprints of texts: exact ones, and simhashes that stay close when a text changes a little.

The simhash (Charikar 2002; Manku, Jain and Das Sarma 2007) has 64 bits over all runs of four letters of a text, as the
``simhash`` package takes them: lower case, everything but letters and digits left out, each run as often as it occurs.
Its value is that of ``Simhash(text, hashfunc=…)`` with the hash of a run that `simhashing` tells. That computes many at
once in long integers; where numpy is installed, `arrays` does the same in a fifth of the time. On the labelled
near-duplicates of the conformance data these features leave pairs 1.9 bits apart on average, three-word shingles 3.0;
they cost the same, and scripts without spaces between words need no special treatment.
"""

from collections.abc import Callable
from functools import cache

import xxhash

from gregor.worker.read import sketches
from gregor.worker.read.native import LETTERS, Core, table_of_letters
from gregor.worker.read.native import core as installed
from gregor.worker.read.simhashing import hashed
from gregor.worker.read.white_space import collapse

BANDS = 4
"""Parts of a simhash, 16 bits each: two that differ in three bits agree in at least one (pigeonhole principle).
Near-duplicates are told by sketches, see there."""
MIN_LETTERS = 32
"""A text of fewer letters has no simhash: it says too little for "nearly the same" to mean anything."""
MAX_LETTERS = 200_000
"""Characters of a text that are looked at."""

_NO_LETTERS = bytes(point for point in range(128) if not (chr(point).isalnum() or chr(point) == "_"))
_WHITE = bytes(point for point in range(128) if chr(point).isspace() and chr(point) != " ")
_BAND_BITS = 64 // BANDS


def words_of(title: str | None, text: str) -> str:
    """What fingerprints, simhash and sketch of a page are made of."""
    return f"{title} {text}" if title else text


def text_fingerprint(text: str, core: Core | None = None) -> bytes:
    """16 bytes (XXH3, 128 bits) over a text whose white space counts as one space, and not at all at its ends.

    ``core`` computes it natively.
    """
    if core is not None:
        return core.text_fingerprint(text)
    # Most texts come with single spaces, which is seen faster than repaired. No other white space is printable.
    octets = text.encode("utf-8", "surrogatepass")
    plain = len(octets.translate(None, _WHITE)) == len(octets) if text.isascii() else text.isprintable()
    if not plain or "  " in text or text[:1] == " " or text[-1:] == " ":
        octets = collapse(text).encode("utf-8", "surrogatepass")
    return xxhash.xxh3_128_digest(octets)


def sketch_of(text: str) -> bytes:
    """The sketch of a text, see `sketches`; empty for a text of fewer than 32 letters."""
    return simhash_and_sketch(text, installed())[1]


def simhash_and_sketch(text: str, core: Core | None = None) -> tuple[int, bytes]:
    """Both, of which much is the same work; 0 and nothing for a text of fewer than 32 letters.

    ``core`` computes them natively.
    """
    text = text[:MAX_LETTERS].lower()
    if core is not None:
        return core.simhash_and_sketch(text, table_of_letters())
    letters: str | bytes
    if text.isascii():
        letters = octets = text.encode().translate(None, _NO_LETTERS)
        width = 1
    else:
        letters = "".join(LETTERS.findall(text))
        octets, width = letters.encode("utf-32-le", "surrogatepass"), 4
    if len(letters) < MIN_LETTERS:
        return 0, b""
    return way()(letters, octets, width)


@cache
def way() -> Callable[[str | bytes, bytes, int], tuple[int, bytes]]:
    """What computes simhash and sketch of letters that are given as such, and as code points of so many octets each;
    chosen when it is asked for first, since numpy takes a tenth of a second to load and few commands need it."""
    try:
        from gregor.worker.read import arrays
    except ImportError:
        return in_integers
    return arrays.simhash_and_sketch


def in_integers(letters: str | bytes, octets: bytes, width: int) -> tuple[int, bytes]:
    """The same without numpy."""
    simhash, tops = hashed(octets, width)
    return simhash, sketches.of_runs(letters, tops)


def distance(a: int, b: int) -> int:
    """How many bits differ."""
    return (a ^ b).bit_count()


def bands(simhash: int) -> tuple[tuple[int, int], ...]:
    """The (table, key) pairs under which a simhash is stored and looked up: four tables, keys of 16 bits.

    Everything within three bits shares at least one pair with it; what shares one may be farther away.
    """
    mask = (1 << _BAND_BITS) - 1
    return tuple((table, simhash >> (_BAND_BITS * table) & mask) for table in range(BANDS))
