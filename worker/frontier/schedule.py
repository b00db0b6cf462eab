"""Which host's turn is next: a heap by due time over all partitions of a worker. Pure; times are monotonic seconds."""

import heapq
from collections.abc import Callable
from typing import Final, Generic, Protocol, TypeVar

from gregor.worker.frontier.host import Host
from gregor.worker.frontier.partition import Partition
from gregor.worker.observe.timing import Crowd

SOON: Final = 0.5
"""Seconds: a worker with no turn due until then is idle."""


class Scheduled(Protocol):
    """A host in the schedule; `ticketed` is the sequence number of its one valid entry, 0 when it has none."""

    ticketed: int


H = TypeVar("H", bound=Scheduled)


class Schedule(Generic[H]):
    """A host has at most one valid entry; it is taken out while it is visited, which makes politeness structural."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, H]] = []
        self._sequence = 0
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def put(self, host: H, due: float) -> None:
        """Schedule a host's turn, in the place of an earlier entry."""
        if not host.ticketed:
            self._size += 1
        self._sequence += 1
        host.ticketed = self._sequence
        heapq.heappush(self._heap, (due, self._sequence, host))

    def remove(self, host: H) -> None:
        """Take a host out, wherever it stands."""
        if host.ticketed:
            host.ticketed = 0
            self._size -= 1

    def next_due(self) -> float | None:
        """When the next turn is due; None when no host is scheduled."""
        while self._heap and self._heap[0][1] != self._heap[0][2].ticketed:
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def take(self, now: float) -> H | None:
        """The host whose turn is due first, taken out; None when none is due."""
        due = self.next_due()
        if due is None or due > now:
            return None
        host = heapq.heappop(self._heap)[2]
        self.remove(host)
        return host

    def near(self, count: int) -> list[H]:
        """Some of the hosts whose turns come near."""
        return [host for _, sequence, host in self._heap[:count] if sequence == host.ticketed]


class HostSchedule(Schedule[Host]):
    """The hosts of a worker that have something to do."""

    def __init__(self, monotonic: Callable[[], float], changed: Callable[[], None]) -> None:
        """``changed`` is told when a host was scheduled, which may be due before all others."""
        super().__init__()
        self._monotonic = monotonic
        self._changed = changed
        self.idle = False  # capacity is free, and no turn is due soon
        self._waiting = Crowd(monotonic)

    @property
    def waited(self) -> float:
        """Seconds that all hosts together waited for their turns."""
        return self._waiting.seconds

    def put(self, host: Host, due: float) -> None:
        """Schedule a host's turn, in the place of an earlier entry."""
        if not host.ticketed:
            self._waiting.changes(1)
        super().put(host, due)

    def remove(self, host: Host) -> None:
        """Take a host out, wherever it stands."""
        if host.ticketed:
            self._waiting.changes(-1)
        super().remove(host)

    def see(self, partition: Partition, host: Host) -> None:
        """Schedule a host's turn if it has something to do."""
        if host.alive and not host.busy:
            if host.queue:
                self.put(host, host.next_turn)
                self._changed()
            else:
                partition.forget_idle(self._monotonic())

    def judge_idle(self, capacity: bool, now: float) -> None:
        """Whether the worker idles at ``now``; ``capacity``: more visits may run."""
        due = self.next_due()
        self.idle = capacity and (due is None or due > now + SOON)
