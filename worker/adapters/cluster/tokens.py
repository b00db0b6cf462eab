"""A table of Cassandra in equal ranges of tokens (Murmur3), which may be read at once, by several processes."""

from collections.abc import AsyncIterator, Iterable
from typing import Final

from gregor.worker.adapters.cluster.cassandra_client import Cassandra, ResultRows
from gregor.worker.base.streams import merged

RANGES: Final = 256
"""Enough that processes end together, and few enough that empty ones cost nothing."""
_LEAST: Final = -(1 << 63)
_ALL: Final = (1 << 64) - 1


def bounds(number: int) -> tuple[int, int]:
    """The tokens of a range: above the first, up to the second. None has the least token of all."""
    return _LEAST + _ALL * number // RANGES, _LEAST + _ALL * (number + 1) // RANGES


def scanned(
    cassandra: Cassandra, statement: str, size: int, at_once: int, ranges: Iterable[int] = range(RANGES)
) -> AsyncIterator[ResultRows]:
    """What a statement finds between the tokens of ranges, at most ``size`` records at a time, in any order; so many
    ranges are read ``at_once``."""
    return merged((cassandra.pages(statement, bounds(number), size) for number in ranges), at_once)
