"""Whether a crawl was polite, by what its store keeps of each request. Pure.

A request is judged by the robots.txt that allowed it, as it was known then, and by the delays that were in force then.
Times are unix seconds of the coordinator's clock, durations seconds.
"""

import heapq
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypeAlias

import msgspec

from gregor.schemas.messages import Row
from gregor.schemas.parts import RequestStart, RobotsCopy
from gregor.worker.robots import file as robots_file
from gregor.worker.robots.file import Robots

ViolationKind: TypeAlias = Literal["disallowed", "unread", "stale", "too near", "crowded"]
LISTED: Final = 1000
"""Violations that are listed; all are counted."""
MARGINS: Final = 10
"""Hosts whose smallest margin is told."""
_TOLERANCE: Final = 0.001
"""Times are sums of floating-point numbers."""
_CLOCKS: Final = 0.5
"""So far the clocks of two workers may be apart, each as it read the coordinator's time when it began."""
_LONGEST_LIFE: Final = robots_file.MAX_TTL + 600.0
"""A copy of robots.txt holds for a day (RFC 9309 section 2.4); a visit that began in it may still have to connect."""


class AuditedRequest(msgspec.Struct, frozen=True, array_like=True):
    """One request of a worker, and what was in force. ``href``: what was asked for; empty for a robots.txt."""

    host: str
    href: str
    owner: str
    asked: RequestStart

    @property
    def origin(self) -> str:
        """What a robots.txt holds for."""
        return self.href[: self.href.index("/", 8)]


class Violation(msgspec.Struct, frozen=True):
    """A request that should not have been."""

    kind: ViolationKind
    host: str
    url: str
    at: float
    detail: str


class Margin(msgspec.Struct, frozen=True):
    """How near a request came to the one before: the time between their starts, and the least that it had to be.

    ``share`` is the gap in delays: 1 is as near as may be.
    """

    share: float
    host: str
    url: str
    at: float
    gap: float
    delay: float


class Findings(msgspec.Struct):
    """What an audit found.

    ``addresses``: those that several hosts share. ``untold``: visits with an answer whose request is not on record
    (made by an older version, cut short by a crash, or more than ten visits ago). ``unkept``: requests whose copy of
    robots.txt is not kept any more.
    """

    hosts: int = 0
    addresses: int = 0
    requests: int = 0
    untold: int = 0
    unkept: int = 0
    violations: Counter[str] = msgspec.field(default_factory=Counter)
    listed: list[Violation] = []
    margins: list[Margin] = []

    def add(self, host: "HostAudit") -> None:
        """Count what the audit of a host found."""
        self.hosts += 1
        self.requests += host.requests
        self.unkept += host.unkept
        self._add_violations(host)
        margins = self.margins if host.margin is None else [*self.margins, host.margin]
        self.margins = heapq.nsmallest(MARGINS, margins, key=lambda margin: margin.share)

    def add_address(self, address: "AddressAudit") -> None:
        """Count what the audit of an address found."""
        self.addresses += len(address.hosts) > 1
        self._add_violations(address)

    def _add_violations(self, found: "_Audit") -> None:
        self.violations.update(found.violations)
        self.listed += found.listed[: LISTED - len(self.listed)]


def requests_of(row: Row) -> list[AuditedRequest]:
    """The requests of which a row tells."""
    return [
        AuditedRequest(row.host, "" if asked.robots else asked.href or row.key, attempt.owner, asked)
        for attempt in row.attempts
        for asked in attempt.asked
    ]


def untold(row: Row) -> int:
    """How many of a URL's visits had an answer, without a request on record."""
    silent = sum(bool(one.status) and all(asked.robots for asked in one.asked) for one in row.attempts)
    return silent + max(0, row.visits - len(row.attempts))


class _Audit:
    """What is wrong with some requests."""

    def __init__(self) -> None:
        self.violations: Counter[str] = Counter()
        self.listed: list[Violation] = []

    def _violates(self, kind: ViolationKind, request: AuditedRequest, detail: str) -> None:
        self.violations[kind] += 1
        if len(self.listed) < LISTED:
            self.listed.append(Violation(kind, request.host, _url(request), request.asked.at, detail))


