"""What whoever writes an index counts and measures."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from gregor.worker.observe.timing import Timing


@dataclass
class IndexStats:
    """Since the process began. ``behind``: records of the crawl, and of the index workers' own, that are not taken in;
    ``seconds_behind``: how old what was taken in last is, where there is more; 0 otherwise. ``steps``: of the
    work."""

    changes: int = 0
    documents: int = 0
    removed: int = 0
    failures: int = 0
    refused: int = 0
    partitions: int = 0
    behind: dict[str, int] = field(default_factory=dict)
    seconds_behind: float = 0.0
    steps: Timing = field(default_factory=Timing)


class Lateness:
    """How old what was taken in last is, of partitions in which there is more. Times are unix seconds.

    A partition of which nothing was left at a look is late from then on, however long ago it was told of anything; one
    of which nothing was taken in yet, from the first look.
    """

    def __init__(self) -> None:
        self._clear: dict[int, float] = {}
        self._first: dict[int, float] = {}

    def seconds(self, left: Mapping[int, int], told_at: Mapping[int, float], now: float) -> float:
        """Of the worst. ``left``: records that are not taken in, of each partition of whoever asks; ``told_at``: when
        the last was told that was taken in, of some."""
        self._first = {partition: self._first.get(partition, now) for partition in left}
        self._clear = {partition: at for partition, at in self._clear.items() if partition in left}
        self._clear |= {partition: now for partition, count in left.items() if not count}
        late = [
            now - (max(self._clear.get(partition, 0.0), told_at.get(partition, 0.0)) or self._first[partition])
            for partition, count in left.items()
            if count
        ]
        return max(0.0, *late) if late else 0.0
