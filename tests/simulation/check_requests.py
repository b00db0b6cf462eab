"""What the web's request log tells: politeness (I1), obedience (I2), repetition (I5), leases (I8), idling (I10),
addresses (I11)."""

from collections import defaultdict
from collections.abc import Iterator
from ipaddress import ip_address
from itertools import pairwise
from urllib.parse import urlsplit

from gregor.schemas.messages import HostRecord, Row
from tests.simulation.clock import WALL_EPOCH
from tests.simulation.crawl import Run
from tests.simulation.web import Exchange
from tests.simulation.webs import rules_of

Finding = tuple[float, str]
_TICK = 1e-3
_CLOCKS = 0.5
"""Seconds by which a worker may misjudge the coordinator's time."""


def by_host(run: Run) -> dict[str, list[Exchange]]:
    """The requests of each host, in order."""
    found: dict[str, list[Exchange]] = defaultdict(list)
    for exchange in run.web.log:
        found[exchange.host].append(exchange)
    return found


def polite(run: Run) -> list[Finding]:
    """I1: requests to one host start at least its delay apart, and never overlap."""
    found = []
    for host, exchanges in by_host(run).items():
        records = _host_records(run, host)
        for before, after in pairwise(exchanges):
            gap, least = after.start - before.start, _delay(run, before, after)
            if gap < least - _TICK:
                found.append(_too_soon(before, after, least))
            if after.start < before.end - _TICK and not _stopped(run, before.client, before.start, after.start):
                found.append((after.start, f"{after.url} by {after.client} overlaps {before.url} by {before.client}"))
        pages = [exchange for exchange in exchanges if exchange.path != "/robots.txt"]
        for before, after in pairwise(pages):
            least = _crawl_delay(run, before, after, records)
            if after.start - before.start < least - _TICK:
                found.append(_too_soon(before, after, least))
        found += _pushed_back(run, exchanges, records)
    return found


def spaced(run: Run) -> list[Finding]:
    """I12: requests to one address, whoever makes them and for whatever hosts, start at least its delay apart, and no
    more run at once than may."""
    config, found = run.config, []
    delay = min(0.1 * config.delay, 0.05) if config.per_address_delay is None else config.per_address_delay
    to: dict[str, list[Exchange]] = defaultdict(list)
    for exchange in run.web.log:
        to[exchange.address].append(exchange)
    for exchanges in to.values():
        for before, after in pairwise(exchanges):
            if after.start - before.start < delay - _TICK and not _forgotten(run, after):
                found.append(_too_soon(before, after, delay))
        for one in exchanges if config.per_address is not None else ():
            at_once = [other for other in exchanges if other.start <= one.start < other.end]
            if len(at_once) > (config.per_address or 0) and not any(_vanished(run, other) for other in at_once):
                found.append((one.start, f"{one.url} is one of {len(at_once)} at {one.address}"))
    return found


def _forgotten(run: Run, exchange: Exchange) -> bool:
    """Whether its client is younger than a fail-over of the turns of addresses, of which nothing tells it."""
    lapses = [time for time, _, fault in run.world.faults.happened if fault.kind == "forget"]
    return any(lapse <= exchange.start <= lapse + 30.0 for lapse in lapses)


def _vanished(run: Run, exchange: Exchange) -> bool:
    """Whether something happened to its client while it ran: then nobody else need know of it."""
    return any(i.client == exchange.client and i.time <= exchange.end for i in run.world.incidents)


def _too_soon(before: Exchange, after: Exchange, least: float) -> Finding:
    about = f"{after.url} by {after.client} {after.start - before.start:.2f} s after {before.url} by {before.client}"
    return after.start, f"{about}; the delay is {least:.2f} s"


def _delay(run: Run, before: Exchange, after: Exchange) -> float:
    """The delay in force between two requests, as far as whoever made the second had to know it."""
    if before.client == after.client and before.status and not before.aborted:
        return max(run.config.delay, run.config.delay_factor * before.latency)
    return run.config.delay


def _crawl_delay(run: Run, before: Exchange, after: Exchange, records: list[tuple[float, HostRecord]]) -> float:
    """What robots.txt asks for between two pages, if whoever made the second request had to know it."""
    crawl_delay = min(run.web.sites[after.host].crawl_delay, run.config.max_crawl_delay)
    ceiling = max((record.ceiling for time, record in records if time <= after.start), default=0.0)
    told = before.client == after.client and _read_rules(run, after, before.end)
    return crawl_delay if told or ceiling >= crawl_delay else 0.0


def _read_rules(run: Run, exchange: Exchange, until: float) -> bool:
    """Whether this client got the readable robots.txt of this very host by then."""
    return any(
        one.client == exchange.client and one.path == "/robots.txt" and one.status == 200 and one.end <= until
        for one in run.web.log
        if one.origin == exchange.origin
    )


def _host_records(run: Run, host: str) -> list[tuple[float, HostRecord]]:
    return [
        (effect.time, effect.args[0])
        for effect in run.world.journal
        if effect.op == "put_host" and effect.args[0].host == host and effect.result
    ]


