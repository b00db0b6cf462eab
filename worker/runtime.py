"""A worker: the partitions it owns and the visits that run, from join to leave.

One event loop; tasks only for running visits and, for each partition, its intake. A loop that fails ends the worker
and with it its leases: never a live zombie. There is one way to stop, whatever asked for it.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

import msgspec

from gregor.schemas.messages import PRIORITIES, PartitionRecord
from gregor.worker.addressing import AddressGate
from gregor.worker.borders import Clock, Lease, Unavailable
from gregor.worker.calendar import Calendar
from gregor.worker.checkpoints import checkpoint
from gregor.worker.config import Config
from gregor.worker.crawl import Crawl, Desk
from gregor.worker.ending import Budget, Ending, has_ended
from gregor.worker.examine import Examiner
from gregor.worker.fetching import Fetcher
from gregor.worker.hosts import Host
from gregor.worker.measured import measured
from gregor.worker.partition import Partition
from gregor.worker.processors import installed
from gregor.worker.robots_desk import RobotsDesk
from gregor.worker.scope import Scope
from gregor.worker.stats import Stats
from gregor.worker.tools import LeaseLost, Sent, Services, Tools
from gregor.worker.traps import Traps
from gregor.worker.urls import Urls

TICK = 0.5  # seconds between two looks at what no event announces
SOON = 0.5
MOST_BUCKETS = 1_000_000
FAR_BUCKET = 2**53


class Owned:
    """An owned partition: its crawl, and the tasks that run under its lease."""

    def __init__(self, crawl: Crawl, record: PartitionRecord) -> None:
        self.crawl = crawl
        self.record = record
        self.tasks: set[asyncio.Task[None]] = set()
        self.visits = 0
        self.lost = False  # a task found the lease over: even if it holds again, what ran under it has ended
        self.idle = asyncio.Event()
        self.idle.set()
        self.quiet = asyncio.Event()  # no checkpoint runs: two at once could store a cursor past what is still there
        self.quiet.set()

    @property
    def lease(self) -> Lease:
        """The lease under which all of it runs."""
        return self.crawl.partition.lease


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
    ) -> None:
        self.name = name
        self._config = config
        self._clock = clock
        self.stats = stats or Stats()
        self._services = services = _measured(services, self.stats)
        self._tools = Tools(config, services, clock, random, urls, scope, self.stats, name)
        gate = AddressGate(config.per_address)
        fetcher = Fetcher(
            config,
            services.transport,
            services.resolver,
            gate,
            urls,
            authorizations or {},
        )
        sent, traps = Sent(config.recently_sent), Traps()
        examiner = Examiner(self._tools, installed(), sent, traps)
        self._desk = Desk(self._tools, fetcher, RobotsDesk(self._tools, fetcher, sent), examiner, sent, traps)
        self._owned: dict[int, Owned] = {}
        self._running = 0
        self._budget = Budget(config, self.stats)
        self._ending: Ending | None = None
        self._failed: asyncio.Future[None] | None = None
        self._change = asyncio.Event()  # ownership is to be looked at
        self._looked = 0.0

    def stop(self, detail: str = "by a signal") -> None:
        """Begin the clean stop: no new turns; what runs is finished and committed."""
        self._end(Ending("stopped", detail))

    def _end(self, ending: Ending) -> None:
        if self._ending is None:
            self._ending = ending
            self._tools.woken.set()

    def measure(self, scope: Scope) -> None:
        """Measure links by another scope from now on: there are new seeds."""
        self._tools.scope = scope

    @property
    def tools(self) -> Tools:
        """What its partitions share."""
        return self._tools

    @property
    def owned(self) -> Mapping[int, Owned]:
        """The partitions it owns now."""
        return self._owned

    @property
    def ending(self) -> Ending | None:
        """How it ends, once it does."""
        return self._ending

    async def run(self) -> Ending:
        """Crawl until nothing is left, a budget is spent, or `stop`. Raises what made a loop fail."""
        self.stats.started = self._clock.monotonic()
        self._failed = asyncio.get_running_loop().create_future()
        self._services.log.on_news(self._news)
        await self._patiently(self._services.coordinator.join)
        loops = [asyncio.create_task(self._watched(loop)) for loop in (self._own, self._dispatch, self._commit)]
        try:
            await asyncio.wait([self._failed, loops[1]], return_when=asyncio.FIRST_COMPLETED)
            if self._failed.done():
                self._failed.result()
            return await self._leave(loops)
        finally:
            await _cancel([*loops, *(task for owned in self._owned.values() for task in owned.tasks)])

    async def _watched(self, work: Callable[[], Awaitable[None]]) -> None:
        """A loop, or a task, whose failure is the worker's."""
        try:
            await work()
        except Exception as error:  # noqa: BLE001 - handed to `run`, which raises it
            assert self._failed is not None
            if not self._failed.done():
                self._failed.set_exception(error)

    def _news(self, partition: int) -> None:
        owned = self._owned.get(partition)
        if owned is not None:
            owned.crawl.intake.news()

    # Ownership

    async def _own(self) -> None:
        """Take and give up partitions as the coordinator wants it."""
        coordinator = self._services.coordinator
        while True:
            self._change.clear()
            for owned in list(self._owned.values()):
                if owned.lost or not owned.lease.holds():
                    await self._drop(owned)
                    await self._let_go(coordinator.release(owned.lease))
            wanted = coordinator.wanted()
            for number, owned in list(self._owned.items()):
                if number not in wanted:
                    await self._release(owned)
            missing = sorted(wanted - self._owned.keys())
            await asyncio.gather(*(self._acquire(number) for number in missing))
            waiting = [asyncio.create_task(coordinator.changed()), asyncio.create_task(self._change.wait())]
            await asyncio.wait(waiting, timeout=TICK if missing else 2 * TICK, return_when=asyncio.FIRST_COMPLETED)
            await _cancel(waiting)
            if not any(owned.lease.holds() for owned in self._owned.values()):
                await self._patiently(coordinator.join)  # the session may be lost; joining again changes nothing else

    async def _acquire(self, number: int) -> None:
        """Take a partition that nobody owns: read where its last owner stopped, then begin."""
        log, store = self._services.log, self._services.store
        begun = self._clock.monotonic()
        record = await self._patiently(store.partition, number)
        lease = await self._services.coordinator.acquire(number, record.epoch)
        if lease is None:
            return

        async def effect(method: Any, *arguments: Any) -> Any:
            return await self._tools.effect(lease, lambda: method(*arguments))

        try:
            record = await effect(store.partition, number)
            committed, starts = await effect(log.committed, number), await effect(log.starts, number)
            ends = await effect(log.ends, number)
            begin = {p: max(committed[p], starts[p]) for p in PRIORITIES}
            known = await effect(store.buckets, number, record.cursor + 1, FAR_BUCKET, MOST_BUCKETS)
            calendar = Calendar(record.cursor, known, self._config.bucket_width, self._config.bucket_size)
            partition = Partition(lease, begin, ends, calendar)
            record = msgspec.structs.replace(record, partition=number, epoch=lease.epoch)
            await effect(store.put_partition, record, partition.stamp())
        except LeaseLost:
            await self._let_go(self._services.coordinator.release(lease))  # it may come back: nobody would use it
            return
        owned = self._owned[number] = Owned(Crawl(partition, self._desk, self._capacity()), record)
        self._start(owned, partial(self._intake, owned))
        self.stats.partitions = len(self._owned)
        self.stats.takeovers.observe(self._clock.monotonic() - begun)

    async def _patiently(self, method: Any, *arguments: Any) -> Any:
        """A read that needs no lease, again while the service is away."""

        class Always:
            def holds(self) -> bool:
                return True

        return await self._tools.effect(Always(), lambda: method(*arguments))  # type: ignore[arg-type]

    def _capacity(self) -> int:
        """A partition's share of memory, in tickets."""
        wanted = len(self._services.coordinator.wanted())
        return max(256, self._config.memory_urls // max(1, wanted))

    async def _release(self, owned: Owned) -> None:
        """Give up a partition: finish what is in flight, commit, let go."""
        self._close(owned)
        await asyncio.wait([asyncio.ensure_future(owned.idle.wait())], timeout=self._config.total_timeout)
        await owned.quiet.wait()
        await self._checkpoint(owned)
        await self._drop(owned)
        await self._let_go(self._services.coordinator.release(owned.lease))

    async def _let_go(self, release: Awaitable[None]) -> None:
        """Tell the coordinator; when it is away, the session's end says the same."""
        try:
            await release
        except Unavailable as error:
            self.stats.away(error)

    async def _drop(self, owned: Owned) -> None:
        """Forget a partition: its visits are aborted and their results dropped."""
        self._close(owned)
        self._owned.pop(owned.crawl.partition.id, None)
        await _cancel(list(owned.tasks))
        self.stats.partitions = len(self._owned)

    def _close(self, owned: Owned) -> None:
        """No further turn of its hosts begins."""
        for host in owned.crawl.partition.hosts.values():
            host.alive = False
            self._tools.schedule.remove(host)

    # Work

    async def _under(self, owned: Owned, work: Callable[[], Awaitable[None]]) -> None:
        """Work under a lease. The first to find the lease over ends the ownership for good."""
        try:
            await work()
        except LeaseLost:
            self._lose(owned)

    def _lose(self, owned: Owned) -> None:
        self.stats.leases_lost += not owned.lost
        owned.lost = True
        self._close(owned)
        self._change.set()

    def _start(self, owned: Owned, work: Callable[[], Awaitable[None]]) -> None:
        task = asyncio.create_task(self._watched(partial(self._under, owned, work)))
        owned.tasks.add(task)
        task.add_done_callback(owned.tasks.discard)

    async def _intake(self, owned: Owned) -> None:
        """Keep the back queues of a partition filled."""
        intake, calendar = owned.crawl.intake, owned.crawl.partition.calendar
        while True:
            intake.wake.clear()
            if not await intake.step():
                due = calendar.next_due()
                wait = TICK * 20 if due is None else max(0.01, due - self._tools.now())
                await _wait(intake.wake, TICK if self._tools.idle and owned.crawl.partition.size else wait)

    async def _dispatch(self) -> None:
        """Start turns as they come due, as many at once as configured, until the crawl ends."""
        schedule, woken, checked, pause = self._tools.schedule, self._tools.woken, 0.0, TICK / 5
        while self._ending is None:
            woken.clear()
            now = self._clock.monotonic()
            if budget := self._budget.spent(now - self.stats.started):
                self._end(Ending("budget", budget))
                break
            paused = self._services.coordinator.orders().paused
            while not paused and self._running < self._config.concurrency and self._budget.allows(self._running):
                host = schedule.take(now)
                if host is None:
                    break
                self._visit(host)
            due = schedule.next_due()
            free = self._running < self._config.concurrency
            self._tools.idle = free and (due is None or due > now + SOON)
            if now >= self._looked + TICK / 2:
                self._looked = now
                self._gauge(now, paused, due)
                self._desk.fetcher.prefetch([host.queue.first() for host in schedule.near(16)])
            if self._running or len(schedule):
                pause = TICK / 5
            elif now - checked >= pause:
                if await self._finished() and not self._config.linger:
                    self._end(Ending("finished"))
                    break
                checked, pause = self._clock.monotonic(), min(2 * pause, 4 * TICK)  # others may be busy for long
            wait = TICK if due is None or not free or paused else min(TICK, max(0.0, due - self._clock.monotonic()))
            await _wait(woken, wait)

    def _visit(self, host: Host) -> None:
        owned = self._owned.get(host.partition)
        if owned is None or not host.alive:
            return
        if self._tools.standing.blocks(self._services.coordinator.orders(), host.name):
            host.next_turn = self._clock.monotonic() + 10 * TICK
            self._tools.turn(owned.crawl.partition, host)
            return
        if host.known:
            self.stats.stages["queue"].observe(self._clock.monotonic() - host.next_turn)
        host.busy = True
        owned.visits += 1
        owned.idle.clear()
        self._running += 1
        self._start(owned, partial(self._turn, owned, host))

    async def _turn(self, owned: Owned, host: Host) -> None:
        try:
            await owned.crawl.visit(host)
        finally:
            self._running -= 1
            owned.visits -= 1
            if not owned.visits:
                owned.idle.set()
            self._tools.woken.set()

    async def _commit(self) -> None:
        """Checkpoints, for ever."""
        while True:
            await asyncio.sleep(self._config.checkpoint_interval)
            await asyncio.gather(*(self._checkpoint(owned) for owned in list(self._owned.values())))

    async def _checkpoint(self, owned: Owned) -> None:
        """One checkpoint of a partition; the one that runs, if one does."""
        if not owned.quiet.is_set():
            await owned.quiet.wait()
            return
        owned.quiet.clear()
        try:
            owned.record = await checkpoint(owned.crawl.partition, owned.record, self._tools)
        except LeaseLost:
            self._lose(owned)
        finally:
            owned.quiet.set()

    # The end

    async def _finished(self) -> bool:
        """Whether the whole crawl has ended, not only what this worker owns."""
        if not all(owned.crawl.partition.read_to_end for owned in self._owned.values()):
            return False
        await asyncio.gather(*(self._checkpoint(owned) for owned in list(self._owned.values())))
        if await has_ended(self._services.log, self._services.store, self._config.partitions):
            return True
        for partition in [owned.crawl.partition for owned in self._owned.values()]:
            if await self._patiently(self._services.log.committed, partition.id) != partition.watermarks():
                partition.committed = {}  # a late commit set a watermark back: commit anew
        return False

    async def _leave(self, loops: list[asyncio.Task[None]]) -> Ending:
        """The clean stop: what runs may end within the grace, everything is committed, every partition released."""
        await _cancel(loops)
        idle = [asyncio.ensure_future(owned.idle.wait()) for owned in self._owned.values()]
        for owned in self._owned.values():
            self._close(owned)
        if idle:
            await asyncio.wait(idle, timeout=self._config.stop_grace)
            await _cancel(idle)
        for owned in list(self._owned.values()):
            await self._checkpoint(owned)
            await self._drop(owned)
            await self._let_go(self._services.coordinator.release(owned.lease))
        await self._let_go(self._services.coordinator.leave())
        assert self._ending is not None
        return self._ending

    def _gauge(self, now: float, paused: bool, due: float | None) -> None:
        """What the live view shows."""
        stats, partitions = self.stats, [owned.crawl.partition for owned in self._owned.values()]
        stats.beat, stats.running = now, self._running
        stats.queued = sum(partition.size for partition in partitions)
        stats.hosts = sum(len(partition.hosts) for partition in partitions)
        stats.hosts_waiting = len(self._tools.schedule)
        if paused:
            stats.limiting = "paused by order"
        elif stats.service_away:
            stats.limiting = f"{stats.service_away} is away"
        elif self._running >= self._config.concurrency:
            stats.limiting = "concurrency"
        elif due is not None and due > now:
            stats.limiting = "politeness: every host waits for its turn"
        elif not self._running:
            stats.limiting = "nothing to do yet"
        else:
            stats.limiting = "answers of the hosts"


def _measured(services: Services, stats: Stats) -> Services:
    stats.calls["resolver", "resolve"] = stats.stages["dns"]
    return Services(
        measured(services.log, "log", stats),
        measured(services.seen, "seen", stats),
        measured(services.store, "store", stats),
        measured(services.coordinator, "coordinator", stats, "changed"),
        services.transport,
        measured(services.resolver, "resolver", stats),
    )


async def _wait(event: asyncio.Event, seconds: float) -> None:
    """Until the event is set, at most so long."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return


async def _cancel(tasks: list[asyncio.Future[Any]] | list[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks)
