"""What the request log tells of idling (I10)."""

from itertools import pairwise

from gregor.schemas.messages import Ticket
from tests.simulation.check_requests import Finding, by_host
from tests.simulation.crawl import RESTART, Run
from tests.simulation.web import Exchange


def busy(run: Run) -> list[Finding]:
    """I10: a host that is ready, and has a URL that was never asked for, is asked within SLACK seconds; and the crawl
    ends soon after its last request."""
    found = []
    published = _published(run)
    for host, exchanges in by_host(run).items():
        for place, (before, after) in enumerate(pairwise(exchanges)):
            later = {one.url for one in exchanges[place + 1 :]} - {one.url for one in exchanges[: place + 1]}
            known = [published[url] for url in later if url in published]
            if not known or _excused(run, host, exchanges[: place + 1], after.start):
                continue
            ready = max(min(known), before.end + _longest_delay(run, before))
            if after.start > ready + SLACK:
                found.append((after.start, f"{host} was idle since {ready:.2f} s"))
    last = max([one.end for one in run.web.log if one.end < 1e12] + [t for t, _ in run.web.attempts], default=0.0)
    quiet = max([i.time for i in run.world.incidents] + [t for t, _, _ in run.world.faults.happened], default=0.0)
    if run.ended > max(last, quiet) + SLACK + run.config.retry_pause_max * 2 + RESTART:
        found.append((run.ended, f"the end came {run.ended - last:.0f} s after the last request"))
    return found


SLACK = 10.0
"""Seconds that the machinery itself may take: publishing, reading, a bucket's width, a look-up."""


def _published(run: Run) -> dict[str, float]:
    times: dict[str, float] = {}
    for effect in run.world.journal:
        if effect.op == "publish":
            for ticket in effect.args[0]:
                if isinstance(ticket, Ticket):
                    times.setdefault(ticket.href, effect.time)
    return times


def _longest_delay(run: Run, exchange: Exchange) -> float:
    site = run.web.sites[exchange.host]
    return max(run.config.delay, site.crawl_delay, run.config.delay_factor * exchange.latency)


def _shares_address(run: Run, host: str) -> bool:
    """Whether other hosts are at one of its addresses, where it may have to wait for them."""
    own = set(run.web.sites[host].addresses)
    return any(own & set(site.addresses) for name, site in run.web.sites.items() if name != host)


def _excused(run: Run, host: str, past: list[Exchange], until: float) -> bool:
    """Whether something else than idling explains a gap: the host pushed back or failed, or a fault happened."""
    since = past[-1].start
    config = run.config
    if (config.per_address is not None or config.per_address_delay) and _shares_address(run, host):
        return True
    pause = config.retry_pause_max * 2
    site = run.web.sites[host]
    if since <= max(t for t in (site.dead_until, site.unknown_until, 0.0) if t < 1e12) + pause:
        return True
    if any(one.status in (0, 429, 500, 503) and until <= one.start + pause + (one.retry_after or 0) for one in past):
        return True
    if past[-1].path == "/robots.txt" and past[-1].status != 200:
        return True  # an unreachable file, or one that another host answers in its own time
    recent = since - pause
    troubles = [i.time for i in run.world.incidents] + [t for t, _, _ in run.world.faults.happened]
    return any(recent <= time <= until for time in troubles)
