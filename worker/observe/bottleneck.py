"""What limits the speed of a worker: judged over the last seconds, with the figures that show it. Pure."""

from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple, Protocol, TypeVar

from gregor.worker.base.amounts import count as counted

WINDOW: Final = 10.0
"""Seconds over which it is judged."""
ADVICE: Final = {
    "starting": "wait some seconds",
    "paused": "see `gregor orders`, then `gregor resume`",
    "orders": "see `gregor orders`, and take back what is no longer meant",
    "budget": "raise what is named, if the crawl is to go on",
    "service": "bring back what is away, give room to what is full; nothing is lost meanwhile",
    "nothing": "no URL is left to this worker now: add seeds, wait for what is due later, or let it end",
    "CPU": "more workers; on one machine more `--processes`; or a narrower scope",
    "concurrency": "raise concurrency, if CPU and network have room",
    "failures": "see the errors by cause: do the hosts refuse this crawl?",
    "politeness": "more hosts: wider seeds or scope, more memory_urls; or a shorter delay, if the sites agree",
    "DNS": "a faster resolver, near to the worker; more dns_memory",
    "connect": "look at the network of the worker: loss, a firewall, a proxy",
    "answers": "nothing here: the hosts are slow",
    "stores": "look at what is named: log is Kafka, seen set Redis, store Cassandra; on one machine all are the disk",
}
"""What would help, by what limits."""
_WAITS: Final = {
    "DNS": ("dns",),
    "connect": ("connect", "tls", "lost connect", "lost tls", "lost proxy", "lost timeout"),
    "answers": ("robots", "first_byte", "body", "lost cut", "lost protocol", "lost decode", "lost too_large_headers"),
}
"""What a visit waits for: stages, and requests that failed, by cause."""
_BLAMED: Final = {"dns": "DNS", "connect": "connect", "tls": "connect", "proxy": "connect", "timeout": "connect"}
"""What limits when most tries fail, by the most frequent cause."""
_STORES: Final = {"log": "the log", "seen": "the seen set", "store": "the store", "coordinator": "the coordinator"}
_TEXT: Final = {"connect": "connecting to the hosts", "answers": "answers of the hosts", "stores": "stores"}
_FULL: Final = 0.9
_HALF: Final = 0.5
_MOST: Final = 0.7
"""Of the time that intakes read: one that keeps up with what is found reads half of it and limits nothing."""
_ENOUGH: Final = 0.5
"""Seconds of hosts that were visited or waited, from which it can be judged what they waited for."""


class Sample(NamedTuple):
    """A worker at one moment. Counters only grow.

    ``cpu``: seconds of processor; ``visits`` that came to an end; ``failures``: failed tries by cause. ``occupied``:
    seconds that all visits took; ``waited``: those that all hosts waited for their turns, of which
    ``naming`` until their names were looked up; ``stages``: those spent in
    each stage, or in requests that failed ("lost CAUSE").
    ``calls``: number and seconds of the calls of each border; of these seconds the intakes spent ``reading``, a share
    of ``partitions``, and checkpoints ``committing``. ``hosts`` have something to do now; ``later``: the calendar
    holds something. ``budget`` says which budget holds turns back, ``ordered`` which order, ``away`` which services
    do not do their work, and why.

    ``trouble``: which try failed last, and why.
    """

    at: float
    cpu: float
    visits: int
    failures: Mapping[str, int]
    occupied: float
    waited: float
    stages: Mapping[str, float]
    calls: Mapping[str, tuple[int, float]]
    reading: float
    committing: float
    partitions: int
    hosts: int
    later: bool = False
    paused: bool = False
    budget: str = ""
    ordered: str = ""
    away: str = ""
    trouble: str = ""
    naming: float = 0.0


class Bottleneck(NamedTuple):
    """``name`` is a key of `ADVICE`; ``text`` says it to people."""

    name: str
    text: str


LINE_DOWN: Final = Bottleneck(
    "connect", "nothing that is asked can be reached: this machine's own line seems to be down"
)
"""What limits while no host at all can be reached."""


class Limited(Protocol):
    """What a worker says of itself. ``limit``: a key of `ADVICE`."""

    @property
    def limit(self) -> str: ...


L = TypeVar("L", bound=Limited)


def of_most(workers: Sequence[L], to_do: Callable[[L], int]) -> tuple[L, int]:
    """What limits most of some workers, by the one of these that has most to do; and how many these are."""
    limit, count = Counter(worker.limit for worker in workers).most_common(1)[0]
    return max((worker for worker in workers if worker.limit == limit), key=to_do), count


