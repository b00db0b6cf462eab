"""An owner of the one partition of a small crawl, on doubles of the servers, that loses its lease when a test says."""

import contextlib
import random
from collections.abc import Sequence
from typing import Any, cast

from gregor.schemas.messages import PRIORITIES, PartitionRecord, Row, url_fingerprint
from gregor.worker.borders.effects import LeaseLost, Retries
from gregor.worker.borders.services import Services
from gregor.worker.config.settings import Config, replace
from gregor.worker.frontier.calendar import Calendar
from gregor.worker.frontier.checkpoint import checkpoint
from gregor.worker.frontier.intake import Intake
from gregor.worker.frontier.partition import Partition
from gregor.worker.frontier.queue_item import QueueItem
from gregor.worker.frontier.schedule import HostSchedule
from gregor.worker.frontier.tickets import is_stale
from gregor.worker.observe.stats import Stats
from gregor.worker.orders.in_force import OrdersInForce
from gregor.worker.orders.model import Orders
from tests.contract.engines import Engine
from tests.contract.world import ManualClock

CAPACITY = 64
CONFIG = replace(Config(), partitions=1, queue_size=4, queue_low=2, chunk_size=3, window=16, bucket_width=1.0)


class Expiring:
    """A lease that holds so many times; None: always."""

    partition = 0

    def __init__(self, epoch: int, taken_at: float, calls: int | None) -> None:
        self.epoch, self.taken_at = epoch, taken_at
        self._calls = calls

    def holds(self) -> bool:
        if self._calls is None:
            return True
        self._calls -= 1
        return self._calls >= 0


class Now:
    """As much of a coordinator as is asked here."""

    def __init__(self, clock: ManualClock) -> None:
        self.now = clock.wall

    def orders(self) -> Orders:
        return Orders()


class Owner:
    """Admits, visits and checkpoints. A visit stores a row at once; `visited` counts them by key."""

    def __init__(self, engine: Engine, clock: ManualClock, seed: int, **settings: Any) -> None:
        self.engine = engine
        self.visited: dict[str, int] = {}
        self.chance = random.Random(seed)
        now, nothing = cast(Any, Now(clock)), cast(Any, None)
        self.services = Services(engine.log, engine.seen, engine.store, now, nothing, nothing)
        self.config = replace(CONFIG, **settings)
        self.stats = Stats()
        self.schedule = HostSchedule(clock.monotonic, lambda: None)
        self.clock = clock

    async def take_over(self, calls: int | None = None) -> None:
        """Take the partition as the runtime does, with a lease for so many calls."""
        log, store = self.engine.log, self.engine.store
        self.record: PartitionRecord = await store.partition(0)
        self.lease = Expiring(self.record.epoch + 1, self.clock.wall(), calls)
        committed, starts = await log.committed(0), await log.starts(0)
        begin = {priority: max(committed[priority], starts[priority]) for priority in PRIORITIES}
        known = await store.buckets(0, self.record.cursor + 1, 2**53, 1000)
        calendar = Calendar(self.record.cursor, known, self.config.bucket_width, self.config.bucket_size)
        self.partition = Partition(self.lease, begin, await log.ends(0), calendar)
        self.record = PartitionRecord(0, self.lease.epoch, self.record.cursor, self.record.counts)
        await store.put_partition(self.record, self.partition.stamp())
        self.effects = Retries(self.stats, self.chance).under(self.lease)
        self.intake = Intake(
            self.partition,
            config=self.config,
            services=self.services,
            effects=self.effects,
            schedule=self.schedule,
            monotonic=self.clock.monotonic,
            chance=self.chance,
            stats=self.stats,
            capacity=CAPACITY,
        )

    async def work_under_leases(self, ends: Sequence[int]) -> None:
        """Take over and work under one lease after another, each good for so many calls, and under one that lasts."""
        for calls in [*ends, None]:
            await self.take_over(calls)
            with contextlib.suppress(LeaseLost):
                await self.work()

    async def work(self) -> None:
        """Admit, visit and checkpoint, as chance has it, until nothing is left."""
        for _ in range(10_000):
            self.schedule.idle = self.chance.random() < 0.3
            self.intake.news()
            await self.intake.step()
            if self.chance.random() < 0.7:
                await self.visit()
            if self.chance.random() < 0.2:
                await self.checkpoint()
            self.clock.pass_(self.chance.choice([0.0, 0.0, 1.0]))
            if self.partition.read_to_end and await self.ended():
                return
        raise AssertionError(f"it never ends: {self.partition.size} live, {self.partition.watermarks()}")

    async def visit(self) -> None:
        """Visit the next URL of one host."""
        hosts = [host for host in self.partition.hosts.values() if host.queue]
        if not hosts:
            return
        host = self.chance.choice(hosts)
        self.schedule.remove(host)
        item = host.queue.take()
        assert item is not None
        await self._settle(item)
        self.partition.leave(item)
        self.partition.finish(item.sources())
        host.next_turn = self.clock.monotonic() + 1.0
        self.intake.waiting.look_after(host)
        self.schedule.see(self.partition, host)

    async def _settle(self, item: QueueItem) -> None:
        ticket, store = item.ticket, self.engine.store
        row = (await self.effects.run(lambda: store.rows([ticket.key])))[0]
        if is_stale(ticket, row):
            return
        settled = Row(ticket.key, ticket.href, ticket.host, ticket.visit + 1, "fetched", "fetched")
        await self.effects.run(lambda: store.put_rows([settled], self.partition.stamp()))
        self.visited[ticket.key] = self.visited.get(ticket.key, 0) + 1
        await self.effects.run(lambda: self.engine.seen.mark([url_fingerprint(ticket.key)]))

    async def checkpoint(self) -> None:
        """Commit and delete."""
        self.record = await checkpoint(
            self.partition,
            self.record,
            config=self.config,
            log=self.engine.log,
            store=self.engine.store,
            effects=self.effects,
            orders=OrdersInForce(self.services.coordinator.orders),
        )

    async def ended(self) -> bool:
        """Whether nothing is left for anyone: all watermarks at the ends, calendar and backlogs empty."""
        await self.checkpoint()
        log = self.engine.log
        return await log.committed(0) == await log.ends(0) and not await self.engine.store.waiting(0)
