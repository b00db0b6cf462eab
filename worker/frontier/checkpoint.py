"""Checkpoints: committed watermarks, and what was finished deleted from calendar and backlogs."""

from functools import partial

import msgspec

from gregor.schemas.messages import PartitionRecord
from gregor.worker.borders.effects import Effects
from gregor.worker.borders.log import FrontierLog
from gregor.worker.borders.store import PageStore
from gregor.worker.config.settings import Config
from gregor.worker.frontier.domain_budget import counts_still
from gregor.worker.frontier.partition import Partition
from gregor.worker.orders.in_force import OrdersInForce

UNKEPT_PAGES = 500
"""Pages of a partition that may be uncounted in its record while no budget needs them: one may be ordered any time."""


async def checkpoint(
    partition: Partition,
    record: PartitionRecord,
    *,
    config: Config,
    log: FrontierLog,
    store: PageStore,
    effects: Effects,
    orders: OrdersInForce,
) -> PartitionRecord:
    """Commit what is finished; the partition's record as it is stored then.

    A commit needs no fence, but it is asked for under the lease like every effect. Records are deleted below a
    committed watermark only; a bucket or chunk only when all that was read from it has finished.
    """

    effect, marks = effects.run, partition.watermarks()
    if marks != partition.committed:
        await effect(lambda: log.commit(partition.id, marks, partition.lease.epoch))
        partition.committed = marks
    for source in list(partition.finished_chunks):
        await effect(partial(store.drop_chunk, partition.id, source.host, source.chunk, partition.stamp()))
        partition.chunk_dropped(source)
    for bucket in partition.calendar.finished():
        await effect(partial(store.drop_bucket, partition.id, bucket, partition.stamp()))
        partition.calendar.dropped(bucket)
    cursor = partition.calendar.settled_up_to()
    counts = partition.counts.copy()
    if cursor > record.cursor or (counts and (_budgeted(config, orders) or counts["pages_200"] >= UNKEPT_PAGES)):
        budgets = orders.table("budget")
        names = [name for name in {*record.counts, *counts} if counts_still(name, budgets)]
        total = {name: record.counts.get(name, 0) + counts[name] for name in names}
        record = msgspec.structs.replace(record, cursor=max(cursor, record.cursor), counts=total)
        await effect(partial(store.put_partition, record, partition.stamp()))
        partition.counts -= counts  # only now: what is cut short is counted by the next one
        partition.calendar.cursor = record.cursor
    return record


def _budgeted(config: Config, orders: OrdersInForce) -> bool:
    """Whether a budget is told by the counts of the partitions' records."""
    configured = config.max_pages is not None or config.max_bytes is not None
    return configured or bool(orders.table("budget"))
