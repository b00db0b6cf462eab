"""Simhashes in memory, found by the bands under which the stores keep them."""

from collections import defaultdict
from collections.abc import Iterable

from gregor.worker.read.fingerprints import BANDS, bands, distance

BITS = BANDS - 1
"""Simhashes that differ in at most so many bits share a band."""


class Neighbours:
    """A set of simhashes; 0 means "no simhash", and is left out by whoever adds or asks."""

    def __init__(self, simhashes: Iterable[int] = ()) -> None:
        self._by_band: defaultdict[tuple[int, int], set[int]] = defaultdict(set)
        for simhash in simhashes:
            self.add(simhash)

    def add(self, simhash: int) -> None:
        """One more."""
        for band in bands(simhash):
            self._by_band[band].add(simhash)

    def near(self, simhash: int) -> set[int]:
        """Those within three bits, itself included if it is there."""
        candidates = set[int]().union(*(self._by_band.get(band, ()) for band in bands(simhash)))
        return {other for other in candidates if distance(simhash, other) <= BITS}
