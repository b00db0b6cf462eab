"""What a host's turns came to, and the records of hosts that a later owner reads before their first turn there."""

import random
from collections.abc import Callable
from typing import TypeAlias

import msgspec

from gregor.schemas.messages import HostRecord
from gregor.schemas.parts import Failing
from gregor.worker.borders.effects import Effects
from gregor.worker.borders.store import PageStore
from gregor.worker.config.settings import Config
from gregor.worker.frontier.counts import NO_CHANGE, CountsChange
from gregor.worker.frontier.host import Host
from gregor.worker.frontier.partition import Partition
from gregor.worker.links.traps import Traps
from gregor.worker.observe.logging import logs
from gregor.worker.politeness import delays
from gregor.worker.politeness.budgets import HostBudgets
from gregor.worker.politeness.spacing import Spacing

_LOG = logs("politeness")


class Answered(msgspec.Struct, frozen=True):
    """A request to an origin was answered: the next turn is a delay after its start, and after a pause (seconds) that
    the host asked for.

    `change`: what the version that was stored, if one was, changes of the host's pages and bytes. `robots`: it was for
    a robots.txt. A crawl-delay spaces the pages of a host; the first need not wait for it. `mends`: the origin's
    failures are over. The redirect of a robots.txt whose target fails does not end them: each try begins with it.
    """

    origin: str
    pause: float = 0.0
    change: CountsChange = NO_CHANGE
    robots: bool = False
    mends: bool = True
    relevance: float | None = None
    """Of the page that came, for the topic; 1 for that of a seed, whose host is no new one."""


class OriginFailed(msgspec.Struct, frozen=True):
    """An origin as a whole failed: one probe a step, the steps double, each `at_least` so many seconds. Its tickets are
    given up in the end; until then the host waits. `robots`: what failed is its robots.txt, so that it is closed.
    `silent`: the fingerprint of the URL whose request was sent and not answered; 0: no connection came about."""

    origin: str
    cause: str
    at_least: float = 0.0
    robots: bool = False
    silent: int = 0


class Later(msgspec.Struct, frozen=True):
    """Nothing was asked for: the next turn is `at` a time, monotonic seconds. `looks`: only to look for what another
    host answers, so that this one may be asked before."""

    at: float
    looks: bool = False


TurnResult: TypeAlias = Answered | OriginFailed | Later
"""What a turn of a host came to."""


class HostRecords:
    """The records of one partition's hosts: each is durable before the first turn that needs it."""

    def __init__(
        self,
        partition: Partition,
        *,
        config: Config,
        spacing: Spacing,
        budgets: HostBudgets,
        store: PageStore,
        effects: Effects,
        traps: Traps,
        now: Callable[[], float],
        chance: random.Random,
    ) -> None:
        """``now`` gives the coordinator's time in unix seconds."""
        self._partition = partition
        self._config = config
        self._spacing = spacing
        self._budgets = budgets
        self._store = store
        self._effect = effects.run
        self._traps = traps
        self._now = now
        self._chance = chance

    async def read(self, host: Host) -> None:
        """Know what an earlier owner left of a host."""
        record = await self._effect(lambda: self._store.host(host.name))
        host.record = record or HostRecord(host=host.name)
        host.record_read = True
        try:
            self._traps.recall(host.name, host.record.shapes)
        except (msgspec.MsgspecError, OverflowError) as error:
            _LOG.warning(
                "what was learnt of a host cannot be read, and is learnt anew", host=host.name, error=str(error)
            )

    def given_up(self, host: Host, origin: str, ordered: float = 0.0) -> str:
        """Why the tickets of an origin are given up until its next probe: it failed too often. Empty if they are not.

        A visit that was ordered (unix seconds) after the last try is the next probe: the cause may have been mended.

        Those of the host's other origin need not be: https may be out of order where http is not.
        """
        failing = _failing(host.record, origin)
        shut = failing.given_up and failing.until > self._now() and ordered <= failing.at
        return failing.cause if shut else ""

    async def promise(self, host: Host) -> None:
        """Make the delay in force durable when a later owner would not keep it by itself."""
        ceiling = delays.ceiling(self._spacing.delay(host))
        if ceiling > max(host.record.ceiling, self._spacing.first_contact):
            await self._put(host, msgspec.structs.replace(host.record, ceiling=ceiling))

    async def answered(self, host: Host, result: Answered) -> None:
        """A request was answered."""
        record = host.record
        if result.pause:
            record = msgspec.structs.replace(record, not_before=self._now() + result.pause)
        elif record.failures and result.mends:
            record = _with(record, *_others(record, result.origin))
            host.mended()
        change = result.change
        if (change.pages or change.bytes) and self._budgets.counts(host):
            pages, size = record.pages + change.pages, max(0, record.bytes + change.bytes)
            record = msgspec.structs.replace(record, pages=pages, bytes=size)
        if self._config.has_topic and not record.relevant and (result.relevance or 0.0) >= self._config.topic_threshold:
            record = msgspec.structs.replace(record, relevant=True)
        record = self._with_learnt(record)
        if record is not host.record:
            await self._put(host, record)
        await self.promise(host)

    async def learnt(self, host: Host) -> None:
        """What was learnt of a host's URLs may have changed without a request."""
        if (record := self._with_learnt(host.record)) is not host.record:
            await self._put(host, record)

    async def failed(self, host: Host, result: OriginFailed) -> float:
        """An origin failed; gives the seconds for which its host is left alone: none once the origin is given up."""
        config, origin, cause = self._config, result.origin, result.cause
        before = _failing(host.record, origin)
        # One slow URL says nothing of the others, however often it is tried.
        was_silent = result.silent in before.silent
        failures = before.failures + (not was_silent)
        pause = delays.back_off(
            config.failure_ttl or config.retry_pause,
            failures,
            config.retry_pause_max,
            config.retry_jitter,
            self._chance,
        )
        pause = max(pause, result.at_least)
        host.failed(cause, robots=result.robots)
        now, given_up = self._now(), failures >= self._limit(host, result)
        until = now + pause
        silent = before.silent if was_silent or not result.silent else (*before.silent, result.silent)
        failing = Failing(origin, failures, until, cause, now, silent, given_up)
        record = _with(host.record, *_others(host.record, origin), failing)
        await self._put(host, record if given_up else msgspec.structs.replace(record, not_before=until))
        _LOG.debug("host failed", origin=origin, cause=cause, failures=failures, pause=pause, given_up=given_up)
        return 0.0 if given_up else pause

    def _limit(self, host: Host, result: OriginFailed) -> int:
        """After how many failures in a row an origin is given up. One that was never reached has as many tries as one
        URL would; one that takes connections, or answered before, is not judged by so few."""
        config = self._config
        reached = result.silent or (host.answered and not result.robots)
        return config.host_failures if reached else min(config.host_failures, config.retries + 1)

    def _with_learnt(self, record: HostRecord) -> HostRecord:
        learnt = self._traps.changes(record.host)
        return record if learnt is None else msgspec.structs.replace(record, shapes=learnt)

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
