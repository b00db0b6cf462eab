"""A worker: the partitions it owns and the visits that run, from join to leave.

One event loop; tasks only for running visits and, for each partition, its intake. A loop that fails ends the worker
and with it its leases: never a live zombie. There is one way to stop, whatever asked for it.
"""

import asyncio
import random
from collections.abc import Mapping, Sequence
from functools import partial

from gregor.worker.base.tasks import cancel, until
from gregor.worker.borders.clock import Clock
from gregor.worker.borders.effects import Retries
from gregor.worker.borders.services import Services
from gregor.worker.config.settings import Config
from gregor.worker.extract.crawled import NOTHING, Extraction
from gregor.worker.fetch.cookie_file import GivenCookie
from gregor.worker.frontier.domain_budget import DomainPages
from gregor.worker.frontier.host import Host
from gregor.worker.frontier.schedule import HostSchedule
from gregor.worker.links.scope import Scope
from gregor.worker.observe.bottleneck import LINE_DOWN, Bottlenecks
from gregor.worker.observe.instrumented import all_measured
from gregor.worker.observe.stats import Stats
from gregor.worker.observe.tracing import Tracer
from gregor.worker.orders.in_force import OrdersInForce
from gregor.worker.run.crawls import Crawls
from gregor.worker.run.ending import Budget, Ending, has_ended
from gregor.worker.run.order_gate import OrderGate
from gregor.worker.run.ownership import TICK, Owned, Ownership
from gregor.worker.web.urls import Urls


