"""The partitions that a worker owns: taken and given up as the coordinator wants it, and what runs under their leases.

A lease that was found over once ends the ownership for good, even if it holds again: what ran under it has ended. A
task that fails otherwise ends the worker.
"""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from gregor.schemas.messages import PartitionRecord
from gregor.worker.base.tasks import cancel, until
from gregor.worker.borders.coordinator import Lease
from gregor.worker.borders.effects import Effects, LeaseLost, Retries
from gregor.worker.borders.errors import Unavailable
from gregor.worker.borders.log import RecordsLost
from gregor.worker.borders.services import Services
from gregor.worker.config.settings import Config
from gregor.worker.crawl import PartitionCrawl
from gregor.worker.frontier.checkpoint import checkpoint
from gregor.worker.frontier.partition import Partition
from gregor.worker.frontier.schedule import HostSchedule
from gregor.worker.observe.logging import logs
from gregor.worker.observe.stats import Stats
from gregor.worker.orders.in_force import OrdersInForce
from gregor.worker.run.takeover import TakeOver

_LOG = logs("ownership")
TICK = 0.5  # seconds between two looks at what no event announces


class Owned:
    """An owned partition: its crawl, and the tasks that run under its lease."""

    def __init__(self, crawl: PartitionCrawl, effects: Effects, record: PartitionRecord) -> None:
        self.crawl = crawl
        self.effects = effects
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


