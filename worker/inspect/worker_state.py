"""What a worker is doing now, for metrics, API and console. Read on the worker's event loop; changes nothing."""

from collections import Counter
from collections.abc import Iterator
from typing import Final, Literal

from msgspec import Struct

from gregor import __version__
from gregor.schemas.messages import PRIORITIES
from gregor.worker.borders.errors import Unavailable
from gregor.worker.borders.members import Members, Owner, Worker
from gregor.worker.config.settings import Config
from gregor.worker.extract.drift import Fallen, fallen
from gregor.worker.frontier.partition import Partition
from gregor.worker.inspect.host_views import HOST_STATES, state_of
from gregor.worker.inspect.rates import Rates
from gregor.worker.observe.bottleneck import ADVICE
from gregor.worker.orders.model import Orders
from gregor.worker.run.runtime import Runtime

LAG_SECONDS: Final = 5.0
"""How old the ends of the log may be that a lag is told by."""
_SILENCE: Final = 30.0
_COUNT_AGAIN: Final = 1.0
_LOOK_AGAIN: Final = 10.0


WorkerState = Literal["starting", "crawling", "paused", "drained", "stopping", "stopped"]
"""stopped: nothing crawls; only what is kept is shown."""


class Condition(Struct, frozen=True):
    """One worker at one moment. Durations are seconds. ``overdue``: how late the oldest of the
    ``due`` buckets of the calendar is. ``drift``: fields of rules that must have a value and have it no more."""

    crawl: str
    worker: str
    version: str
    state: WorkerState
    limit: str
    limiting: str
    advice: str
    seconds: float
    partitions: int
    running: int
    concurrency: int
    hosts: dict[str, int]
    back_queues: int
    front_queues: dict[int, int]
    window: dict[int, int]
    buckets: int
    due: int
    overdue: float
    drift: tuple[Fallen, ...] = ()


def _state_of(runtime: Runtime, orders: Orders) -> WorkerState:
    if runtime.ending is not None:
        return "stopping"
    if orders.drains(runtime.name):
        return "drained"
    if orders.paused:
        return "paused"
    return "crawling" if runtime.stats.started else "starting"


def partitions(runtime: Runtime) -> Iterator[Partition]:
    """The partitions it owns."""
    return (owned.crawl.partition for owned in runtime.owned.values())


def look(runtime: Runtime, config: Config, monotonic: float) -> Condition:
    """How it is at a monotonic time."""
    stats, owned = runtime.stats, list(partitions(runtime))
    now, orders = runtime.services.coordinator.now(), runtime.orders.latest
    due = [at for partition in owned if (at := partition.calendar.next_due()) is not None]
    state = _state_of(runtime, orders)
    return Condition(
        crawl=config.crawl,
        worker=runtime.name,
        version=__version__,
        state=state,
        limit=stats.limit,
        limiting=stats.limiting,
        advice=ADVICE[stats.limit],
        seconds=max(0.0, monotonic - stats.started) if stats.started else 0.0,
        partitions=len(owned),
        running=stats.running,
        concurrency=runtime.concurrency,
        hosts=host_states(runtime, monotonic),
        back_queues=sum(partition.size for partition in owned),
        front_queues={p: sum(partition.load[p] for partition in owned) for p in PRIORITIES},
        window={p: sum(partition.marks[p].span for partition in owned) for p in PRIORITIES},
        buckets=sum(partition.calendar.held for partition in owned),
        due=sum(partition.calendar.overdue(now) for partition in owned),
        overdue=max(0.0, now - min(due)) if due else 0.0,
        drift=drift(runtime, monotonic),
    )


def drift(runtime: Runtime, monotonic: float) -> tuple[Fallen, ...]:
    """Fields that have fallen away on the pages of its partitions; looked at every ten seconds at most."""
    stats = runtime.stats
    if monotonic - stats.drift_at >= _LOOK_AGAIN:
        stats.drift, stats.drift_at = fallen(partition.fields.kept() for partition in partitions(runtime)), monotonic
    return stats.drift


