"""Checkpoints: committed watermarks, and what was finished deleted from calendar and backlogs."""

from functools import partial

import msgspec

from gregor.schemas.messages import PartitionRecord
from gregor.worker.borders.effects import Effects
from gregor.worker.borders.log import FrontierLog
from gregor.worker.borders.store import PageStore
from gregor.worker.config.settings import Config
from gregor.worker.frontier.counts import KEPT_EVERY, added
from gregor.worker.frontier.partition import Partition
from gregor.worker.orders.in_force import OrdersInForce


async def checkpoint(
    partition: Partition,
    record: PartitionRecord,
    *,
    config: Config,
    log: FrontierLog,
    store: PageStore,
    effects: Effects,
    orders: OrdersInForce,
    last: bool = False,
) -> PartitionRecord:
    """Commit what is finished; the partition's record as it is stored then. ``last``: this owner makes no other one.

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
    counts, domains = {name: count for name, count in partition.counts.items() if count}, partition.domain_pages.copy()
    partition.unkept += bool(counts)
    if cursor > record.cursor or (counts and (last or partition.unkept >= KEPT_EVERY or _budgeted(config, orders))):
        budgets = orders.table("budget")
        by_domain = {name: pages for name, pages in added(record.domains, domains).items() if name in budgets}
        totals = added(record.counts, counts)
        fields, refused = partition.fields.kept(), partition.refused()
        record = msgspec.structs.replace(
            record,
            cursor=cursor,
            counts=totals,
            domains=by_domain,
            fields=fields,
            refused=refused,
            topic=partition.topic(),
        )
        await effect(partial(store.put_partition, record, partition.stamp()))
        partition.counts.subtract(counts)  # only now: what is cut short is counted by the next one
        partition.domain_pages.subtract(domains)
        partition.unkept = 0
        partition.calendar.cursor = record.cursor
    return record


def _budgeted(config: Config, orders: OrdersInForce) -> bool:
    """Whether a budget is told by the counts of the partitions' records."""
    budgets = config.max_pages, config.max_bytes, config.max_requisites_in_all
    return any(budget is not None for budget in budgets) or bool(orders.table("budget"))
