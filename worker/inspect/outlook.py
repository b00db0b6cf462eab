"""How much is still to do, how long that may take, and what the machine has left for it."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from gregor.worker.inspect import machine
from gregor.worker.inspect.rates import Rates

if TYPE_CHECKING:
    from gregor.worker.config.settings import Config
    from gregor.worker.inspect.worker_state import Condition, Lag
    from gregor.worker.run.runtime import Runtime


class Outlook(Struct, frozen=True):
    """Of one worker, or of several.

    ``waiting``: URLs in memory and records of the log behind them, of which some will turn out to be known. ``left``:
    seconds to the end at the speed of now; None where that is not known. Memory is what the process uses and may use;
    of several workers these are of the one that is nearest to its limit, and the disk is the one with the least room.
    """

    waiting: int = 0
    left: float | None = None
    disk_free: int = 0
    disk_size: int = 0
    memory_used: int = 0
    memory: int = 0


class Remaining(Struct, frozen=True):
    """What ends a crawl. ``slowest``: seconds that the host with the longest queue needs by its delay.

    ``later``: whether visits are put off. Pages, bytes and seconds are those left of the budgets; None without one.
    """

    waiting: int
    slowest: float
    later: bool
    pages: int | None = None
    bytes: int | None = None
    seconds: float | None = None


def time_left(remaining: Remaining, rates: Rates) -> float | None:
    """Seconds until the first budget is spent or what waits is done, whichever comes first. Pure."""
    ends = [] if remaining.seconds is None else [remaining.seconds]
    for amount, rate in ((remaining.pages, rates.pages), (remaining.bytes, rates.bytes)):
        if amount is not None and (rate > 0.0 or amount <= 0):
            ends.append(amount / rate if amount > 0 else 0.0)
    if not remaining.later and not remaining.waiting:
        ends.append(0.0)
    elif not remaining.later and rates.requests > 0.0:
        ends.append(max(remaining.slowest, remaining.waiting / rates.requests))
    return max(0.0, min(ends)) if ends else None


def slowest(runtime: "Runtime") -> float:
    """Seconds that the host with the longest queue needs, by its delay. It looks at every host in memory."""
    return max(_queues(runtime), default=0.0)


def _queues(runtime: "Runtime") -> Iterator[float]:
    for owned in runtime.owned.values():
        delay = owned.crawl.turns.spacing.delay
        for host in owned.crawl.partition.hosts.values():
            if host.queue:
                yield len(host.queue) * delay(host)


def outlook(
    config: "Config", runtime: "Runtime", now: "Condition", lag: "Lag", rates: Rates, longest: float
) -> Outlook:
    """A worker's. ``longest``: its `slowest`."""
    stats = runtime.stats
    unread = max(0, sum(lag.records.values()) - sum(now.window.values()))
    waiting = now.back_queues + unread
    remaining = Remaining(
        waiting,
        longest,
        bool(now.buckets),
        None if config.max_pages is None else config.max_pages - stats.total_pages_200,
        None if config.max_bytes is None else config.max_bytes - stats.total_bytes,
        None if config.max_time is None else config.max_time - now.seconds,
    )
    left = time_left(remaining, rates) if now.state == "crawling" else None
    free, size = machine.disk(Path(config.data))
    return Outlook(max(0, waiting - now.running), left, free, size, machine.memory_used(), machine.memory())


def combined(outlooks: Sequence[Outlook]) -> Outlook:
    """Of several workers: the sum of what waits, the longest time, the least room."""
    lefts = [outlook.left for outlook in outlooks]
    times = [left for left in lefts if left is not None]
    disk = min(
        (outlook for outlook in outlooks if outlook.disk_size), key=lambda outlook: outlook.disk_free, default=Outlook()
    )
    memory = max(
        (outlook for outlook in outlooks if outlook.memory),
        key=lambda outlook: outlook.memory_used / outlook.memory,
        default=Outlook(),
    )
    return Outlook(
        sum(outlook.waiting for outlook in outlooks),
        max(times) if times and len(times) == len(lefts) else None,
        disk.disk_free,
        disk.disk_size,
        memory.memory_used,
        memory.memory,
    )