class Runtime:
    """One worker. `run` is called once."""

    def __init__(
        self,
        config: Config,
        services: Services,
        clock: Clock,
        *,
        urls: Urls,
        scope: Scope,
        random: random.Random,
        name: str = "worker",
        stats: Stats | None = None,
        authorizations: dict[str, str] | None = None,
        cookies: Sequence[GivenCookie] = (),
        tracer: Tracer | None = None,
        extraction: Extraction = NOTHING,
    ) -> None:
        self.name = name
        self._config = config
        self._clock = clock
        self.stats = stats or Stats()
        self.services = services = all_measured(services, self.stats, clock.monotonic)
        self._scope = scope
        self._woken = asyncio.Event()
        self.orders = orders = OrdersInForce(services.coordinator.orders)
        self.domain_pages = domain_pages = DomainPages()
        self._schedule = HostSchedule(clock.monotonic, self._woken.set)
        retries = Retries(self.stats, random)
        self._crawls = Crawls(
            config,
            services,
            clock,
            urls=urls,
            scope=lambda: self._scope,
            chance=random,
            name=name,
            stats=self.stats,
            authorizations=authorizations or {},
            cookies=cookies,
            tracer=tracer,
            orders=orders,
            schedule=self._schedule,
            domain_pages=domain_pages,
            extraction=extraction,
        )
        self._ownership = Ownership(
            config,
            services,
            self._crawls.of,
            name=name,
            retries=retries,
            orders=orders,
            schedule=self._schedule,
            monotonic=clock.monotonic,
            stats=self.stats,
        )
        self._running = 0
        self._steering = OrderGate(
            orders,
            self._ownership.owned,
            name=name,
            partitions=config.partitions,
            schedule=self._schedule,
            domain_pages=domain_pages,
            store=services.store,
            retries=retries,
        )
        self._budget = Budget(config, self.stats, lambda: orders.crawl("budget"), services.counters)
        self._ending: Ending | None = None
        self._ended = asyncio.Event()  # it ends now, whatever its loops wait for
        self._looked = 0.0
        self._counted = clock.monotonic()
        self._limits = Bottlenecks(config.concurrency)

    def stop(self, detail: str = "by a signal") -> None:
        """Begin the clean stop: no new turns; what runs is finished and committed."""
        self._end(Ending("stopped", detail))

    def _end(self, ending: Ending) -> None:
        if self._ending is None:
            self._ending = ending
            if ending.reason == "budget":
                self.stats.limit, self.stats.limiting = "budget", f"budget: {ending.detail}"
            self._ended.set()

    def measure(self, scope: Scope) -> None:
        """Measure links by another scope from now on: there are new seeds."""
        self._scope = scope

    @property
    def concurrency(self) -> int:
        """How many visits may run at once."""
        wanted = self.orders.concurrency(self._config.concurrency, self._ownership.share)
        return self._crawls.fetcher.thrift.most(wanted)

    @property
    def drained(self) -> bool:
        """Whether an order says that it is to own nothing."""
        return self._ownership.drained

    @property
    def owned(self) -> Mapping[int, Owned]:
        """The partitions it owns now."""
        return self._ownership.owned

    @property
    def ending(self) -> Ending | None:
        """How it ends, once it does."""
        return self._ending

    async def run(self) -> Ending:
        """Crawl until nothing is left, a budget is spent, or `stop`. Raises what made a loop fail."""
        self.stats.started = self._clock.monotonic()
        self.services.log.on_news(self._ownership.news)
        await self._ownership.join()
        own = self._ownership
        work = (own.own, self._dispatch, own.commit, self._steering.count)
        loops = [asyncio.create_task(own.watched(loop)) for loop in work]
        over = [asyncio.create_task(event.wait()) for event in (own.failed, self._ended)]
        try:
            await asyncio.wait(over, return_when=asyncio.FIRST_COMPLETED)
            if own.failure is not None:
                raise own.failure
            return await self._leave(loops)
        finally:
            await cancel([*over, *loops, *(task for owned in own.owned.values() for task in owned.tasks)])

    async def _dispatch(self) -> None:
        """Start turns as they come due, as many at once as configured, until the crawl ends."""
        steering, schedule, woken = self._steering, self._schedule, self._woken
        checked, pause = 0.0, TICK / 5
        await self._steering.recount()  # before the first turn: a restart grants no more
        while self._ending is None:
            woken.clear()
            now = self._clock.monotonic()
            if (spent := self._budget.spent(now - self.stats.started)) is not None:
                self._end(Ending.of_budget(spent))
                break
            steering.hear(now)
            paused, most = self.orders.latest.paused, self.concurrency
            while self._running < most and steering.lets(now) and self._budget.allows(self._running):
                host = schedule.take(now)
                if host is None:
                    break
                self._visit(host)
            self._budget.runs(self._running)
            due, free = schedule.next_due(), self._running < most
            schedule.judge_idle(free, now)
            if now >= self._looked + TICK / 2:
                self._looked = now
                self.gauge()
                self._crawls.fetcher.prefetch([host.queue.first() for host in schedule.near(16)])
            if self._running or len(schedule):
                pause = TICK / 5
            elif now - checked >= pause:
                if await self._finished() and not self._config.linger:
                    self._end(Ending("finished"))
                    break
                checked, pause = self._clock.monotonic(), min(2 * pause, 4 * TICK)  # others may be busy for long
            wait = TICK
            held = paused or bool(self._budget.holds_back(self._running))  # then the end of a visit wakes it
            if due is not None and free and not held:
                wait = min(TICK, max(0.0, max(due, steering.due(now)) - self._clock.monotonic()))
            await until(woken, wait)

    def _visit(self, host: Host) -> None:
        owned = self._ownership.owned.get(host.partition)
        if owned is None or not host.alive:
            return
        now = self._clock.monotonic()
        if self._steering.holds_back(owned, host, now):
            self._schedule.see(owned.crawl.partition, host)
            return
        self._steering.begins(host, now)
        if host.record_read:
            self.stats.stages["queue"].observe(now - host.next_turn)
        host.busy = True
        owned.visits += 1
        owned.idle.clear()
        self._count(1)
        task = self._ownership.start(owned, partial(owned.crawl.visit, host))
        task.add_done_callback(lambda _: self._over(owned, host))  # also when it is cancelled before it began

    def _count(self, change: int) -> None:
        """So many visits more run from now on."""
        now = self._clock.monotonic()
        self.stats.occupied += self._running * (now - self._counted)
        self._running, self._counted = self._running + change, now
        self.stats.running = self._running
        self._budget.runs(self._running)

    def _over(self, owned: Owned, host: Host) -> None:
        self._count(-1)
        self._steering.ends(host, self._clock.monotonic())
        owned.visits -= 1
        if not owned.visits:
            owned.idle.set()
        self._woken.set()

    # The end

    async def _finished(self) -> bool:
        """Whether the whole crawl has ended, not only what this worker owns."""
        if not all(owned.crawl.partition.read_to_end for owned in self._ownership.owned.values()):
            return False
        await asyncio.gather(*(self._ownership.checkpoint(owned) for owned in list(self._ownership.owned.values())))
        if await has_ended(self.services.log, self.services.store, self._config.partitions):
            return True
        log, store, ask = self.services.log, self.services.store, self._ownership.patiently
        for crawl in [owned.crawl for owned in self._ownership.owned.values()]:
            partition = crawl.partition
            if await ask(log.committed, partition.id) != partition.watermarks():
                partition.committed = {}  # a late commit set a watermark back: commit anew
            if partition.read_to_end and await ask(store.waiting, partition.id) and partition.read_to_end:  # still
                crawl.intake.search()
        return False

    async def _leave(self, loops: list[asyncio.Task[None]]) -> Ending:
        """The clean stop: what runs may end within the grace, everything is committed, every partition released.

        No server is waited for longer than for one of its answers: what is not committed is read and recognised again.
        """
        await cancel(loops)
        idle = [asyncio.ensure_future(owned.idle.wait()) for owned in self._ownership.owned.values()]
        for owned in self._ownership.owned.values():
            self._ownership.close(owned)
        if idle:
            await asyncio.wait(idle, timeout=self._config.stop_grace)
            await cancel(idle)
        await self._ownership.commit_last()
        last = list(self._ownership.owned.values())
        for owned in last:
            await self._ownership.drop(owned)
        coordinator = self.services.coordinator
        await self._ownership.let_go(self._crawls.fetcher.gate.leave())
        await asyncio.gather(*(self._ownership.let_go(coordinator.release(owned.lease)) for owned in last))
        await self._ownership.let_go(coordinator.leave())
        assert self._ending is not None
        return self._ending

    def gauge(self) -> None:
        """Bring up to date what people are shown; else it is done a few times a second."""
        now = self._clock.monotonic()
        stats, partitions = self.stats, [owned.crawl.partition for owned in self._ownership.owned.values()]
        stats.beat = now
        if (order := self._crawls.order) is not None:
            stats.worths = order.published.borders
        stats.queued = sum(partition.size for partition in partitions)
        stats.hosts = sum(len(partition.hosts) for partition in partitions)
        stats.hosts_waiting = len(self._schedule)
        stats.later = not all(partition.calendar.empty for partition in partitions)
        self._count(0)
        sample = stats.sample(
            now,
            waited=self._schedule.waited,
            naming=self._crawls.fetcher.names.awaited.seconds,
            paused=self.orders.latest.paused,
            budget=self._budget.holds_back(self._running),
            ordered=self._steering.limit,
        )
        self._limits.concurrency = self.concurrency
        stats.limit, stats.limiting = self._limits.judge(sample)
        if self._crawls.fetcher.line.down:
            stats.limit, stats.limiting = LINE_DOWN