class HostAudit(_Audit):
    """The requests to one host, handed in by `add` in the order of their starts."""

    def __init__(self, agent: str) -> None:
        """``agent``: whose rules count where a copy of robots.txt does not say for whom it was read."""
        super().__init__()
        self.requests = 0
        self.unkept = 0
        self.margin: Margin | None = None
        self._agent = agent
        self._rules: dict[tuple[str, float], Robots] = {}
        self._last: AuditedRequest | None = None
        self._last_page: AuditedRequest | None = None

    def add(self, request: AuditedRequest, copies: Mapping[str, Sequence[RobotsCopy]]) -> None:
        """Judge the next request. ``copies``: what is kept of the robots.txt of each origin, oldest first."""
        if self._last == request:
            return  # told by two versions of one row
        self.requests += 1
        self._judge_gap(request)
        if request.href:
            self._judge_rules(request, copies.get(request.origin, ()))
            self._last_page = request
        self._last = request

    def _judge_gap(self, request: AuditedRequest) -> None:
        for before, delay in ((self._last, request.asked.delay), (self._last_page, request.asked.page_delay)):
            if before is None or delay <= 0.0:
                continue
            gap = request.asked.at - before.asked.at
            margin = Margin(gap / delay, request.host, _url(request), request.asked.at, gap, delay)
            if self.margin is None or margin.share < self.margin.share:
                self.margin = margin
            if gap < delay - _tolerance(before, request):
                self._violates("too near", request, f"{gap:.3f} s after {_url(before)}, the delay was {delay:g} s")
                return

    def _judge_rules(self, request: AuditedRequest, copies: Sequence[RobotsCopy]) -> None:
        asked = request.asked
        if not asked.rules:
            self._violates("unread", request, "no robots.txt was read")
            return
        if asked.at - asked.rules > _LONGEST_LIFE:
            self._violates("stale", request, f"its robots.txt was {asked.at - asked.rules:.0f} s old")
        copy = next((other for other in reversed(copies) if other.since <= asked.rules <= other.until), None)
        if copy is None:
            self.unkept += 1
        elif copy.text is None:
            self._violates("disallowed", request, "robots.txt was unreachable")
        else:
            decision = self._parsed(request.origin, copy, copy.text).decide(request.href)
            if not decision.allowed:
                self._violates("disallowed", request, f"robots.txt line {decision.line}: {decision.rule}")

    def _parsed(self, origin: str, copy: RobotsCopy, text: bytes) -> Robots:
        parsed = self._rules.get((origin, copy.since))
        if parsed is None:
            parsed = self._rules[origin, copy.since] = robots_file.parse(text, copy.agent or self._agent)
        return parsed


class AddressAudit(_Audit):
    """The requests that may have gone to one address, of all hosts, handed in by `add` in the order of their starts."""

    def __init__(self, address: str) -> None:
        super().__init__()
        self.hosts: set[str] = set()
        self._address = address
        self._last: AuditedRequest | None = None

    def add(self, request: AuditedRequest) -> None:
        """Judge the next request."""
        before, asked = self._last, request.asked
        if before == request:
            return  # told by two versions of one row
        if len(self.hosts) < 2:  # whether they are several is all that is told
            self.hosts.add(request.host)
        self._last = request
        if before is None:
            return
        gap = asked.at - before.asked.at
        if gap < asked.address_delay - _tolerance(before, request):
            detail = f"{gap:.3f} s after {_url(before)} at {self._address}, its delay was {asked.address_delay:g} s"
            self._violates("crowded", request, detail)


def _tolerance(before: AuditedRequest, request: AuditedRequest) -> float:
    """How far the clocks that timed two requests may be apart."""
    return _TOLERANCE if before.owner == request.owner else _CLOCKS


def _url(request: AuditedRequest) -> str:
    return request.href or f"robots.txt of {request.host}"
