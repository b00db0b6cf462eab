"""What the journal of the border calls tells: watermarks (I6), epochs (I7), bounds (I9)."""

from collections import defaultdict
from collections.abc import Iterable

import msgspec

from gregor.partitioner.hashing import partition_of
from gregor.schemas.messages import Page
from gregor.worker.frontier.lanes import SCORED_SLOTS, SLOTS
from tests.simulation.crawl import Run
from tests.simulation.engine import Effect
from tests.simulation.web import Exchange

Finding = tuple[float, str]


def watermarks(run: Run) -> list[Finding]:
    """I6: seen by the watch at every commit; and at the end no topic lost what was not committed."""
    late = [
        (run.ended, f"records of topic {place[1]} of partition {place[0]} were deleted up to {topic.start}")
        for place, topic in run.world.log.topics.items()
        if topic.start > topic.highest_committed
    ]
    return run.watch.found["I6"] + late


def epochs(run: Run) -> list[Finding]:
    """I7: what the watch saw; and every stamp carries an epoch under which its client owned the partition."""
    held = {(o.client, o.partition, o.epoch) for o in run.world.zookeeper.history if o.gained}
    found = list(run.watch.found["I7"])
    for effect in run.world.journal:
        for partition in _written(effect, run.world.partitions):
            epoch = effect.args[-1] >> 32
            if (effect.client, partition, epoch) not in held:
                found.append((effect.time, f"{effect.op} by {effect.client} in partition {partition}, epoch {epoch}"))
    return found


def _written(effect: Effect, partitions: int) -> Iterable[int]:
    """The partitions that a stamped effect wrote to."""
    match effect.op:
        case "put_rows":
            return {partition_of(row.host, partitions) for row in effect.args[0]}
        case "put_page":
            return {partition_of(msgspec.msgpack.decode(effect.args[0], type=Page).host, partitions)}
        case "put_entries" | "drop_bucket" | "put_chunk" | "drop_chunk":
            return (effect.args[0],)
        case "put_partition":
            return (effect.args[0].partition,)
        case "put_host":
            return (partition_of(effect.args[0].host, partitions),)
        case _:
            return ()


def _crowded(run: Run) -> list[Finding]:
    """Requests of one worker to one address beyond its limit."""
    to: dict[tuple[str, str], list[Exchange]] = defaultdict(list)
    for exchange in run.web.log:
        to[exchange.client, exchange.address].append(exchange)
    most = run.config.per_address or run.config.concurrency
    return [
        (exchange.start, f"{exchange.client} had more than {most} requests at {address}")
        for (_, address), exchanges in to.items()
        for exchange in exchanges
        if sum(one.start <= exchange.start < one.end for one in exchanges) > most
    ]


def bounded(run: Run) -> list[Finding]:
    """I9: what the watch saw of buckets and chunks; requests at once; what a worker holds in memory."""
    config = run.config
    batch = max(config.chunk_size, config.bucket_size)  # what is read at once may pass a bound by as much
    bounds = {
        "window": config.window,
        "queue": (SLOTS + SCORED_SLOTS) * (config.queue_size + batch),
        "memory": config.memory_urls + batch,
    }
    return (
        run.watch.found["I9"]
        + _crowded(run)
        + [
            (run.ended, f"{worker.name}: {most} in {what}, {bounds[what]} allowed")
            for worker in run.workers
            for what, most in worker.most.items()
            if most > bounds[what]
        ]
        + [
            (run.ended, f"{worker.name} made {worker.transport.most_running} requests at once")
            for worker in run.workers
            if worker.transport.most_running > config.concurrency
        ]
    )
