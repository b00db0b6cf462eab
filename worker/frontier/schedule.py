"""Which host's turn is next: a heap by due time over all partitions of a worker. Pure; times are monotonic seconds."""

import heapq
import math
from collections import OrderedDict
from collections.abc import Callable
from typing import Final, Generic, Protocol, TypeAlias, TypeVar

from gregor.worker.frontier.host import Host
from gregor.worker.frontier.partition import Partition
from gregor.worker.observe.timing import Crowd

SOON: Final = 0.5
"""Seconds: a worker with no turn due until then is idle."""


EACH: Final = 4
"""While hosts that were begun are due, every such turn goes to a host that was not: its robots.txt can wait."""


STALE: Final = 1000
"""Entries that no longer hold of hosts that are due, at least, before they are cleared away."""


class Scheduled(Protocol):
    """A host in the schedule; `ticketed` is the sequence number of its one valid entry, 0 when it has none."""

    ticketed: int


H = TypeVar("H", bound=Scheduled)
DueHost: TypeAlias = tuple[float, int, H]


class Schedule(Generic[H]):
    """A host has at most one valid entry; it is taken out while it is visited, which makes politeness structural."""

    def __init__(self) -> None:
        self._heap: list[DueHost[H]] = []
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
        heapq.heappush(self._heap_of(host), (due, self._sequence, host))

    def remove(self, host: H) -> None:
        """Take a host out, wherever it stands."""
        if host.ticketed:
            host.ticketed = 0
            self._size -= 1

    def next_due(self) -> float | None:
        """When the next turn is due; None when no host is scheduled."""
        return first_due(self._heap)

    def take(self, now: float) -> H | None:
        """The host whose turn is due first, taken out; None when none is due."""
        return self._taken(self._heap, now)

    def _heap_of(self, host: H) -> list[DueHost[H]]:
        """Where a host stands."""
        return self._heap

    def _taken(self, heap: list[DueHost[H]], now: float) -> H | None:
        due = first_due(heap)
        if due is None or due > now:
            return None
        host = heapq.heappop(heap)[2]
        self.remove(host)
        return host

    def near(self, count: int) -> list[H]:
        """Some of the hosts whose turns come near."""
        return [host for _, sequence, host in self._heap[:count] if sequence == host.ticketed]


def first_due(heap: list[DueHost[H]]) -> float | None:
    """When the first entry that holds is due; None without one. Those before it are dropped."""
    while heap and heap[0][1] != heap[0][2].ticketed:
        heapq.heappop(heap)
    return heap[0][0] if heap else None


class HostSchedule(Schedule[Host]):
    """The hosts of a worker that have something to do.

    Hosts that were begun go first: else the robots.txt of all hosts that ever were found would be asked for before the
    first page, and long before most of them are needed. Now and then one that is fresh goes first all the same, so that
    none waits for ever. Where hosts are compared by what their next URLs are worth, of those that are due the best goes
    first, and every `EACH`-th turn is that of the host which waits longest.
    """

    def __init__(self, monotonic: Callable[[], float], changed: Callable[[], None]) -> None:
        """``changed`` is told when a host was scheduled, which may be due before all others."""
        super().__init__()
        self._monotonic = monotonic
        self._changed = changed
        self.idle = False  # capacity is free, and no turn is due soon
        self._waiting = Crowd(monotonic)
        self._fresh: list[DueHost[Host]] = []  # those that were not asked for anything yet
        self._contested = 0
        self.worth: Callable[[Host], float] | None = None
        """What the next URL of a host is worth, where hosts are compared by that."""
        self._ready: list[DueHost[Host]] = []  # then those that are due, the best first
        self._longest: OrderedDict[Host, None] = OrderedDict()  # and the same by how long they wait

    @property
    def waited(self) -> float:
        """Seconds that all hosts together waited for their turns."""
        return self._waiting.seconds

    def put(self, host: Host, due: float) -> None:
        """Schedule a host's turn, in the place of an earlier entry."""
        if not host.ticketed:
            self._waiting.changes(1)
        if host in self._longest and due > self._monotonic():
            del self._longest[host]
        super().put(host, due)

    def remove(self, host: Host) -> None:
        """Take a host out, wherever it stands."""
        if host.ticketed:
            self._waiting.changes(-1)
            self._longest.pop(host, None)
        super().remove(host)

    def next_due(self) -> float | None:
        """When the next turn is due; None when no host is scheduled."""
        if self.worth is not None and first_due(self._ready) is not None:
            return 0.0  # it is due, since whenever
        begun, fresh = first_due(self._heap), first_due(self._fresh)
        return fresh if begun is None else begun if fresh is None else min(begun, fresh)

    def take(self, now: float) -> Host | None:
        """The host whose turn is next of those that are due, taken out; None when none is due."""
        if self.worth is not None:
            return self._taken_by_worth(self.worth, now)
        fresh = first_due(self._fresh)
        if fresh is None or fresh > now:
            return self._taken(self._heap, now)
        begun = first_due(self._heap)
        if begun is None or begun > now:
            return self._taken(self._fresh, now)
        self._contested += 1
        return self._taken(self._heap if self._contested % EACH else self._fresh, now)

    def _taken_by_worth(self, worth: Callable[[Host], float], now: float) -> Host | None:
        for heap in (self._heap, self._fresh):
            while (due := first_due(heap)) is not None and due <= now:
                _, sequence, host = heapq.heappop(heap)
                heapq.heappush(self._ready, (-worth(host), sequence, host))
                self._longest.setdefault(host)
        if len(self._ready) > STALE + 2 * len(self._longest):  # what no longer holds may stand behind the best for ever
            self._ready = [entry for entry in self._ready if entry[1] == entry[2].ticketed]
            heapq.heapify(self._ready)
        self._contested += 1
        if self._contested % EACH or not self._longest:
            return self._taken(self._ready, math.inf)
        host = next(iter(self._longest))
        self.remove(host)
        return host

    def near(self, count: int) -> list[Host]:
        """Some of the hosts whose turns come near, so many that were begun and so many that were not."""
        several = (*self._ready[:count], *self._heap[:count], *self._fresh[:count])
        return [host for _, sequence, host in several if sequence == host.ticketed]

    def _heap_of(self, host: Host) -> list[DueHost[Host]]:
        return self._fresh if host.last_start == -math.inf else self._heap

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
