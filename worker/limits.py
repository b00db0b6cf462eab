"""What limits the speed of a worker: judged over the last seconds, with the figures that show it. Pure."""

from collections import deque
from typing import Final, NamedTuple

WINDOW: Final = 10.0
"""Seconds over which it is judged."""
ADVICE: Final = {
    "starting": "wait some seconds",
    "paused": "see `gregor orders`, then `gregor resume`",
    "orders": "see `gregor orders`, and take back what is no longer meant",
    "service": "bring it back; nothing is lost meanwhile",
    "nothing": "no URL is left to this worker: add seeds, or let it end",
    "CPU": "more workers; on one machine a crawl of its own, or a narrower scope",
    "concurrency": "raise concurrency, if CPU and network have room",
    "failures": "see the errors by cause: is it the network, the resolver or a proxy of the worker?",
    "politeness": "more hosts: wider seeds or scope, more memory_urls; or a shorter delay, if the sites agree",
    "DNS": "a faster resolver, near to the worker; more dns_memory",
    "connect": "look at the network of the worker: loss, a firewall, a proxy",
    "answers": "nothing here: the hosts are slow",
    "stores": "look at the servers that remember the crawl, or at the disk of the data folder",
}
"""What would help, by what limits."""
_WAITS: Final = {
    "DNS": ("dns",),
    "connect": ("connect", "tls"),
    "answers": ("robots", "first_byte", "body"),
    "stores": ("settle",),
}
_FULL: Final = 0.9
_HALF: Final = 0.5


class Sample(NamedTuple):
    """A worker at one moment. Counters only grow: seconds of CPU, visits settled, failed tries, ``occupied`` (seconds
    that all visits took by then), seconds of them spent in each stage. ``hosts`` are those in memory; ``ordered``: the
    order that keeps the worker from more."""

    at: float
    cpu: float
    visits: int
    failures: int
    occupied: float
    stages: dict[str, float]
    hosts: int
    paused: bool = False
    away: str = ""
    ordered: str = ""


class Limit(NamedTuple):
    """``name`` is a key of `ADVICE`; ``text`` says it to people."""

    name: str
    text: str


class Limits:
    """Remembers the samples of the window. ``concurrency``: how many visits may run at once, now."""

    def __init__(self, concurrency: int) -> None:
        self.concurrency = concurrency
        self._samples: deque[Sample] = deque()

    def judge(self, now: Sample) -> Limit:
        """What limits the worker at this moment."""
        samples = self._samples
        samples.append(now)
        while len(samples) > 2 and samples[1].at <= now.at - WINDOW:
            samples.popleft()
        if now.paused:
            return Limit("paused", "an order to pause")
        if now.ordered:
            return Limit("orders", now.ordered)
        if now.away:
            return Limit("service", f"{now.away} is away")
        if not now.hosts:
            return Limit("nothing", "nothing to do yet")
        if now.at <= samples[0].at:
            return Limit("starting", "starting")
        return self._of_window(samples[0], now)

    def _of_window(self, then: Sample, now: Sample) -> Limit:
        seconds, visits = now.at - then.at, now.visits - then.visits
        failures = now.failures - then.failures
        cpu = (now.cpu - then.cpu) / seconds
        if cpu > _FULL:
            return Limit("CPU", f"CPU: {cpu:.0%} of a core")
        running = (now.occupied - then.occupied) / seconds
        if running > _FULL * self.concurrency:
            return Limit("concurrency", f"concurrency: {running:.1f} of {self.concurrency} visits run")
        if failures > _HALF * (failures + visits):
            return Limit("failures", f"failures: {failures} failed tries against {visits} visits")
        hosts = sum(one.hosts for one in self._samples) / len(self._samples)
        if running < _HALF * hosts:
            waiting = 1.0 - running / hosts
            return Limit("politeness", f"politeness: {hosts:.0f} hosts wait {waiting:.0%} of the time for their turns")
        spent = {stage: total - then.stages.get(stage, 0.0) for stage, total in now.stages.items()}
        waits = {name: sum(spent.get(stage, 0.0) for stage in stages) for name, stages in _WAITS.items()}
        name = max(waits, key=lambda one: waits[one]) if any(waits.values()) else "answers"
        return Limit(name, f"{_TEXT[name]}: {running:.1f} visits run, {visits / seconds:.1f} a second are settled")


_TEXT: Final = {
    "DNS": "DNS",
    "connect": "connecting to the hosts",
    "answers": "answers of the hosts",
    "stores": "what remembers the crawl",
}
