"""The watermark of one topic of one partition: the highest offset below which everything is finished. Pure."""

from collections import OrderedDict
from typing import Generic, TypeVar

T = TypeVar("T")


class Watermark(Generic[T]):
    """Offsets are read in ascending order, with gaps, and finish in any order. ``T`` is what an open offset carries."""

    def __init__(self, start: int) -> None:
        self.position = start
        self._open: OrderedDict[int, T] = OrderedDict()

    @property
    def low(self) -> int:
        """What may be committed: every record below it is finished."""
        return next(iter(self._open)) if self._open else self.position

    @property
    def span(self) -> int:
        """From the watermark to the read position, in offsets."""
        return self.position - self.low

    def read(self, offset: int, carried: T) -> None:
        """A record was read. Raises `ValueError` when it goes back: an offset is read once."""
        if offset < self.position:
            raise ValueError(f"offset {offset} was read before (position {self.position})")
        self._open[offset] = carried
        self.position = offset + 1

    def finish(self, offset: int) -> None:
        """A record is finished; finishing twice changes nothing."""
        self._open.pop(offset, None)

    def oldest(self, count: int) -> list[T]:
        """What the oldest open offsets carry."""
        return [carried for carried, _ in zip(self._open.values(), range(count), strict=False)]

    def __len__(self) -> int:
        return len(self._open)
