"""A table of Cassandra in equal ranges of tokens (Murmur3), which may be read at once, by several processes."""

from typing import Final

RANGES: Final = 256
"""Enough that processes end together, and few enough that empty ones cost nothing."""
_LEAST: Final = -(1 << 63)
_ALL: Final = (1 << 64) - 1


def bounds(number: int) -> tuple[int, int]:
    """The tokens of a range: above the first, up to the second. None has the least token of all."""
    return _LEAST + _ALL * number // RANGES, _LEAST + _ALL * (number + 1) // RANGES