class Ownership:
    """What one worker owns now, by partition."""

    def __init__(
        self,
        config: Config,
        services: Services,
        crawl_of: Callable[[Partition, Effects, int], PartitionCrawl],
        *,
        name: str,
        retries: Retries,
        orders: OrdersInForce,
        schedule: HostSchedule,
        monotonic: Callable[[], float],
        stats: Stats,
    ) -> None:
        """``crawl_of`` makes the crawl of a partition, with its share of memory in tickets; ``name``: the worker's."""
        self.owned: dict[int, Owned] = {}
        self.failure: Exception | None = None  # the first of a task: the worker ends with it
        self.failed = asyncio.Event()
        self.member = False
        self._config = config
        self._services = services
        self._now = services.coordinator.now
        self._takeover = TakeOver(config, services, stats, name)
        self._crawl_of = crawl_of
        self._name = name
        self._retries = retries
        self._orders = orders
        self._schedule = schedule
        self._monotonic = monotonic
        self._stats = stats
        self._wanted: dict[int, float] = {}  # partitions that are missing, and since when (monotonic)
        self._change = asyncio.Event()  # ownership is to be looked at

    async def watched(self, work: Callable[[], Awaitable[None]]) -> None:
        """A loop, or a task, whose failure is the worker's."""
        try:
            await work()
        except Exception as error:  # noqa: BLE001 - handed to the worker, which raises it
            self.failure = self.failure or error
            self.failed.set()

    def news(self, partition: int) -> None:
        """Records may have arrived."""
        if (owned := self.owned.get(partition)) is not None:
            owned.crawl.intake.news()

    async def own(self) -> None:
        """Take and give up partitions as the coordinator wants it."""
        coordinator = self._services.coordinator
        while True:
            self._change.clear()
            over = [owned for owned in self.owned.values() if owned.lost or not owned.lease.holds()]
            for owned in over:
                await self.drop(owned)
            await asyncio.gather(*(self.let_go(coordinator.release(owned.lease)) for owned in over))
            if (drained := self.drained) and self.member:
                self.member = False
                await self.let_go(coordinator.leave())
            wanted = frozenset() if drained else coordinator.wanted()
            await asyncio.gather(*(self._release(o) for number, o in list(self.owned.items()) if number not in wanted))
            missing = sorted(wanted - self.owned.keys())
            now = self._monotonic()
            self._wanted = {number: self._wanted.get(number, now) for number in missing}
            await asyncio.gather(*(self._acquire(number) for number in missing))
            changed = asyncio.create_task(coordinator.changed())
            waiting = [changed, asyncio.create_task(self._change.wait())]
            await asyncio.wait(waiting, timeout=TICK if missing else 2 * TICK, return_when=asyncio.FIRST_COMPLETED)
            if changed.done():
                changed.result()  # a coordinator that died ends the worker
            await cancel(waiting)
            if not any(owned.lease.holds() for owned in self.owned.values()):
                await self.join()  # the session may be lost; joining again changes nothing else

    @property
    def share(self) -> float:
        """The part of the crawl's partitions that the worker owns."""
        return len(self.owned) / self._config.partitions

    @property
    def drained(self) -> bool:
        """Whether the worker is to own nothing."""
        return self._orders.latest.drains(self._name)

    async def join(self) -> None:
        """Become a member, unless the worker is to own nothing."""
        if not self.drained:
            await self.patiently(self._services.coordinator.join)
            self.member = True

    async def _acquire(self, number: int) -> None:
        """Take a partition that nobody owns: read where its last owner stopped, then begin."""
        record = await self.patiently(self._services.store.partition, number)
        try:
            lease = await self._services.coordinator.acquire(number, record.epoch)
        except Unavailable as error:
            self._stats.away(error)  # asked again soon
            return
        if lease is None:
            return
        effects = self._retries.under(lease)
        try:
            partition, record = await self._takeover.take(lease, effects)
        except LeaseLost:
            await self.let_go(self._services.coordinator.release(lease))  # it may come back: nobody would use it
            return
        owned = self.owned[number] = Owned(self._crawl_of(partition, effects, self._capacity()), effects, record)
        self.start(owned, partial(self._intake, owned))
        self._owns()
        waited = self._monotonic() - self._wanted[number]
        self._stats.takeovers.observe(waited)
        _LOG.debug("partition taken", partition=number, epoch=lease.epoch, seconds=waited)

    async def patiently(self, method: Any, *arguments: Any) -> Any:
        """A read that needs no lease, again while the service is away."""
        return await self._retries.retry_until_available(lambda: method(*arguments))

    def _capacity(self) -> int:
        """A partition's share of memory, in tickets."""
        wanted = len(self._services.coordinator.wanted())
        return max(256, self._config.memory_urls // max(1, wanted))

    async def _release(self, owned: Owned) -> None:
        """Give up a partition: finish what is in flight, commit, let go."""
        begun = self._monotonic()
        self.close(owned)
        await asyncio.wait([asyncio.ensure_future(owned.idle.wait())], timeout=self._config.total_timeout)
        await owned.quiet.wait()
        await self.checkpoint(owned, last=True)
        await self.drop(owned)
        await self.let_go(self._services.coordinator.release(owned.lease))
        self._stats.releases.observe(self._monotonic() - begun)

    async def let_go(self, release: Awaitable[None]) -> None:
        """Tell the coordinator; when it is away, the session's end says the same."""
        try:
            await release
        except Unavailable as error:
            self._stats.away(error)

    async def drop(self, owned: Owned) -> None:
        """Forget a partition: its visits are aborted and their results dropped."""
        self.close(owned)
        self.owned.pop(owned.crawl.partition.id, None)
        await cancel(list(owned.tasks))
        self._owns()
        _LOG.debug("partition given up", partition=owned.lease.partition, epoch=owned.lease.epoch, lost=owned.lost)

    def _owns(self) -> None:
        self._stats.partitions = len(self.owned)

    def close(self, owned: Owned) -> None:
        """No further turn of its hosts begins, nor of those that are found from now on."""
        owned.crawl.partition.close()
        for host in owned.crawl.partition.hosts.values():
            host.alive = False
            self._schedule.remove(host)

    async def _under(self, owned: Owned, work: Callable[[], Awaitable[None]]) -> None:
        """Work under a lease. The first to find the lease over ends the ownership for good.

        So does a log that lost records: the partition is taken anew, from what is there, since offsets that were
        finished may stand for other records now.
        """
        try:
            try:
                await work()
            except RecordsLost as error:
                await self._takeover.report_loss(owned.lease, owned.effects, str(error))
                self._end(owned)
        except LeaseLost:
            self._lose(owned)

    def _lose(self, owned: Owned) -> None:
        if not owned.lost:
            self._stats.leases_lost += 1
            _LOG.warning("lease over", partition=owned.lease.partition, epoch=owned.lease.epoch)
        self._end(owned)

    def _end(self, owned: Owned) -> None:
        owned.lost = True
        self.close(owned)
        self._change.set()

    def start(self, owned: Owned, work: Callable[[], Awaitable[None]]) -> asyncio.Task[None]:
        """Run a task under the lease of a partition; it is cancelled when the partition is dropped."""
        task = asyncio.create_task(self.watched(partial(self._under, owned, work)))
        owned.tasks.add(task)
        task.add_done_callback(owned.tasks.discard)
        return task

    async def _intake(self, owned: Owned) -> None:
        """Keep the back queues of a partition filled."""
        intake, calendar, stats = owned.crawl.intake, owned.crawl.partition.calendar, self._stats
        while True:
            intake.wake.clear()
            begun = self._monotonic()
            read = await stats.cpu_time.charge("admit", intake.step())
            stats.reading += self._monotonic() - begun
            if not read:
                due = calendar.next_due()
                wait = TICK * 20 if due is None else max(0.01, due - self._now())
                await until(intake.wake, TICK if self._schedule.idle and owned.crawl.partition.size else wait)

    async def commit(self) -> None:
        """Checkpoints, for ever."""
        while True:
            await asyncio.sleep(self._config.checkpoint_interval)
            await asyncio.gather(*(self.checkpoint(owned) for owned in list(self.owned.values())))

    async def commit_last(self) -> None:
        """The last checkpoints, as long as one answer of a server may take."""
        commits = [asyncio.create_task(self.checkpoint(owned, last=True)) for owned in self.owned.values()]
        if not commits:
            return
        done, late = await asyncio.wait(commits, timeout=self._config.server_timeout)
        if late:
            _LOG.warning("stopped before all was committed", partitions=len(late))
            await cancel(list(late))
        for commit in done:
            commit.result()

    async def checkpoint(self, owned: Owned, *, last: bool = False) -> None:
        """One checkpoint of a partition; the one that runs, if one does. ``last``: none comes after it."""
        while not owned.quiet.is_set():
            await owned.quiet.wait()
            if not last:
                return
        owned.quiet.clear()
        begun = self._monotonic()
        try:
            owned.record = await checkpoint(
                owned.crawl.partition,
                owned.record,
                config=self._config,
                log=self._services.log,
                store=self._services.store,
                effects=owned.effects,
                orders=self._orders,
                last=last,
            )
        except LeaseLost:
            self._lose(owned)
        finally:
            owned.quiet.set()
            self._stats.committing += self._monotonic() - begun
