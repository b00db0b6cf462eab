"""Writes a crawl that was stopped with many URLs waiting: through the embedded engine's own adapters, in seconds.

Half of them belong to one host and lie in its backlog, where a crawl would have put them; the rest are records of the
log, over many hosts.
"""

import asyncio
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from gregor.partitioner.hashing import partition_of
from gregor.schemas.messages import PartitionRecord, Ticket, stamp, url_fingerprint
from gregor.worker.adapters.embedded import EmbeddedEngine, open_engine
from gregor.worker.borders.store import Entry
from gregor.worker.compose.process import SystemClock
from gregor.worker.config.settings import Config
from gregor.worker.web.canonical import CORE

BATCH, AT_ONCE = 10_000, 32
HUGE = "huge.bench.test"


async def write(folder: Path, urls: int, hosts: int) -> None:
    """Make a data folder in which so many URLs wait."""
    config = Config()
    engine = await open_engine(folder, config.partitions, CORE.fingerprint(), SystemClock())
    try:
        await _own_once(engine, config.partitions)
        await _fill_backlog(engine, urls // 2, config)
        tickets = _spread(urls - urls // 2, hosts)
        while batch := list(islice(tickets, BATCH)):
            await engine.log.publish(batch)
    finally:
        await engine.close()


async def _own_once(engine: EmbeddedEngine, partitions: int) -> None:
    """Every partition had an owner before: the next one inherits."""
    await engine.coordinator.join()
    for number in range(partitions):
        lease = await engine.coordinator.acquire(number, 0)
        assert lease is not None
        await engine.store.put_partition(PartitionRecord(number, epoch=lease.epoch), stamp(lease.epoch, 0))
        await engine.coordinator.release(lease)


async def _fill_backlog(engine: EmbeddedEngine, urls: int, config: Config) -> None:
    """The wake-up, the chunks, the seen bits: the order in which a worker writes them."""
    partition = partition_of(HUGE, config.partitions)
    wake = Entry(int(engine.coordinator.now() / config.bucket_width), Ticket("", "", HUGE, kind="wake"))
    await engine.store.put_entries(partition, [wake], stamp(1, 1))
    tickets = (_ticket(HUGE, number) for number in range(urls))
    chunks = enumerate(iter(lambda: list(islice(tickets, config.chunk_size)), []), 2)
    while some := list(islice(chunks, AT_ONCE)):
        writes = (engine.store.put_chunk(partition, HUGE, stamp(1, n), batch, stamp(1, n)) for n, batch in some)
        await asyncio.gather(*writes)
        await engine.seen.mark([url_fingerprint(ticket.key) for _, batch in some for ticket in batch])


def _spread(urls: int, hosts: int) -> Iterator[Ticket]:
    """URLs of many hosts, one of each in turn."""
    return (_ticket(f"host{number % hosts}.bench.test", number // hosts) for number in range(urls))


def _ticket(host: str, number: int) -> Ticket:
    url = f"http://{host}/{number}"
    return Ticket(url, url, host, priority=2 + number % 3, depth=3, via=f"http://{host}/", link="a")
