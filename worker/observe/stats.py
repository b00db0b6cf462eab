"""What a worker did so far and what limits it now, for the live view, the report and the metrics."""

import math
from collections import Counter, defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from gregor.schemas.messages import Row, State
from gregor.worker.borders.errors import Unavailable
from gregor.worker.borders.transport import Response
from gregor.worker.extract.drift import Fallen
from gregor.worker.extract.tally import Tally
from gregor.worker.observe.bottleneck import Sample
from gregor.worker.observe.course import Course
from gregor.worker.observe.cpu_time import CpuTime
from gregor.worker.observe.health import BorderHealth
from gregor.worker.observe.host_sums import HostSums
from gregor.worker.observe.logging import logs
from gregor.worker.observe.timing import Lowest, Timing

_LOG = logs("worker")

STAGES: Final = ("queue", "robots", "dns", "connect", "tls", "first_byte", "body", "parse", "settle")
"""The stages of a visit, in their order: how late its turn came, then what it waited for and what was done."""


RECENT: Final = 50
"""Visits that are remembered to be shown."""
_TOLERANCE: Final = 0.001  # what the clocks of a machine may differ by, seconds


@dataclass
class Stats:
    """Counts since the start of the process; `before` holds what the data folder had then."""

    started: float = 0.0
    pages: int = 0
    pages_200: int = 0
    bytes: int = 0
    bytes_by: Counter[str] = field(default_factory=Counter)
    requests: int = 0
    states: Counter[str] = field(default_factory=Counter)
    changes: Counter[str] = field(default_factory=Counter)  # pages, by what a visit made of them: see `page_change`
    errors: Counter[str] = field(default_factory=Counter)  # of visits, by cause
    aways: Counter[str] = field(default_factory=Counter)  # times that the crawl had to wait for a service
    recent: deque[Row] = field(default_factory=lambda: deque(maxlen=RECENT))  # of the last visits, the newest last
    statuses: Counter[int] = field(default_factory=Counter)
    links: Counter[str] = field(default_factory=Counter)
    promotions: Counter[str] = field(default_factory=Counter)  # of known URLs that stand better now: see `FetchOrder`
    worths: dict[str, float] = field(default_factory=dict)  # what a link must be worth, by front queue
    traps: Counter[str] = field(default_factory=Counter)  # URLs that a trap rule refused, and that came back
    by_host: HostSums = field(default_factory=HostSums)
    unread: Counter[str] = field(default_factory=Counter)  # documents not read to their end, by what was too much
    ways: Counter[str] = field(default_factory=Counter)  # pages of HTML, by which way they were read
    classes: Counter[str] = field(default_factory=Counter)  # pages stored, by what a model has put them into
    relevant: Counter[bool] = field(default_factory=Counter)  # pages stored, by whether they are relevant for a topic
    extracted: Tally = field(default_factory=Tally)  # what rules made of pages, and what was lost
    drift: tuple[Fallen, ...] = ()  # fields of rules that had fallen away at `drift_at`
    drift_at: float = -math.inf
    before: dict[str, int] = field(default_factory=dict)
    drops: int = 0  # stale URLs of which nothing is kept any more
    running: int = 0
    queued: int = 0
    hosts: int = 0
    hosts_waiting: int = 0
    slowest: float = 0.0  # seconds that the host with the longest queue needs, when somebody watches
    later: bool = False  # whether a calendar holds anything
    course: Course = field(default_factory=Course)  # how the URLs in memory grew, when somebody watches
    requisites: int = 0  # stored in this run, less those that became pages
    _requisites_counted: int = 0  # of them, those that `before` has already
    _counted: tuple[int, int] = (0, 0)  # own pages and bytes that `before` has already
    _again: tuple[int, int] = (0, 0)  # own pages and bytes that took the place of earlier versions
    partitions: int = 0
    health: BorderHealth = field(default_factory=BorderHealth)
    trouble: str = ""  # the last failed try, for people: which URL or origin, and why
    limit: str = "starting"  # one word for `limiting`, a key of `limits.ADVICE`
    limiting: str = "starting"
    occupied: float = 0.0  # seconds that visits took, all together
    beat: float = 0.0  # when the worker's loop turned last
    stages: dict[str, Timing] = field(default_factory=lambda: {stage: Timing() for stage in STAGES})
    calls: dict[tuple[str, str], Timing] = field(default_factory=dict)  # of the borders, by border and method
    searches: Timing = field(default_factory=Timing)  # queries that the API answered
    failed_calls: Counter[tuple[str, str]] = field(default_factory=Counter)  # of them, because a service was away
    unavailable: Counter[str] = field(default_factory=Counter)  # by service
    retries: Counter[str] = field(default_factory=Counter)  # calls made again, by service
    seen: Counter[str] = field(default_factory=Counter)  # answers of the URL-seen test
    contents: Counter[str] = field(default_factory=Counter)  # answers of the content-seen and near-duplicate tests
    robots: Counter[str] = field(default_factory=Counter)  # decisions by robots.txt
    cached: Counter[tuple[str, str]] = field(default_factory=Counter)  # by cache, "hit" or "miss"
    churn: Counter[str] = field(default_factory=Counter)  # links published, "stays" on this worker or "crosses"
    cpu_time: CpuTime = field(default_factory=CpuTime)
    host_states: dict[str, int] = field(default_factory=dict)  # how many hosts were in each, `host_states_at`
    host_states_at: float = -math.inf
    lost: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    """Seconds that failed requests took, as "lost CAUSE"."""
    reading: float = 0.0  # seconds that the intakes of all partitions took
    committing: float = 0.0  # seconds that checkpoints took
    takeovers: Timing = field(default_factory=Timing)  # a partition wanted until its work began
    releases: Timing = field(default_factory=Timing)  # no longer wanted until let go
    leases_lost: int = 0
    losses: int = 0  # times that the log was found to have lost records
    margin: Lowest = field(default_factory=Lowest)  # gaps between requests to a host, as shares of its delay
    too_close: int = 0  # requests that came before their host's delay was over

    def settled(self, state: State) -> None:
        """A URL reached a state."""
        self.states[state] += 1

    def stored(self, status: int, size: int, state: State = "fetched", change: tuple[int, int] | None = None) -> None:
        """A version of a page was stored. ``change``: what it adds to the crawl's pages with status 200, and bytes."""
        if change is not None:
            ok, more = change
            self._again = (self._again[0] + (status == 200) - ok, self._again[1] + size - more)
        self.bytes_by[state] += size
        self.pages += 1
        self.pages_200 += status == 200
        self.bytes += size

    def answered(self, response: Response) -> None:
        """An answer came: its status, and the stages on the wire. A connection used again took no time to make."""
        self.statuses[response.status] += 1
        stages = self.stages
        if response.connect:
            stages["connect"].observe(response.connect)
        if response.tls:
            stages["tls"].observe(response.tls)
        stages["first_byte"].observe(response.latency)
        stages["body"].observe(max(0.0, response.elapsed - response.connect - response.tls - response.latency))

    def spaced(self, gap: float, delay: float, at: float) -> None:
        """A request started ``gap`` seconds after the one before to its host, which is due ``delay``."""
        if delay > 0.0:
            self.margin.observe(gap / delay, at)
            self.too_close += gap < delay - _TOLERANCE

    def away(self, error: Unavailable) -> None:
        """A service did not answer what the crawl waits for."""
        self.aways[error.service] += 1

    def retrying(self, error: Unavailable) -> None:
        """A service did not answer; the call will be made again."""
        self.away(error)
        self.retries[error.service] += 1

    @property
    def outcomes(self) -> dict[str, int]:
        """How many visits ended a URL, by state; those after which it is tried once more are none of them."""
        return {state: count for state, count in self.states.items() if state != "waiting"}

    @property
    def visited(self) -> int:
        """How many visits ended a URL."""
        return self.states.total() - self.states["waiting"]

    @property
    def troubles(self) -> Counter[str]:
        """All that went wrong, in words: causes of visits that failed, and services that were waited for."""
        return self.errors + Counter({f"unavailable: {service}": count for service, count in self.aways.items()})

    def unanswered(self, error: Unavailable) -> None:
        """A call failed because a service was away."""
        self.unavailable[error.service] += 1

    def call_failed(self, call: tuple[str, str], error: Unavailable, at: float) -> None:
        """A call of a border (its name, the method) failed at a monotonic time because a service was away."""
        self.unanswered(error)
        self.failed_calls[call] += 1
        if self.health.failed(call, error, at):
            _LOG.warning("service away", service=error.service, condition=error.condition, error=str(error))

    def call_succeeded(self, call: tuple[str, str], begun: float) -> None:
        """A call of a border, begun at a monotonic time, came through while a service was away."""
        for service in self.health.succeeded(call, begun):
            _LOG.info("service back", service=service)

    def sample(self, at: float, *, waited: float, naming: float, paused: bool, budget: str, ordered: str) -> Sample:
        """What `Bottlenecks` judges by, at a monotonic time. ``waited``: seconds that hosts waited for their turns, of
        which ``naming`` for look-ups of names."""
        calls: dict[str, tuple[int, float]] = {}
        for (border, _), timing in self.calls.items():
            count, took = calls.get(border, (0, 0.0))
            calls[border] = (count + timing.count, took + timing.total)
        return Sample(
            at=at,
            cpu=self.cpu_time.process(),
            visits=sum(count for state, count in self.states.items() if state not in ("waiting", "dead")),
            failures=dict(self.errors),
            occupied=self.occupied,
            waited=waited,
            naming=naming,
            stages={**{stage: timing.total for stage, timing in self.stages.items()}, **self.lost},
            calls=calls,
            reading=self.reading,
            committing=self.committing,
            partitions=self.partitions,
            hosts=self.running + self.hosts_waiting,
            later=self.later,
            paused=paused,
            budget=budget,
            away=self.health.text(),
            ordered=ordered,
            trouble=self.trouble,
        )

    def recounted(self, counts: dict[str, int]) -> None:
        """The whole crawl, all its workers, was counted anew: own counts go on from here."""
        self.before, self._counted, self._requisites_counted = counts, self._own, self.requisites

    def dropped(self, change: Mapping[str, int]) -> None:
        """What was kept of a stale URL is no more; ``change``: of the crawl's counts."""
        self.drops += 1
        for name in ("pages", "pages_200", "bytes", "requisites"):
            if name in self.before:
                self.before[name] += change.get(name, 0)

    def became_page(self, ok: int) -> None:
        """A link was found to a stored requisite; ``ok``: 1 if its status is 200."""
        self.requisites -= 1
        self._again = (self._again[0] - ok, self._again[1])

    @property
    def total_requisites(self) -> int:
        """Stored requisites of the whole crawl, what `max_requisites_in_all` counts."""
        return self.before.get("requisites", 0) + self.requisites - self._requisites_counted

    @property
    def _own(self) -> tuple[int, int]:
        """What this worker added to the crawl's pages with status 200, and to its bytes."""
        return self.pages_200 - self._again[0], self.bytes - self._again[1]

    @property
    def visited_pages(self) -> int:
        """Pages that were visited in this run, for the first time or again."""
        return self.changes["new"] + self.changes["changed"] + self.changes["unchanged"]

    @property
    def total_pages_200(self) -> int:
        """Stored pages with status 200 of the whole crawl, what `max_pages` counts."""
        return self.before.get("pages_200", 0) + self._own[0] - self._counted[0]

    @property
    def total_bytes(self) -> int:
        """Stored bytes of the whole crawl, what `max_bytes` counts."""
        return self.before.get("bytes", 0) + self._own[1] - self._counted[1]
