"""What several workers on one machine did, as one: each tells of itself, and what all told is added up. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from msgspec import Struct, field

from gregor.worker.extract.tally import Tally
from gregor.worker.observe.bottleneck import of_most
from gregor.worker.observe.host_sums import HostSum
from gregor.worker.observe.stats import Stats

N = TypeVar("N", int, float)
Name = TypeVar("Name")


class WorkerSums(Struct):
    """What a worker has done since its start, and how it is; the names are those of `Stats`."""

    pages: int = 0
    pages_200: int = 0
    bytes: int = 0
    requests: int = 0
    requisites: int = 0
    drops: int = 0
    bytes_by: dict[str, int] = {}
    states: dict[str, int] = {}
    changes: dict[str, int] = {}
    errors: dict[str, int] = {}
    aways: dict[str, int] = {}
    statuses: dict[int, int] = {}
    links: dict[str, int] = {}
    promotions: dict[str, int] = {}
    traps: dict[str, int] = {}
    unread: dict[str, int] = {}
    ways: dict[str, int] = {}
    classes: dict[str, int] = {}
    relevant: dict[bool, int] = {}
    cpu: dict[str, float] = {}
    running: int = 0
    queued: int = 0
    hosts: int = 0
    hosts_waiting: int = 0
    slowest: float = 0.0
    later: bool = False
    limit: str = "starting"
    limiting: str = "starting"
    host_states: dict[str, int] = {}


class SumsOfRun(Struct):
    """What is told seldom, for it may be long: items and losses of rules, and the sums of hosts."""

    extracted: Tally = field(default_factory=Tally)
    by_host: list[HostSum] = []


_COUNTS = ("pages", "pages_200", "bytes", "requests", "requisites", "drops")
_COUNTERS = (
    *("bytes_by", "states", "changes", "errors", "aways", "statuses", "links", "promotions", "traps", "unread"),
    *("ways", "classes", "relevant"),
)
_NOW = ("running", "queued", "hosts", "hosts_waiting")


def sums_of(stats: Stats) -> WorkerSums:
    """What a worker tells."""
    names = (name for name in WorkerSums.__struct_fields__ if name != "cpu")
    return WorkerSums(**{name: getattr(stats, name) for name in names}, cpu=stats.cpu_time.seconds())


def run_sums_of(stats: Stats) -> SumsOfRun:
    """What it tells seldom."""
    return SumsOfRun(stats.extracted, list(stats.by_host))


class Sums:
    """What all workers told, those that have ended as well."""

    def __init__(self) -> None:
        self._words: dict[int, WorkerSums] = {}
        self._run_words: dict[int, SumsOfRun] = {}
        self._past, self._past_run = WorkerSums(), Stats()  # of those that have ended

    @classmethod
    def of(cls, word: WorkerSums) -> "Sums":
        """What one alone told."""
        sums = cls()
        sums.tell(0, word)
        return sums

    def tell(self, worker: int, word: WorkerSums) -> None:
        """A worker told; each has a number of its own."""
        self._words[worker] = word

    def tell_of_run(self, worker: int, word: SumsOfRun) -> None:
        """It told what is told seldom."""
        self._run_words[worker] = word

    def end(self, worker: int) -> None:
        """It has ended: what it has done counts, not what it was doing."""
        if (word := self._words.pop(worker, None)) is not None:
            self._past = _done([self._past, word])
        if (of_run := self._run_words.pop(worker, None)) is not None:
            _add_run(self._past_run, of_run)

    def add_up(self, stats: Stats) -> None:
        """Make it what all of them told."""
        now = list(self._words.values())
        done = _done([self._past, *now])
        for name in _COUNTS:
            setattr(stats, name, getattr(done, name))
        for name in _COUNTERS:
            setattr(stats, name, Counter(getattr(done, name)))
        stats.cpu_time.elsewhere = done.cpu
        for name in _NOW:
            setattr(stats, name, sum(getattr(word, name) for word in now))
        stats.slowest = max((word.slowest for word in now), default=0.0)
        stats.later = any(word.later for word in now)
        stats.host_states = summed(word.host_states for word in now)
        stats.limit, stats.limiting = _limit(now)

    def add_up_run(self, stats: Stats) -> None:
        """Make it what all of them told seldom, once."""
        for word in (run_sums_of(self._past_run), *self._run_words.values()):
            _add_run(stats, word)


def _done(words: list[WorkerSums]) -> WorkerSums:
    """What they have done, of all together."""
    counts: dict[str, Any] = {name: sum(getattr(word, name) for word in words) for name in _COUNTS}
    counters: dict[str, Any] = {name: summed(getattr(word, name) for word in words) for name in _COUNTERS}
    return WorkerSums(**counts, **counters, cpu=summed(word.cpu for word in words))


def _add_run(stats: Stats, word: SumsOfRun) -> None:
    stats.extracted.merge(word.extracted)
    for host_sum in word.by_host:
        stats.by_host.put(host_sum)


def _limit(now: list[WorkerSums]) -> tuple[str, str]:
    """What limits most of them, in the words of the one that has most to do."""
    if not now:
        return "starting", "starting"
    busiest, count = of_most(now, lambda word: word.queued)
    more = f" (so with {count} of {len(now)} processes)" if len(now) > 1 else ""
    return busiest.limit, f"{busiest.limiting}{more}"


def summed(counts: Iterable[Mapping[Name, N]]) -> dict[Name, N]:
    """What several counted by name, of all together."""
    total: Counter[Any] = Counter()
    for of_one in counts:
        total.update(of_one)
    return dict(total)
