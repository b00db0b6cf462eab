"""A checkpoint: commit, then delete, then the cursor; cut short anywhere, it is made good by the next one."""

import asyncio
import random
from collections.abc import Callable, Coroutine
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from gregor.schemas.messages import PRIORITIES, PartitionRecord, Ticket
from gregor.worker.borders.effects import Effects, LeaseLost
from gregor.worker.config.settings import Config, replace
from gregor.worker.frontier.calendar import Calendar
from gregor.worker.frontier.checkpoint import checkpoint
from gregor.worker.frontier.counts import KEPT_EVERY
from gregor.worker.frontier.host import Backlog
from gregor.worker.frontier.partition import Partition
from gregor.worker.frontier.queue_item import FromBucket, FromChunk
from gregor.worker.orders.in_force import OrdersInForce
from gregor.worker.orders.model import By, Order, Orders, give

NOTHING = dict.fromkeys(PRIORITIES, 0)
ALL = ["commit 3", "drop_chunk 7", "drop_bucket 4", "put_partition 5 30"]
"""What a checkpoint of `finished` does: the wake-up's bucket goes only after the chunk that it names."""


class Lease:
    partition, epoch, taken_at, over = 0, 3, 0.0, False

    def holds(self) -> bool:
        return not self.over


class Border:
    """Notes what is done; after ``last`` calls the lease is over, and the answer of the last one is not heard."""

    def __init__(self, lease: Lease, last: int | None = None) -> None:
        self.done: list[str] = []
        self._lease = lease
        self._last = last

    async def _do(self, what: str) -> None:
        self.done.append(what)
        if len(self.done) == self._last:
            self._lease.over = True
            raise asyncio.CancelledError

    async def commit(self, _: int, marks: dict[int, int], epoch: int) -> None:
        assert epoch == Lease.epoch
        await self._do(f"commit {marks[2]}")

    async def drop_chunk(self, _: int, host: str, chunk: int, stamp: int) -> None:
        await self._do(f"drop_chunk {chunk}")

    async def drop_bucket(self, _: int, bucket: int, stamp: int) -> None:
        await self._do(f"drop_bucket {bucket}")

    async def put_partition(self, record: PartitionRecord, stamp: int) -> None:
        await self._do(f"put_partition {record.cursor} {record.counts['bytes']}")


_NO_ORDERS = Orders()


def commits(
    border: Border, lease: Lease, orders: Orders = _NO_ORDERS, **settings: Any
) -> Callable[..., Coroutine[Any, Any, PartitionRecord]]:
    """`checkpoint` over a border, under a lease."""
    engine: Any = border
    nobody: Any = SimpleNamespace()
    return partial(
        checkpoint,
        config=replace(Config(), **settings),
        log=engine,
        store=engine,
        effects=Effects(lease, nobody, random.Random(1)),
        orders=OrdersInForce(lambda: orders),
    )


def finished(lease: Lease) -> Partition:
    """Three records, a bucket with an entry and a wake-up, a chunk, and the empty bucket after it: all finished."""
    calendar = Calendar(3, [4, 5], 1.0, 10)
    partition = Partition(lease, NOTHING, NOTHING, calendar)
    for offset in range(3):
        partition.marks[2].read(offset, ("", 0, ""))
        partition.marks[2].finish(offset)
    for bucket, entries in ((4, 2), (5, 0)):
        assert calendar.due(9.0) == bucket
        calendar.opened(bucket, entries)
        calendar.finish(bucket)
    calendar.dropped(5)
    calendar.finish(4)  # the entry; the wake-up is held by the backlog
    host = partition.host("h")
    backlog = host.backlog = Backlog([7], partition.stamp)
    assert backlog.stream(0).next_chunk() == 7
    backlog.reading[7] = 1
    backlog.wakes.append(FromBucket(4))
    partition.finish([FromChunk("h", 7)])
    partition.counts.update(bytes=30)
    return partition


def test_in_the_order_in_which_nothing_can_be_lost() -> None:
    lease = Lease()
    border, partition = Border(lease), finished(lease)
    record = asyncio.run(commits(border, lease, max_bytes=100)(partition, PartitionRecord(0, 3, 3)))
    assert border.done == ALL
    assert (record.cursor, record.counts, partition.calendar.cursor) == (5, {"bytes": 30}, 5)
    assert (partition.committed[2], partition.read_to_end, partition.hosts["h"].backlog) == (3, True, None)


def test_names_that_were_refused_are_kept() -> None:
    lease = Lease()
    border, partition = Border(lease), finished(lease)
    refused = (Ticket("http://x.park.test/", "http://x.park.test/", "x.park.test"),)
    partition.refused = lambda: refused
    assert asyncio.run(commits(border, lease)(partition, PartitionRecord(0, 3, 3))).refused == refused


