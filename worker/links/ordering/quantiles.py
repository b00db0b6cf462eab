"""Running quantiles of what is met: which part of it is higher than a number. Pure, bounded in memory."""

from bisect import bisect_left
from typing import Final

SAMPLE: Final = 1024
"""Numbers that are remembered, the last ones."""
EVERY: Final = 64
"""After so many further ones the borders are set anew, sooner while there are few."""
BANDS: Final = (1 / 256, 1 / 128, 1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 3 / 4)
"""What is higher than such a share of all has a band, the first being the best; what is in none has one more."""
QUEUES: Final = (1 / 16, 1 / 4, 1 / 2)
"""The same for the first three front queues."""


class RunningQuantiles:
    """Of the last numbers that were noted."""

    def __init__(self) -> None:
        self._numbers: list[float] = []
        self._next = 0
        self._unsorted = 0
        self._bands: list[float] = []
        self._queues: list[float] = []

    def note(self, number: float) -> None:
        """A number was met."""
        if len(self._numbers) < SAMPLE:
            self._numbers.append(number)
        else:
            self._numbers[self._next] = number
            self._next = (self._next + 1) % SAMPLE
        self._unsorted += 1
        if self._unsorted >= min(EVERY, 1 + len(self._numbers) // 4):
            self._unsorted = 0
            ordered = sorted(self._numbers)
            self._bands = [_border(ordered, share) for share in reversed(BANDS)]
            self._queues = [_border(ordered, share) for share in reversed(QUEUES)]

    def band(self, number: float) -> int:
        """The band of a number: 0 is the best, ``len(BANDS)`` the last one."""
        return len(BANDS) - bisect_left(self._bands, number) if self._bands else len(BANDS)

    def queue(self, number: float) -> int:
        """The front queue of a number, 1 to 4."""
        return 1 + len(QUEUES) - bisect_left(self._queues, number) if self._queues else 1 + len(QUEUES)

    def least(self, queue: int) -> float | None:
        """What is higher than this is in that front queue or a better one; None where nothing is known, or for the
        last."""
        return self._queues[len(QUEUES) - queue] if self._queues and queue <= len(QUEUES) else None

    @property
    def borders(self) -> dict[str, float]:
        """The least numbers of the first three front queues, by their names."""
        return {str(queue): least for queue in (1, 2, 3) if (least := self.least(queue)) is not None}


def _border(ordered: list[float], share: float) -> float:
    """The number above which that share of an ascending list lies, its best one at least."""
    return ordered[min(len(ordered) - 1, int(len(ordered) * (1.0 - share)))]