def _pushed_back(run: Run, exchanges: list[Exchange], records: list[tuple[float, HostRecord]]) -> Iterator[Finding]:
    """Requests before a Retry-After was over: of the client that got it, and of any that could read of it."""
    until: dict[str, float] = {}
    for exchange in exchanges:
        stored = [record for time, record in records if time <= exchange.start]
        waits = [until.get(exchange.client, 0.0), stored[-1].not_before - WALL_EPOCH - _CLOCKS if stored else 0.0]
        if exchange.start < max(waits) - _TICK:
            yield exchange.start, f"{exchange.url} by {exchange.client}, asked to wait until {max(waits):.2f} s"
        if exchange.status in (429, 503) and exchange.retry_after and not _lost(run, exchange):
            until[exchange.client] = exchange.end + min(exchange.retry_after, run.config.retry_after_max)


def _lost(run: Run, exchange: Exchange) -> bool:
    """Whether its client may never have heard the answer."""
    around = (exchange.start - 1.0, exchange.end + 1.0)
    incidents = (i.time for i in run.world.incidents if i.client == exchange.client)
    return exchange.aborted or any(around[0] <= time <= around[1] for time in incidents)


def _stopped(run: Run, client: str, since: float, until: float) -> bool:
    """Whether a client's process was stopped at some time in between."""
    return any(i.client == client and i.what == "stopped" and since <= i.time <= until for i in run.world.incidents)


def obedient(run: Run) -> list[Finding]:
    """I2: nothing that robots.txt disallows; nothing before it was answered, nor while it is unreachable."""
    found = []
    for exchange in run.web.log:
        if exchange.path == "/robots.txt":
            continue
        verdict = _verdict(run, exchange.origin, exchange.start)
        site = run.web.sites[exchange.host]
        rules = rules_of(run.web, site)
        if verdict in ("", "unreachable"):
            found.append((exchange.start, f"{exchange.url} while robots.txt is {verdict or 'not asked for'}"))
        elif verdict == "rules" and rules is not None and not rules.allows(exchange.path):
            found.append((exchange.start, f"{exchange.url} is disallowed"))
    return found


def _verdict(run: Run, origin: str, now: float, hops: int = 0) -> str:
    """What is known at a moment of an origin's robots.txt: "rules", "none", "unreachable", or "" before any answer."""
    verdict = ""
    for one in run.web.log:
        if one.origin != origin or one.path != "/robots.txt" or one.end > now or one.aborted:
            continue
        if one.status == 200:
            verdict = "rules"
        elif 300 <= one.status < 400 and hops < 5:
            target = urlsplit(one.location)
            verdict = _verdict(run, f"{target.scheme}://{target.netloc}", now, hops + 1)
        elif 400 <= one.status < 500 and one.status != 429:
            verdict = "none"
        elif verdict != "rules":
            verdict = "unreachable"
    return verdict


def once(run: Run) -> list[Finding]:
    """I5: a request more than the visits that were settled needs a visit in flight at a crash or a lost lease."""
    rows: dict[str, list[tuple[float, str, Row]]] = defaultdict(list)
    for effect in run.world.journal:
        if effect.op == "put_rows":
            for row in effect.args[0]:
                rows[row.href].append((effect.time, effect.client, row))
    requests: dict[str, list[Exchange]] = defaultdict(list)
    for exchange in run.web.log:
        if exchange.path != "/robots.txt":
            requests[exchange.url].append(exchange)
    found = []
    for url, asked in requests.items():
        visits = len({row.visits for _, _, row in rows[url]})
        in_flight = sum(_in_flight(run, one, rows[url]) for one in asked)
        if len(asked) > visits + in_flight:
            about = f"{url} was requested {len(asked)} times: {visits} visits, {in_flight} in flight at an incident"
            found.append((asked[-1].start, about))
    return found


def _in_flight(run: Run, exchange: Exchange, rows: list[tuple[float, str, Row]]) -> bool:
    """Whether something happened to its client between the request and the settled row.

    A lease that was over and came back ends what runs under it a moment later.
    """
    settled = min((t for t, client, _ in rows if client == exchange.client and t >= exchange.start), default=1e12)
    since = exchange.start - (1.0 if exchange.aborted else 0.0)
    return any(i.client == exchange.client and since <= i.time <= settled for i in run.world.incidents)


def leased(run: Run) -> list[Finding]:
    """I8: a request is made by the owner of its host's partition, under a lease that certainly holds."""
    found = []
    for exchange in run.web.log:
        if not exchange.owned:
            found.append((exchange.start, f"{exchange.url} by {exchange.client}, which does not own the partition"))
        elif not exchange.leased:
            found.append((exchange.start, f"{exchange.url} by {exchange.client}, whose lease may have run out"))
    owners: dict[int, str] = {}
    for change in run.world.zookeeper.history:
        if change.gained and change.partition in owners:
            found.append((change.time - WALL_EPOCH, f"partition {change.partition} has two owners"))
        if change.gained:
            owners[change.partition] = change.client
        else:
            owners.pop(change.partition, None)
    return found


def addresses(run: Run) -> list[Finding]:
    """I11: no request goes to an address that is not global."""
    return [
        (exchange.start, f"{exchange.url} went to {exchange.address}")
        for exchange in run.web.log
        if not ip_address(exchange.address).is_global
    ]