def test_what_has_not_changed_is_not_written_again() -> None:
    lease = Lease()
    border, partition = Border(lease), finished(lease)
    commit = commits(border, lease)

    async def twice() -> PartitionRecord:
        return await commit(partition, await commit(partition, PartitionRecord(0, 3, 3)))

    assert asyncio.run(twice()).cursor == 5
    assert len(border.done) == len(ALL)


def test_cut_short_its_pages_are_counted_by_the_next_one() -> None:
    """As when a worker is stopped, whose last checkpoints come after those that its loops had begun."""
    lease = Lease()
    border, partition = Border(lease, len(ALL)), finished(lease)
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(commits(border, lease, max_bytes=100)(partition, PartitionRecord(0, 3, 3)))
    lease.over = False
    partition.counts.update(bytes=5)
    record = asyncio.run(commits(border, lease, max_bytes=100)(partition, PartitionRecord(0, 3, 3)))
    assert border.done[-1] == "put_partition 5 35"
    assert (record.counts, +partition.counts) == ({"bytes": 35}, {})


@pytest.mark.parametrize("last", range(1, len(ALL) + 1))
def test_what_was_cut_short_is_done_again_by_the_next_one(last: int) -> None:
    """Nobody heard whether it took effect."""
    lease = Lease()
    border, partition = Border(lease, last), finished(lease)
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(commits(border, lease, max_bytes=100)(partition, PartitionRecord(0, 3, 3)))
    lease.over = False
    asyncio.run(commits(border, lease, max_bytes=100)(partition, PartitionRecord(0, 3, 3)))
    assert border.done == ALL[:last] + ALL[last - 1 :]


@pytest.mark.parametrize("last", range(1, len(ALL) + 1))
def test_cut_short_it_has_done_a_beginning_of_it(last: int) -> None:
    lease = Lease()
    border, partition = Border(lease, last), finished(lease)
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(commits(border, lease, max_bytes=100)(partition, PartitionRecord(0, 3, 3)))
    assert border.done == ALL[:last]
    with pytest.raises(LeaseLost):
        asyncio.run(commits(border, lease, max_bytes=100)(partition, PartitionRecord(0, 3, 3)))
    assert border.done == ALL[:last], "nothing is done when the lease is over"


def test_what_is_unfinished_stays() -> None:
    lease = Lease()
    border, partition = Border(lease), finished(lease)
    partition.marks[2].read(3, ("x", 0, "new"))
    calendar = partition.calendar
    calendar.placed(calendar.place(6.0, 6.0))
    assert calendar.due(9.0) == 6
    record = asyncio.run(commits(border, lease, max_bytes=100)(partition, PartitionRecord(0, 3, 3)))
    assert (record.cursor, partition.committed[2]) == (5, 3)
    assert not partition.read_to_end


def test_counts_are_kept_every_few_checkpoints_and_by_the_last_one() -> None:
    lease = Lease()
    border, partition = Border(lease), finished(lease)
    commit = commits(border, lease)
    record = asyncio.run(commit(partition, PartitionRecord(0, 3, 3)))
    assert (record.counts, +partition.counts) == ({"bytes": 30}, {})
    for count in range(1, KEPT_EVERY):
        partition.counts.update({"bytes": 1, "state fetched": 1, "state waiting": -1})
        record = asyncio.run(commit(partition, record))
        assert (record.counts, partition.counts["bytes"]) == ({"bytes": 30}, count)
    record = asyncio.run(commit(partition, record))
    assert record.counts == {"bytes": 34, "state fetched": 4, "state waiting": -4}
    done = len(border.done)
    asyncio.run(commit(partition, record, last=True))
    assert len(border.done) == done, "nothing is there to be kept"
    partition.counts.update({"bytes": 1, "state waiting": 4})
    record = asyncio.run(commit(partition, record, last=True))
    assert record.counts == {"bytes": 35, "state fetched": 4}


def test_pages_of_domains_are_kept_as_long_as_there_is_a_budget() -> None:
    lease = Lease()
    border, partition = Border(lease), finished(lease)
    partition.domain_pages.update({"*.here.example": 2, "*.there.example": 4})
    before = PartitionRecord(0, 3, 3, {"bytes": 7}, domains={"*.here.example": 3, "*.gone.example": 9})
    orders = give(Orders(), Order("budget", "*.here.example", 9.0), By("me", 1.0))
    record = asyncio.run(commits(border, lease, orders)(partition, before))
    assert (record.counts, record.domains) == ({"bytes": 37}, {"*.here.example": 5})
    assert not +partition.domain_pages