def host_states(runtime: Runtime, monotonic: float) -> dict[str, int]:
    """How many hosts are in each state; counted once a second at most, however often it is asked for."""
    stats, orders = runtime.stats, runtime.orders
    if monotonic - stats.host_states_at >= _COUNT_AGAIN:
        now = runtime.services.coordinator.now()
        counts = Counter(
            state_of(host, orders, now) for partition in partitions(runtime) for host in partition.hosts.values()
        )
        stats.host_states, stats.host_states_at = {state: counts[state] for state in HOST_STATES}, monotonic
    return stats.host_states


def alone(runtime: Runtime, config: Config, rates: Rates, now: float) -> Members:
    """The one worker of a crawl and its partitions, at a time in unix seconds."""
    stats, owned = runtime.stats, runtime.owned
    queued = {number: ownership.crawl.partition.size for number, ownership in owned.items()}
    total = sum(queued.values())
    worker = Worker(runtime.name, now, len(owned), total, stats.running, rates.pages, rates.requests, stats.limiting)
    partitions = [
        Owner(number, runtime.name, ownership.lease.epoch, ownership.lease.taken_at, queued[number])
        if (ownership := owned.get(number)) is not None
        else Owner(number)
        for number in range(config.partitions)
    ]
    return Members([worker], partitions)


def unhealthy(runtime: Runtime, monotonic: float) -> str:
    """Why the worker cannot go on by itself: its loop does not turn, or a lease is over; empty when all is well."""
    if runtime.stats.started and monotonic - max(runtime.stats.beat, runtime.stats.started) > _SILENCE:
        return f"the worker's loop did not turn for {_SILENCE:g} seconds"
    if not all(owned.lease.holds() for owned in runtime.owned.values()):
        return "a lease is over"
    return ""


def unready(runtime: Runtime, monotonic: float) -> str:
    """Why the worker does not crawl now; empty when it does, or has nothing left to do."""
    if runtime.ending is not None:
        return "it is stopping"
    if not runtime.owned:
        drained = runtime.drained
        return "it was drained by an order" if drained else "it owns no partition"
    if away := runtime.stats.health.text():
        return away
    return unhealthy(runtime, monotonic)


class Lag:
    """How far the watermarks are behind the ends of the log, by partition and priority."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._looked = -LAG_SECONDS
        self._of: frozenset[int] = frozenset()
        self._marks: dict[tuple[int, int], tuple[int, float]] = {}  # each watermark, and when it moved last
        self.records: dict[tuple[int, int], int] = {}
        self.oldest: dict[tuple[int, int], float] = {}
        """Seconds since the oldest unfinished record was published, 0 where there is none."""
        self.stalled = 0.0
        """Seconds for which the watermark that waits longest has not moved although records lie beyond it."""

    async def look(self, monotonic: float) -> None:
        """Ask the log for its ends, if that was not done lately for the partitions that are owned now.

        While it is away, what was known stays.
        """
        owned = frozenset(self._runtime.owned)
        if monotonic - self._looked < LAG_SECONDS and owned == self._of:
            return
        self._looked, self._of = monotonic, owned
        records: dict[tuple[int, int], int] = {}
        marks: dict[tuple[int, int], tuple[int, float]] = {}
        oldest: dict[tuple[int, int], float] = {}
        try:
            for partition in list(partitions(self._runtime)):
                ends = await self._runtime.services.log.ends(partition.id)
                for priority, low in partition.watermarks().items():
                    where = (partition.id, priority)
                    records[where] = max(0, ends[priority] - low)
                    oldest[where] = partition.oldest(priority, self._runtime.services.coordinator.now())
                    before = self._marks.get(where)
                    moved = before is None or before[0] != low or not records[where]
                    marks[where] = (low, monotonic if moved or before is None else before[1])
        except Unavailable:
            return
        self.records, self.oldest, self._marks = records, oldest, marks
        self.stalled = max((monotonic - since for _, since in marks.values()), default=0.0)
