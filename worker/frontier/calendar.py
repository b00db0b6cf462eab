"""The calendar of one partition as its owner sees it: which buckets hold entries, which are read, which may go. Pure.

A bucket is a number: unix seconds of the coordinator divided by the width. New entries go only to buckets that were not
read and are not past; only past buckets are read; a bucket is dropped when all that was read from it has finished.
"""

import heapq
import math
from collections.abc import Iterable
from typing import Final

FAR_BUCKET: Final = 2**53
MOST_BUCKETS: Final = 1_000_000
"""So many are known of a partition at most."""
MOST_OVERDUE: Final = 10_000
"""Where counting them ends, so that it takes a millisecond and not a second."""


class Calendar:
    """Buckets by number. `cursor` is the stored one: every bucket up to it was dropped."""

    def __init__(self, cursor: int, buckets: list[int], width: float, size: int) -> None:
        self.cursor = cursor
        self._width = width
        self._size = size
        self._last_read = cursor
        self._buckets = list(buckets)
        heapq.heapify(self._buckets)
        self._counts: dict[int, int] = dict.fromkeys(buckets, 0)
        self._pending: dict[int, int] = {}  # entries that are being written
        self._open: dict[int, int] = {}
        self._finished: list[int] = []

    def place(self, due: float, now: float) -> int:
        """The bucket for an entry that is due then; full buckets spill over.

        The bucket is not read before the caller says that the entry is `placed`, however long its writing takes.
        """
        first = max(self._last_read, self.cursor) + 1
        bucket = max(math.floor(due / self._width), math.floor(now / self._width), first)
        while self._counts.get(bucket, 0) >= self._size:
            bucket += 1
        if bucket not in self._counts:
            heapq.heappush(self._buckets, bucket)
        self._counts[bucket] = self._counts.get(bucket, 0) + 1
        self._pending[bucket] = self._pending.get(bucket, 0) + 1
        return bucket

    def learn(self, buckets: Iterable[int]) -> None:
        """Buckets that hold something, wherever they lie: those that were not known are read when they are past."""
        for bucket in buckets:
            if bucket not in self._counts and bucket not in self._open and bucket not in self._finished:
                self._counts[bucket] = 0
                heapq.heappush(self._buckets, bucket)

    def placed(self, bucket: int) -> None:
        """An entry was written."""
        self._pending[bucket] -= 1
        if not self._pending[bucket]:
            del self._pending[bucket]

    def next_due(self) -> float | None:
        """When (coordinator's time) the next bucket may be read."""
        return (self._buckets[0] + 1) * self._width if self._buckets else None

    def is_next(self, bucket: int) -> bool:
        """Whether it is the next one that may be read."""
        return bool(self._buckets) and self._buckets[0] == bucket

    def due(self, now: float) -> int | None:
        """A bucket that is wholly past and not read, now being read."""
        if not self._buckets or (self._buckets[0] + 1) * self._width > now or self._buckets[0] in self._pending:
            return None
        bucket = heapq.heappop(self._buckets)
        del self._counts[bucket]
        self._last_read = max(self._last_read, bucket)
        self._open[bucket] = 1  # held by its reader, so that the cursor cannot pass it meanwhile
        return bucket

    def opened(self, bucket: int, entries: int) -> None:
        """So many unfinished entries were read; the reader calls `finish` once for itself when it has them."""
        self._open[bucket] += entries

    def finish(self, bucket: int) -> None:
        """An entry's ticket finished."""
        self._open[bucket] -= 1
        if not self._open[bucket]:
            del self._open[bucket]
            self._finished.append(bucket)

    def finished(self) -> list[int]:
        """The buckets to drop."""
        return list(self._finished)

    def dropped(self, bucket: int) -> None:
        """A finished bucket was deleted."""
        self._finished.remove(bucket)

    def settled_up_to(self) -> int:
        """The cursor that may be stored: every bucket up to it was dropped."""
        unfinished = [*self._open, *self._finished]
        before = min(unfinished) - 1 if unfinished else self._last_read
        if self._buckets:
            before = min(before, self._buckets[0] - 1)
        return max(self.cursor, before)

    def overdue(self, now: float) -> int:
        """How many buckets may be read and are not, `MOST_OVERDUE` at most."""
        count, look_at = 0, [0]
        while look_at and count < MOST_OVERDUE:
            place = look_at.pop()
            if place < len(self._buckets) and (self._buckets[place] + 1) * self._width <= now:
                count += 1
                look_at += (2 * place + 1, 2 * place + 2)  # nothing below in the heap is earlier
        return count

    @property
    def held(self) -> int:
        """How many buckets hold entries, as far as this owner knows."""
        return len(self._counts) + len(self._open)

    @property
    def empty(self) -> bool:
        """Whether nothing is known to be in it."""
        return not (self._buckets or self._open or self._finished)
