"""What was given up is asked for again, by order of the operator."""

import msgspec

from gregor.partitioner.hashing import partition_of
from gregor.schemas import messages
from gregor.schemas.messages import DeadLetter, Ticket
from gregor.worker.borders import Coordinator, Entry, PageStore


async def ask_again(
    letters: list[DeadLetter], store: PageStore, coordinator: Coordinator, partitions: int, bucket_width: float
) -> int:
    """Write a calendar entry, due now, for every URL whose row still says that it is dead; how many there were.

    The entry is a revisit: a ticket of any other kind would be stale against a terminal row. It is written by the
    partition's owner, which this process becomes for the moment.
    """
    count = 0
    by_partition: dict[int, list[DeadLetter]] = {}
    for letter in letters:
        by_partition.setdefault(partition_of(letter.host, partitions), []).append(letter)
    for partition, found in by_partition.items():
        record = await store.partition(partition)
        lease = await coordinator.acquire(partition, record.epoch)
        if lease is None:
            continue
        rows = await store.rows([letter.key for letter in found])
        bucket = max(record.cursor + 1, int(coordinator.now() / bucket_width))
        entries = [
            Entry(
                bucket,
                Ticket(
                    row.href,
                    row.key,
                    row.host,
                    row.visits,
                    "revisit",
                    row.priority,
                    row.depth,
                    0,
                    row.via,
                    row.link,
                    row.label,
                ),
            )
            for row in rows
            if row is not None and row.state == "dead"
        ]
        await store.put_entries(partition, entries, messages.stamp(lease.epoch, 1))
        await store.put_partition(
            msgspec.structs.replace(record, partition=partition, epoch=lease.epoch), messages.stamp(lease.epoch, 2)
        )
        await coordinator.release(lease)
        count += len(entries)
    return count
