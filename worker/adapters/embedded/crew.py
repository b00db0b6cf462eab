"""The processes of one crawl in one data folder: whose partitions are whose, and what they count together.

The process that began the others holds the folder, and its lock is theirs, too: nobody else can have the folder before
the last of them has ended. Of two that have the same place the second begins when the first has ended, so that a
partition has one owner at any moment; no clock has a say in that.
"""

import fcntl
import mmap
import os
import struct
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import msgspec

from gregor.worker.borders.counted_together import Beside

_FIELDS: Final = struct.Struct("=qqd")
"""Of a process: visits that run, pages that this run visited there (both by all that had its place), its last beat."""


class ProcessPlace(msgspec.Struct, frozen=True):
    """The place of a process among ``of``, from 0 on. ``origin``: the crawl's time less the monotonic one; ``lock`` and
    ``board``: descriptors that it inherits, of the folder's lock and of the `Board`."""

    number: int
    of: int
    origin: float
    lock: int
    board: int

    def has(self, partition: int) -> bool:
        """Whether a partition is this process's."""
        return place_of(partition, self.of) == self.number


def place_of(partition: int, places: int) -> int:
    """Which of so many processes has a partition."""
    return partition % places


class Board:
    """What each process has counted, in memory that all of them share."""

    def __init__(self, descriptor: int, places: int) -> None:
        self.descriptor = descriptor
        self.places = places
        self._memory = mmap.mmap(descriptor, places * _FIELDS.size)

    @classmethod
    def make(cls, places: int) -> "Board":
        """An empty one; it ends with the last process that has it. Raises `OSError`."""
        with tempfile.TemporaryFile() as file:
            file.truncate(places * _FIELDS.size)
            return cls(os.dup(file.fileno()), places)

    def put(self, place: int, running: int, visited: int) -> Beside:
        """Say what one process has; what all others have, as one step."""
        with self._alone():
            beat = self._read(place)[2]
            _FIELDS.pack_into(self._memory, place * _FIELDS.size, running, visited, beat)
            others = [self._read(other) for other in range(self.places) if other != place]
        return Beside(sum(running for running, _, _ in others), sum(visited for _, visited, _ in others))

    def visited(self, place: int) -> int:
        """How many pages this run visited at a place."""
        return self._read(place)[1]

    def beat(self, place: int, at: float) -> None:
        """A process is well at a monotonic time."""
        struct.pack_into("=d", self._memory, place * _FIELDS.size + 16, at)

    def last_beat(self, place: int) -> float:
        """When a process was well last, monotonic time."""
        return self._read(place)[2]

    def free(self, place: int) -> None:
        """Its process has ended: none of its visits runs."""
        self.put(place, 0, self.visited(place))

    def close(self) -> None:
        """This process needs it no more."""
        self._memory.close()
        os.close(self.descriptor)

    def _read(self, place: int) -> tuple[int, int, float]:
        running, visited, beat = _FIELDS.unpack_from(self._memory, place * _FIELDS.size)
        return running, visited, beat

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Locks of this kind are a process's, though the descriptor is inherited; they go with it."""
        fcntl.lockf(self.descriptor, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.lockf(self.descriptor, fcntl.LOCK_UN)
