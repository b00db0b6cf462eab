"""The partitions that an import owns for as long as it goes on, as a worker would, and what it counts of them.

One owner a partition holds here too: while workers own any that is needed, nothing is taken in.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Final

from gregor.partitioner.hashing import partition_of
from gregor.schemas.messages import Page, PartitionRecord, Row
from gregor.worker.base.errors import BadInput, complain
from gregor.worker.base.tasks import cancel
from gregor.worker.borders.effects import Effects, LeaseLost, Retries
from gregor.worker.borders.errors import Unavailable
from gregor.worker.borders.services import Services
from gregor.worker.config.settings import Config
from gregor.worker.frontier.checkpoint import checkpoint
from gregor.worker.frontier.domain_budget import DomainPages
from gregor.worker.frontier.partition import Partition
from gregor.worker.links.traps import Traps
from gregor.worker.observe.stats import Stats
from gregor.worker.orders.in_force import OrdersInForce
from gregor.worker.politeness.budgets import HostBudgets
from gregor.worker.run.takeover import TakeOver
from gregor.worker.settle.page_writer import PageWriter
from gregor.worker.settle.settling import Settling, settling_of

_AT_ONCE: Final = 32
"""Partitions that are taken at a time."""
_LOOK: Final = 0.5
"""Seconds between two tries to take a partition that its owner may be letting go."""


class OwnedPartition:
    """A partition that is owned, its effects, and what its pages are made durable with."""

    def __init__(
        self, partition: Partition, effects: Effects, pages: PageWriter, settling: Settling, record: PartitionRecord
    ) -> None:
        self.partition = partition
        self.effects = effects
        self.pages = pages
        self.settling = settling
        self.record = record
        """As it was kept last."""

    def go_on_from(self, before: "OwnedPartition") -> None:
        """Count what the same partition had counted under a lease that was lost and not kept yet."""
        mine, theirs, taken = self.partition, before.partition, self.record.takeovers
        counts, domains = theirs.counts.copy(), theirs.domain_pages.copy()
        if len(taken) > 1 and taken[-2].epoch == theirs.lease.epoch:  # nobody else has written it meanwhile
            # What was on its way when the lease was lost may be kept although nobody heard of it.
            counts.subtract(_more(self.record.counts, before.record.counts))
            domains.subtract(_more(self.record.domains, before.record.domains))
            mine.fields = theirs.fields
        mine.counts.update(counts)
        mine.domain_pages.update(domains)
        theirs.counts.clear()
        theirs.domain_pages.clear()


def _more(now: Mapping[str, int], before: Mapping[str, int]) -> dict[str, int]:
    return {name: now.get(name, 0) - before.get(name, 0) for name in {**now, **before}}


class OwnedPartitions:
    """Of the partitions of one import."""

    def __init__(
        self,
        config: Config,
        services: Services,
        *,
        orders: OrdersInForce,
        retries: Retries,
        stats: Stats,
        name: str,
        workers: Callable[[], Awaitable[set[str]]],
    ) -> None:
        """``name``: as which partitions are owned; ``workers`` names those that run."""
        self._config = config
        self._services = services
        self._orders = orders
        self._retries = retries
        self._stats = stats
        self._workers = workers
        self._take_over = TakeOver(config, services, stats, name)
        self._budgets = HostBudgets(config, orders, DomainPages())
        self._owners: dict[int, OwnedPartition] = {}
        self._locks: defaultdict[int, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._taking = asyncio.Semaphore(_AT_ONCE)

    @asynccontextmanager
    async def held(self, numbers: Iterable[int]) -> AsyncIterator[None]:
        """Own these from the start on, and any other that is asked for; what is counted is kept as a worker keeps it.

        Raises `BadInput` while somebody else owns one.
        """
        keeping = asyncio.create_task(self._keep())
        try:
            await asyncio.gather(*map(self._owner, numbers))
            yield
        finally:
            await cancel([keeping])
            await self._release()

    async def of(self, host: str) -> OwnedPartition:
        """That of a host's partition, taken when it is not owned, or no longer."""
        return await self._owner(partition_of(host, self._config.partitions))

    def settled(self, owner: OwnedPartition, before: Row | None, after: Row, page: Page | None, cause: str) -> None:
        """Count a visit, as a worker counts it; its partition may have been taken anew meanwhile."""
        owner = self._owners.get(owner.partition.id, owner)
        self._budgets.settled(owner.partition, before, after, page, cause)

    async def _owner(self, number: int) -> OwnedPartition:
        async with self._locks[number]:
            before = self._owners.get(number)
            if before is None:
                taken = self._owners[number] = await self._taken(number)
            elif before.partition.lease.holds():
                return before
            else:
                await self._services.coordinator.release(before.partition.lease)
                taken = await self._taken(number)
                taken.go_on_from(before)
                self._owners[number] = taken
            return taken

    async def _taken(self, number: int) -> OwnedPartition:
        patiently, store, coordinator = (
            self._retries.retry_until_available,
            self._services.store,
            self._services.coordinator,
        )
        loop = asyncio.get_running_loop()
        end = loop.time() + self._config.start_timeout
        async with self._taking:
            while True:
                record = await patiently(lambda: store.partition(number))
                lease = await patiently(partial(coordinator.acquire, number, record.epoch))
                if lease is None:
                    await self._refuse_workers(number, waited=loop.time() >= end)
                    await asyncio.sleep(_LOOK)
                    continue
                effects = self._retries.under(lease)
                try:
                    partition, record = await self._take_over.take(lease, effects)
                except LeaseLost:
                    await coordinator.release(lease)
                    continue
                settling = settling_of(self._services, effects)
                return OwnedPartition(partition, effects, self._writer(partition, effects), settling, record)

    async def _refuse_workers(self, number: int, *, waited: bool) -> None:
        """Somebody owns a partition. Raises `BadInput`, unless it is only not let go of yet."""
        drains = self._orders.latest.drains
        if working := sorted(name for name in await self._workers() if not drains(name)):
            raise BadInput(
                f"an import owns the partitions that it writes to, and {', '.join(working)} may own them: stop the "
                "workers, or `gregor drain` each of them until the import is done"
            )
        if waited:
            raise BadInput(f"partition {number} is owned by somebody who does not let go of it")

    def _writer(self, partition: Partition, effects: Effects) -> PageWriter:
        return PageWriter(
            partition,
            store=self._services.store,
            seen=self._services.seen,
            effects=effects,
            traps=Traps(),
            stats=self._stats,
            near_duplicate_share=self._config.near_duplicate_share,
        )

    async def _keep(self) -> None:
        """Keep what is counted, for ever. A partition that is lost is taken anew when it is asked for, and goes on."""
        while True:
            await asyncio.sleep(self._config.checkpoint_interval)
            kept = await asyncio.gather(*map(self._checkpoint, self._owners.values()), return_exceptions=True)
            if failed := next((e for e in kept if isinstance(e, BaseException) and not isinstance(e, LeaseLost)), None):
                raise failed

    async def _checkpoint(self, owner: OwnedPartition, *, last: bool = False) -> None:
        """Keep what was counted. Raises `LeaseLost`."""
        owner.record = await checkpoint(
            owner.partition,
            owner.record,
            config=self._config,
            log=self._services.log,
            store=self._services.store,
            effects=owner.effects,
            orders=self._orders,
            last=last,
        )

    async def _release(self) -> None:
        """Keep what was counted, and let all of them go."""
        await asyncio.gather(*map(self._let_go, list(self._owners)))

    async def _let_go(self, number: int) -> None:
        try:
            async with asyncio.timeout(self._config.server_timeout):
                while True:
                    owner = self._owners[number]
                    try:
                        if any(owner.partition.counts.values()):
                            owner = await self._owner(number)  # a lease that was lost is taken anew for it
                        await self._checkpoint(owner, last=True)
                    except LeaseLost:
                        if any(owner.partition.counts.values()):
                            continue
                    await self._services.coordinator.release(owner.partition.lease)
                    return
        except (TimeoutError, Unavailable, BadInput) as error:  # the end of the session lets go of it, too
            why = str(error) or "no answer in time"
            complain(f"partition {number} is let go of without its last counts: {why}")
