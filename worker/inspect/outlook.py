"""How much is still to do, how long that may take, and what the machine has left for it."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from gregor.worker.inspect import machine
from gregor.worker.inspect.forecast import Range, in_the_end
from gregor.worker.inspect.rates import Rates
from gregor.worker.observe.course import Course, GrowthStep

if TYPE_CHECKING:
    from gregor.worker.config.settings import Config
    from gregor.worker.inspect.worker_state import Condition, Lag
    from gregor.worker.run.runtime import Runtime


class Outlook(Struct, frozen=True):
    """Of one worker, or of several.

    ``waiting``: URLs in memory and records of the log behind them, of which some will turn out to be known. ``left``:
    likely seconds to the end at the speed of now, with what will still be found as it looks; between the other two in
    four of five cases. None where that is not known. Memory is what the process uses and may use;
    of several workers these are of the one that is nearest to its limit, and the disk is the one with the least room.
    """

    waiting: int = 0
    left: float | None = None
    disk_free: int = 0
    disk_size: int = 0
    memory_used: int = 0
    memory: int = 0
    left_least: float | None = None
    left_most: float | None = None


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


def span_left(remaining: Remaining, rates: Rates, steps: Sequence[GrowthStep]) -> Range | None:
    """Seconds to the end with what will still be found, by how known URLs grew: likely, at least and at most; None
    where `time_left` is not known. Pure."""
    now = time_left(remaining, rates)
    if now is None:
        return None
    if not steps or not steps[-1].waiting:
        return Range(now, now, now)
    end, visited = in_the_end(steps), steps[-1].visited
    times = [(urls - visited) / steps[-1].waiting for urls in (end.likely, end.least, end.most)]
    spans = [time_left(_grown(remaining, more), rates) or 0.0 for more in times]
    return Range(*spans)


def _grown(remaining: Remaining, times: float) -> Remaining:
    waiting, longest = round(remaining.waiting * times), remaining.slowest * times
    return structs.replace(remaining, waiting=waiting, slowest=longest)


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
    config: "Config",
    runtime: "Runtime",
    now: "Condition",
    lag: "Lag",
    rates: Rates,
    longest: float,
    course: Course,
) -> Outlook:
    """A worker's. ``longest``: its `slowest`; ``course``: what it knew so far, which is told what it knows now."""
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
    visited = stats.visited
    course.add(visited, visited + waiting)
    left = span_left(remaining, rates, course.steps()) if now.state == "crawling" else None
    free, size = machine.disk(Path(config.data))
    return Outlook(
        max(0, waiting - now.running),
        None if left is None else left.likely,
        free,
        size,
        machine.memory_used(),
        machine.memory(),
        None if left is None else left.least,
        None if left is None else left.most,
    )


def combined(outlooks: Sequence[Outlook]) -> Outlook:
    """Of several workers: the sum of what waits, the longest time, the least room."""
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
        _longest([outlook.left for outlook in outlooks]),
        disk.disk_free,
        disk.disk_size,
        memory.memory_used,
        memory.memory,
        _longest([outlook.left_least for outlook in outlooks]),
        _longest([outlook.left_most for outlook in outlooks]),
    )


def _longest(times: Sequence[float | None]) -> float | None:
    """The crawl ends with its last worker; None where one of them does not know."""
    known = [time for time in times if time is not None]
    return max(known) if known and len(known) == len(times) else None
