"""What was fetched ahead from one partition of a topic. Pure: the reader tells it what the consumer says."""

from collections import deque
from itertools import islice
from typing import Final

MOST: Final = 512
"""Records buffered before fetching pauses (a batch that comes just then is taken too): some 200 kB."""
FEW: Final = 256
"""Records that a read can count on, if they are there: fetching goes on when fewer are left."""

Raw = tuple[int, bytes]
"""Offset and value of a record."""


class PartitionBuffer:
    """Records from an offset on, in order, perhaps with gaps, as they are fetched. A read keeps them until the next.

    ``used`` is when it was last read, ``paused`` whether fetching is; both are the reader's.
    """

    def __init__(self, offset: int, now: float) -> None:
        """Begin at ``offset``; ``now`` is any monotonic time in seconds."""
        self.used = now
        self.paused = False
        self._first = offset
        self._position = offset
        self._buffer: deque[Raw] = deque()
        self._end: int | None = None

    @property
    def position(self) -> int:
        """The offset after the last record fetched."""
        return self._position

    def add(self, offset: int, value: bytes) -> bool:
        """A record was fetched; False when it is one from before."""
        if offset < self._position:
            return False
        self._buffer.append((offset, value))
        self._position = offset + 1
        self._end = None
        return True

    def reached_end(self, end: int) -> None:
        """Nothing is there from ``end`` on, for now. What lies below it and was not fetched is a gap."""
        if end >= self._position:
            self._position = self._end = end

    def move(self, offset: int) -> bool:
        """Forget what lies before ``offset``; False when the offset is none of what was or will next be fetched."""
        if not self._first <= offset <= self._position:
            return False
        while self._buffer and self._buffer[0][0] < offset:
            self._buffer.popleft()
        self._first = offset
        return True

    def take(self, limit: int, end: int) -> list[Raw] | None:
        """The first records, at most ``limit``; None when there may be more of them that must be waited for.

        ``end`` is the least offset that the topic is known to end at.
        """
        if len(self._buffer) >= min(limit, FEW) or (self._end is not None and self._end >= end):
            return self.rest(limit)
        return None

    def ends_before(self, end: int) -> bool:
        """Whether the topic ends below ``end``, as far as the consumer says."""
        return self._end is not None and self._end < end

    def rest(self, limit: int) -> list[Raw]:
        """The first records, at most ``limit``, of what is there."""
        return list(islice(self._buffer, limit))

    def should_pause(self) -> bool:
        """Whether fetching must pause."""
        return not self.paused and len(self._buffer) >= MOST

    def should_go_on(self) -> bool:
        """Whether fetching, paused, must go on before the next read."""
        return self.paused and len(self._buffer) < FEW
