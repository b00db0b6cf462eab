"""What the web server's log says of a round: politeness, robots.txt, extra requests, hand-overs. Pure."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from gregor.partitioner.hashing import partition_of
from tests.cluster.chaos.server import RETRY_AFTER, Asked
from tests.cluster.chaos.web import Web

TOLERANCE = 0.05
"""Seconds: what the clocks and the scheduling of a busy machine may move the start of a request."""
LEASE_ENDS = 4.0
"""Seconds (a session) within which the leases of a worker end that no longer hears ZooKeeper: it works on till then."""
IN_FLIGHT = 12.0
"""Seconds before a worker was hurt in which a request of it may have been under way, its settle included."""
OWNED = 3.0
"""Seconds before a SIGKILL in which whoever asked in a partition surely still owned it: only then is it judged."""
PUBLISHED = 2.0
"""Seconds after which the links of a page that was asked for have been published."""
_NAME = re.compile(r"; (w\d+)\)")


def name_of(asked: Asked) -> str:
    """Which incarnation of a worker asked."""
    found = _NAME.search(asked.agent)
    return found[1] if found else ""


def by_host(log: Iterable[Asked]) -> dict[str, list[Asked]]:
    """The requests of each host, in order."""
    found: dict[str, list[Asked]] = defaultdict(list)
    for asked in sorted(log, key=lambda one: one.at):
        found[asked.host].append(asked)
    return found


def impolite(web: Web, log: Iterable[Asked], delay: float) -> list[str]:
    """Requests too close, disallowed ones, and pages before robots.txt."""
    violations = []
    for host, requests in by_host(log).items():
        refused: Asked | None = None
        asked_robots, last, last_page, lag = False, -1e9, -1e9, 0.0
        crawl_delay = max(delay, web.hosts[host].crawl_delay) if host in web.hosts else delay
        for one in requests:
            late = TOLERANCE + max(lag, one.lag)
            robots = one.path == "/robots.txt"
            if one.at - last < delay - late:
                violations.append(f"{one.url} {one.at - last:.3f} s after the request before, by {name_of(one)}")
            elif not robots and one.at - last_page < crawl_delay - late:
                violations.append(f"{one.url} {one.at - last_page:.3f} s after the page before, by {name_of(one)}")
            if refused and refused.agent == one.agent and one.at - refused.at < RETRY_AFTER - late:
                violations.append(f"{one.url} {one.at - refused.at:.3f} s after a Retry-After of {RETRY_AFTER} s")
            if one.path.startswith("/private/"):
                violations.append(f"{one.url} is disallowed")
            if not robots and not asked_robots:
                violations.append(f"{one.url} before robots.txt")
            asked_robots = asked_robots or robots
            refused = one if one.status == 503 else None
            last, last_page, lag = one.at, last_page if robots else one.at, one.lag
    return violations


def extra(
    web: Web,
    log: Iterable[Asked],
    hurt: Mapping[str, Sequence[float]],
    outages: Sequence[tuple[float, float]] = (),
) -> list[str]:
    """Requests of a page that no retry called for and no worker's misfortune explains.

    ``outages``: from when until when a server was away. What was under way then waited for it.
    """
    violations = []
    visits: dict[str, list[Asked]] = defaultdict(list)
    for one in sorted(log, key=lambda asked: asked.at):
        if one.path != "/robots.txt":
            visits[one.url].append(one)
    for url, requests in visits.items():
        for before, again in pairwise(requests):
            if before.status == 503 and url in web.busy:
                continue
            times = hurt.get(name_of(before), ())
            if not any(-LEASE_ENDS <= _worked(before.at, moment, outages) <= IN_FLIGHT for moment in times):
                violations.append(f"{url} by {name_of(before)}, {again.at - before.at:.1f} s later by {name_of(again)}")
    return violations


def _worked(since: float, until: float, outages: Sequence[tuple[float, float]]) -> float:
    """Seconds between two moments in which no server was away."""
    worked, at = until - since, since
    for gone, back in sorted(outages):
        begin, end = max(at, gone), min(until, back)
        if begin < end:
            worked -= end - begin
            at = end
    return worked


@dataclass(frozen=True)
class Handover:
    """A partition with a URL due that lost its owner by SIGKILL: seconds to the next request, and how many it may be.

    `judged`: nothing else was wrong meanwhile, nor just before, when the victim asked there.
    """

    killed: float
    partition: int
    seconds: float
    allowed: float
    judged: bool


def handovers(
    web: Web,
    log: Iterable[Asked],
    kills: Sequence[tuple[float, str]],
    troubles: Sequence[tuple[float, float]],
    partitions: int,
    least: float,
) -> list[Handover]:
    """Of every partition whose last request before a SIGKILL was the victim's, however long before: while a server is
    away nobody asks. `least`: seconds allowed before the delay of the host that is asked first."""
    found = []
    requests = sorted(log, key=lambda one: one.at)
    for moment, name in kills:
        due = _due(web, requests, moment)
        for partition, asked in by_partition(requests, partitions).items():
            before = [one for one in asked if one.at <= moment]
            after = next((one for one in asked if one.at > moment and name_of(one) != name), None)
            owned = before and name_of(before[-1]) == name
            if owned and after and any(one.at > moment and one.url in due for one in asked):
                allowed = least + web.hosts[after.host].crawl_delay
                troubled = any(since <= moment + allowed and until >= moment for since, until in troubles)
                judged = not troubled and moment - before[-1].at < OWNED
                found.append(Handover(moment, partition, after.at - moment, allowed, judged))
    return found


def unseen(kills: Sequence[tuple[float, str]], found: Sequence[Handover]) -> list[str]:
    """Workers were killed that had asked for pages, and nothing is seen to change hands: then the log says nothing of
    hand-overs, and a round that is silent about them proves none."""
    if not kills or found:
        return []
    return [f"no hand-over was seen, although {' and '.join(name for _, name in kills)} were killed at work"]


def _due(web: Web, log: Sequence[Asked], moment: float) -> set[str]:
    """What had been found, and published, but not asked for by then."""
    known = set(web.seeds)
    for one in log:
        if one.at < moment - PUBLISHED:
            known.update([web.redirects[one.url]] if one.url in web.redirects else web.links.get(one.url, ()))
    return known - {one.url for one in log if one.at <= moment}


def two_owners(log: Iterable[Asked], partitions: int, lease: float) -> list[str]:
    """A worker asks in a partition, another does, and the first again, all within `lease` seconds: no hand-over, which
    takes a lost session or two changes of members, is that fast."""
    violations = []
    for partition, requests in by_partition(log, partitions).items():
        turns = [list(turn) for _, turn in groupby(requests, name_of)]
        for first, second, third in zip(turns, turns[1:], turns[2:], strict=False):
            gap = third[0].at - first[-1].at
            if name_of(first[0]) == name_of(third[0]) and gap < lease:
                names = f"{name_of(first[0])} and {name_of(second[0])}"
                violations.append(f"partition {partition} had two owners, {names}: {third[0].url} after {gap:.2f} s")
    return violations


def silent(log: Iterable[Asked], away: Iterable[tuple[float, float, str]], least: float) -> list[str]:
    """Times when one of several nodes was away, and from ``least`` seconds after it went nobody asked for anything
    until it was back, although the crawl went on then."""
    times = [one.at for one in log]
    return [
        f"nothing was asked for while a node of {kind} was away for {until - since:.1f} s"
        for since, until, kind in away
        if times and max(times) > until and not any(since + least <= at <= until for at in times)
    ]


def by_partition(log: Iterable[Asked], partitions: int) -> dict[int, list[Asked]]:
    """The requests of each partition, in order."""
    found: dict[int, list[Asked]] = defaultdict(list)
    for one in sorted(log, key=lambda asked: asked.at):
        found[partition_of(one.host, partitions)].append(one)
    return found