class Bottlenecks:
    """Remembers the samples of the window. ``concurrency``: how many visits may run at once, now."""

    def __init__(self, concurrency: int) -> None:
        self.concurrency = concurrency
        self._samples: deque[Sample] = deque()

    def judge(self, now: Sample) -> Bottleneck:
        """What limits the worker at this moment."""
        samples = self._samples
        samples.append(now)
        while len(samples) > 2 and samples[1].at <= now.at - WINDOW:
            samples.popleft()
        if now.paused:
            return Bottleneck("paused", "an order to pause")
        if now.ordered:
            return Bottleneck("orders", now.ordered)
        if now.budget:
            return Bottleneck("budget", f"budget: {now.budget}")
        if now.away:
            return Bottleneck("service", now.away)
        then, seconds = samples[0], now.at - samples[0].at
        if now.partitions and seconds > 0 and now.reading - then.reading > _MOST * seconds * now.partitions:
            share = (now.reading - then.reading) / seconds / now.partitions
            return Bottleneck(
                "stores", f"stores: reading the frontier takes {share:.0%} of the time; {_slowest(then, now)}"
            )
        if (failing := _failing(then, now)) is not None:
            return failing
        if now.trouble and seconds > 0 and _idle_after_failures(then, now):
            return Bottleneck("failures", f"failures: {now.trouble}; it is tried again")
        if not now.hosts:
            return Bottleneck(
                "nothing", "nothing is due: the rest waits in the calendar" if now.later else "nothing to do yet"
            )
        if seconds <= 0 or now.occupied - then.occupied + now.waited - then.waited < _ENOUGH:
            return Bottleneck("starting", "starting")
        return self._of_visits(then, now, seconds)

    def _of_visits(self, then: Sample, now: Sample, seconds: float) -> Bottleneck:
        cpu = (now.cpu - then.cpu) / seconds
        if cpu > _FULL:
            return Bottleneck("CPU", f"CPU: {cpu:.0%} of a core")
        running = (now.occupied - then.occupied) / seconds
        if running > _FULL * self.concurrency:
            return Bottleneck("concurrency", f"concurrency: {running:.1f} of {self.concurrency} visits run")
        hosts = running + (now.waited - then.waited) / seconds
        naming = (now.naming - then.naming) / seconds
        if naming > _HALF * hosts:
            return Bottleneck("DNS", f"DNS: {_hosts(naming)} until a name is looked up")
        if running + naming < _HALF * hosts:
            waiting = 1.0 - (running + naming) / hosts
            return Bottleneck("politeness", f"politeness: {_hosts(hosts)} {waiting:.0%} of the time for the next turn")
        waits = _waits(then, now)
        name = max(waits, key=waits.__getitem__) if any(waits.values()) else "answers"
        settled, waiting = (now.visits - then.visits) / seconds, waits[name] / seconds
        more = f"; {_slowest(then, now)}" if name == "stores" else ""
        text = (
            f"{running:.1f} visits run, {waiting:.1f} of them wait for that, {settled:.1f} a second are settled{more}"
        )
        return Bottleneck(name, f"{_TEXT.get(name, name)}: {text}")


def _hosts(mean: float) -> str:
    """So many wait, of which there may have been one for a part of the time."""
    return "1 host waits" if mean < 1.5 else f"{mean:.0f} hosts wait"


def _failing(then: Sample, now: Sample) -> Bottleneck | None:
    """What limits when most tries of the window failed: the most frequent cause."""
    visits = now.visits - then.visits
    failures = {cause: count - then.failures.get(cause, 0) for cause, count in now.failures.items()}
    failed = sum(failures.values())
    if failed <= max(0, visits):
        return None
    cause = max(failures, key=failures.__getitem__)
    name = _BLAMED.get(cause, "failures")
    last = f"; the last: {now.trouble}" if now.trouble else ""
    tries = "1 failed try" if failed == 1 else f"{failed} failed tries"
    text = f"{tries} against {counted(visits, 'visit')}, most of them by {cause}{last}"
    return Bottleneck(name, f"{_TEXT.get(name, name)}: {text}")


def _idle_after_failures(then: Sample, now: Sample) -> bool:
    """Whether nothing was visited within the window, nor ran for most of it, and what was tried before failed."""
    running = (now.occupied - then.occupied) / (now.at - then.at)
    return now.visits == then.visits and running < _HALF and sum(now.failures.values()) > now.visits


def _waits(then: Sample, now: Sample) -> dict[str, float]:
    """Seconds that visits waited within the window, by what for."""
    spent = {stage: total - then.stages.get(stage, 0.0) for stage, total in now.stages.items()}
    waits = {name: sum(spent.get(stage, 0.0) for stage in stages) for name, stages in _WAITS.items()}
    others = now.reading - then.reading + now.committing - then.committing
    waits["stores"] = max(0.0, sum(took for _, took in _called(then, now).values()) - others)
    return waits


def _called(then: Sample, now: Sample) -> dict[str, tuple[int, float]]:
    """Number and seconds of the calls within the window, of each border behind which there is a store."""
    calls = {}
    for border in _STORES:
        (count, took), (count_then, took_then) = (sample.calls.get(border, (0, 0.0)) for sample in (now, then))
        calls[border] = (count - count_then, took - took_then)
    return calls


def _slowest(then: Sample, now: Sample) -> str:
    """Which of them took the most time, and how long its calls take."""
    called = _called(then, now)
    border = max(called, key=lambda name: called[name][1])
    count, took = called[border]
    return f"{_STORES[border]} takes {1000 * took / max(1, count):.0f} ms a call"
