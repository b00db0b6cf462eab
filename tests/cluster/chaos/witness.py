"""What the web server's log says of a round: politeness, robots.txt, extra requests, hand-overs. Pure."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from gregor.partitioner.hashing import partition_of
from tests.cluster.chaos.server import Asked
from tests.cluster.chaos.web import Web

TOLERANCE = 0.05
"""Seconds: what the clocks and the scheduling of a busy machine may move the start of a request."""
IN_FLIGHT = 12.0
"""Seconds before a worker was hurt in which a request of it may have been under way, its settle included."""
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
        asked_robots, last, last_page, lag = False, -1e9, -1e9, 0.0
        crawl_delay = max(delay, web.hosts[host].crawl_delay) if host in web.hosts else delay
        for one in requests:
            late = TOLERANCE + max(lag, one.lag)
            robots = one.path == "/robots.txt"
            if one.at - last < delay - late:
                violations.append(f"{one.url} {one.at - last:.3f} s after the request before, by {name_of(one)}")
            elif not robots and one.at - last_page < crawl_delay - late:
                violations.append(f"{one.url} {one.at - last_page:.3f} s after the page before, by {name_of(one)}")
            if one.path.startswith("/private/"):
                violations.append(f"{one.url} is disallowed")
            if not robots and not asked_robots:
                violations.append(f"{one.url} before robots.txt")
            asked_robots = asked_robots or robots
            last, last_page, lag = one.at, last_page if robots else one.at, one.lag
    return violations


def extra(web: Web, log: Iterable[Asked], hurt: Mapping[str, Sequence[float]]) -> list[str]:
    """Requests of a page that no retry called for and no worker's misfortune explains."""
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
            if not any(0.0 <= moment - before.at <= IN_FLIGHT for moment in times):
                violations.append(f"{url} by {name_of(before)}, {again.at - before.at:.1f} s later by {name_of(again)}")
    return violations


def handovers(
    web: Web, log: Iterable[Asked], kills: Sequence[tuple[float, str]], partitions: int
) -> list[tuple[float, float]]:
    """For each partition that lost its owner by SIGKILL: seconds to the next request, and the delay of that host."""
    found = []
    requests: dict[int, list[Asked]] = defaultdict(list)
    for one in sorted(log, key=lambda asked: asked.at):
        requests[partition_of(one.host, partitions)].append(one)
    for moment, name in kills:
        for asked in requests.values():
            before = [one for one in asked if one.at <= moment]
            after = next((one for one in asked if one.at > moment), None)
            if before and after and name_of(before[-1]) == name and moment - before[-1].at < 3.0:
                found.append((after.at - moment, web.hosts[after.host].crawl_delay))
    return found
