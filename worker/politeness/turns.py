"""A host's turns: when the next one may be, and what a later owner must know of it before that."""

import math
import random
from collections.abc import Callable

import msgspec

from gregor.schemas.messages import Asked, Failing, HostRecord
from gregor.worker.borders.effects import Effects
from gregor.worker.borders.store import PageStore
from gregor.worker.config.settings import Config
from gregor.worker.frontier.domain_budget import DomainPages
from gregor.worker.frontier.host import Host
from gregor.worker.frontier.partition import Partition
from gregor.worker.observe.logging import logs
from gregor.worker.observe.stats import Stats
from gregor.worker.orders.in_force import OrdersInForce
from gregor.worker.politeness import delays

_LOG = logs("politeness")


class Turns:
    """The politeness of one partition. A host's record is durable before the first turn that needs it."""

    def __init__(
        self,
        partition: Partition,
        *,
        config: Config,
        store: PageStore,
        effects: Effects,
        orders: OrdersInForce,
        domain_pages: DomainPages,
        now: Callable[[], float],
        monotonic: Callable[[], float],
        chance: random.Random,
        stats: Stats,
    ) -> None:
        """``now`` gives the coordinator's time in unix seconds."""
        self._partition = partition
        self._config = config
        self._store = store
        self._effect = effects.run
        self._orders = orders
        self._domain_pages = domain_pages
        self._now = now
        self._monotonic = monotonic
        self._chance = chance
        self._stats = stats
        # Read once, so that requests are on record exactly as far apart as they were, however busy the machine is.
        self._origin = now() - monotonic()
        self._overrides = {override.host: override for override in config.hosts}
        self._first_contact = config.delay if config.first_contact_delay is None else config.first_contact_delay
        self._limit = max(1, min(config.host_failures, config.retries + 1))

    async def know(self, host: Host) -> None:
        """A turn begins: read what an earlier owner left of a host, before its first turn here."""
        host.ordered = self._ordered(host)
        if host.known:
            return
        store = self._store
        record = await self._effect(lambda: store.host(host.name))
        host.record = record or HostRecord(host=host.name)
        host.known = True
        host.next_turn = max(host.next_turn, self._first_turn(host))

    def _first_turn(self, host: Host) -> float:
        """When this owner may first ask a host, monotonic seconds."""
        now, lease = self._now(), self._partition.lease
        earliest = max(now, host.record.not_before)
        if lease.epoch > 1:
            ceiling = min(host.record.ceiling, self._longest(host))
            earliest = delays.first_turn(now, lease.taken_at, ceiling, self._first_contact, host.record.not_before)
        # It may have been asked and forgotten; what was ordered since then holds for it all the same.
        return max(
            self._monotonic() + earliest - self._now(), self._partition.forgotten + self.delay(host, crawl_delay=False)
        )

    def may_send(self, host: Host, href: str = "", rules: float = 0.0) -> bool:
        """Asked last before a request is written: notes its start. False when the lease may be over.

        ``href``: the page that is asked for, empty for a robots.txt; ``rules``: when the robots.txt that allows it was
        fetched.
        """
        if not self._partition.lease.holds():
            return False
        now, stats = self._monotonic(), self._stats
        # An order that came since the turn began holds from the next one on.
        delay = self._delay(host, min(host.ordered, self._ordered(host)), 0.0)
        if href:
            longest = self._config.max_crawl_delay
            page_delay = delays.delay_in_force(delay, host.crawl_delay, longest, 0.0, 0.0)
            stats.spaced(now - host.last_page, page_delay, now)
            host.last_page = now
            host.record_request(Asked(self._origin + now, delay, page_delay, rules, href))
        else:
            stats.spaced(now - host.last_start, delay, now)
            host.record_request(Asked(self._origin + now, delay, robots=True))
        host.last_start = now
        stats.requests += 1
        self._partition.counts["requests"] += 1
        return True

    def _longest(self, host: Host) -> float:
        """The longest delay that can be in force: more on record was ordered or configured once, and is no more."""
        config = self._config
        return delays.ceiling(
            self._delay(host, self._ordered(host), config.max_crawl_delay, latency=config.total_timeout)
        )

    def page_due(self, host: Host) -> float:
        """When a page of the host may be asked for, monotonic seconds, as far as its last page decides."""
        return host.last_page + self.delay(host)

    def given_up(self, host: Host, origin: str) -> str:
        """Why the tickets of an origin are given up until its next probe: it failed too often. Empty if they are not.

        Those of the host's other origin need not be: https may be out of order where http is not.
        """
        failing = _failing(host.record, origin)
        return failing.cause if failing.failures >= self._limit and failing.until > self._now() else ""

    def delay(self, host: Host, *, crawl_delay: bool = True) -> float:
        """The delay in force between two request starts, in seconds; `crawl_delay`: what robots.txt asks for counts."""
        return self._delay(host, self._ordered(host), host.crawl_delay if crawl_delay else 0.0)

    def _ordered(self, host: Host) -> float:
        return self._orders.delay(host.name)

    def _delay(self, host: Host, ordered: float, crawl_delay: float, latency: float | None = None) -> float:
        config = self._config
        override = self._overrides.get(host.name)
        configured = config.delay if override is None or override.delay is None else override.delay
        return delays.delay_in_force(
            max(configured, ordered),
            crawl_delay,
            config.max_crawl_delay,
            config.delay_factor,
            host.latency if latency is None else latency,
        )

    def budget_spent(self, host: Host) -> str:
        """Which budget of the host is spent; empty when none is."""
        override, config = self._overrides.get(host.name), self._config
        pages, size = config.max_pages_per_host, config.max_bytes_per_host
        if override is not None:
            pages = pages if override.max_pages is None else override.max_pages
            size = size if override.max_bytes is None else override.max_bytes
        ordered = self._orders.budget(host.name)
        pages = pages if ordered is None else ordered
        if pages is not None and host.record.pages >= pages:
            return f"budget: {pages} pages of this host"
        if size is not None and host.record.bytes >= size:
            return f"budget: {size} bytes of this host"
        for domain, most in self._orders.domain_budgets(host.name):
            if self._domain_pages.of(domain) >= most:
                return f"budget: {most} pages of {domain}"
        return ""

    def _budgeted(self, host: Host) -> bool:
        config = self._config
        return (
            config.max_pages_per_host is not None
            or config.max_bytes_per_host is not None
            or host.name in self._overrides
            or self._orders.budget(host.name) is not None
        )

    async def promise(self, host: Host) -> None:
        """Before a request: make the delay in force durable when a later owner would not keep it by itself."""
        ceiling = delays.ceiling(self.delay(host))
        if ceiling > max(host.record.ceiling, self._first_contact):
            await self._put(host, msgspec.structs.replace(host.record, ceiling=ceiling))

    async def asked(
        self,
        host: Host,
        origin: str,
        pause: float = 0.0,
        page_bytes: int | None = None,
        *,
        robots: bool = False,
        mends: bool = True,
    ) -> None:
        """A request was answered: the next turn is a delay after its start, and after a pause the host asked for.

        `robots`: it was for a robots.txt. A crawl-delay spaces the pages of a host; the first need not wait for it.
        `mends`: the origin's failures are over. The redirect of a robots.txt whose target fails does not end them: each
        try begins with it.
        """
        record = host.record
        if pause:
            record = msgspec.structs.replace(record, not_before=self._now() + pause)
        elif record.failures and mends:
            record = _with(record, *_others(record, origin))
            host.cause = ""
        if page_bytes is not None and self._budgeted(host):
            record = msgspec.structs.replace(record, pages=record.pages + 1, bytes=record.bytes + page_bytes)
        if record is not host.record:
            await self._put(host, record)
        await self.promise(host)
        self._set_next(host, pause, robots)

    async def failed(self, host: Host, origin: str, cause: str, at_least: float = 0.0) -> None:
        """An origin as a whole failed: one probe a step, the steps double. Its tickets are given up in the end; until
        then the host waits."""
        config = self._config
        failures = _failing(host.record, origin).failures + 1
        pause = delays.back_off(
            config.failure_ttl or config.retry_pause,
            failures,
            config.retry_pause_max,
            config.retry_jitter,
            self._chance,
        )
        pause = max(pause, at_least)
        host.cause = cause
        until, given_up = self._now() + pause, failures >= self._limit
        record = _with(host.record, *_others(host.record, origin), Failing(origin, failures, until, cause))
        await self._put(host, record if given_up else msgspec.structs.replace(record, not_before=until))
        _LOG.debug("host failed", origin=origin, cause=cause, failures=failures, pause=pause, given_up=given_up)
        self._set_next(host, 0.0 if given_up else pause)

    def sooner(self, host: Host) -> bool:
        """The delay in force may be shorter than when the next turn was set: whether that comes sooner now.

        Only where nothing but a delay is waited for.
        """
        if host.busy or host.walks or not host.known or host.record.not_before > self._now():
            return False
        if host.last_start == -math.inf:
            due = self._first_turn(host)
        else:
            due = max(host.last_start + self.delay(host, crawl_delay=False), self.page_due(host))
        if due >= host.next_turn:
            return False
        host.next_turn = max(due, self._monotonic())
        return True

    def _set_next(self, host: Host, pause: float, robots: bool = False) -> None:
        now = self._monotonic()
        page_delay = self.delay(host)
        delay = self.delay(host, crawl_delay=False) if robots else page_delay
        host.next_turn = max(host.last_start + delay, host.last_page + page_delay, now + pause)

    async def _put(self, host: Host, record: HostRecord) -> None:
        partition, store = self._partition, self._store
        await self._effect(lambda: store.put_host(record, partition.stamp()))
        host.record = record


def _failing(record: HostRecord, origin: str) -> Failing:
    """What is known of an origin's failures."""
    return next((failing for failing in record.failing if failing.origin == origin), Failing(origin, 0, 0.0, ""))


def _others(record: HostRecord, origin: str) -> list[Failing]:
    return [failing for failing in record.failing if failing.origin != origin]


def _with(record: HostRecord, *failing: Failing) -> HostRecord:
    worst = max((one.failures for one in failing), default=0)
    return msgspec.structs.replace(record, failing=failing, failures=worst)
