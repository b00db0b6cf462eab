"""What a crawl does now, for the eyes: a view that redraws itself on a terminal, a line now and then elsewhere."""

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TextIO, TypeVar

from msgspec import Struct

from gregor.worker.base.errors import speaks_json, spoken
from gregor.worker.base.printable import one_line
from gregor.worker.config.settings import Config
from gregor.worker.inspect.report import count, duration, size
from gregor.worker.observe.stats import Stats

if TYPE_CHECKING:
    from rich.table import Table

T = TypeVar("T")

WINDOW = 10.0
"""Seconds over which rates are measured."""
REDRAW = 0.5
_ERRORS = 5


class Rates(Struct, frozen=True):
    """Per second, over the last `WINDOW` seconds or since the start."""

    pages: float
    requests: float
    bytes: float


class Meter:
    """Measures rates from counters that only grow."""

    def __init__(self) -> None:
        self._samples: deque[tuple[float, int, int, int]] = deque()

    def sample(self, now: float, stats: Stats) -> Rates:
        """Take the counters at ``now`` (seconds, monotonic)."""
        samples = self._samples
        samples.append((now, stats.pages, stats.requests, stats.bytes))
        while len(samples) > 2 and samples[1][0] <= now - WINDOW:
            samples.popleft()
        (then, *before), (_, *after) = samples[0], samples[-1]
        if now <= then:
            return Rates(0.0, 0.0, 0.0)
        return Rates(*((late - early) / (now - then) for early, late in zip(before, after, strict=True)))


def _left(stats: Stats, rates: Rates, elapsed: float, config: Config) -> str:
    """How long it may still take, by the rates of now: to the budget that is spent first, or until what waits in memory
    is done, which may bring more."""
    ends = []
    if rates.pages > 0 and config.max_pages is not None:
        ends.append((config.max_pages - stats.total_pages_200) / rates.pages)
    if config.max_time is not None:
        ends.append(config.max_time - elapsed)
    if rates.requests > 0 and stats.queued:
        ends.append(stats.queued / rates.requests)
    return f" (about {duration(max(0.0, min(ends)))} to the end)" if ends else ""


def line(stats: Stats, rates: Rates, elapsed: float, config: Config) -> str:
    """The state of the crawl in one line."""
    errors = stats.errors.total() + stats.aways.total()
    left = _left(stats, rates, elapsed, config)
    return one_line(
        f"{duration(elapsed)}: {count(stats.pages, 'page')} ({rates.pages:.1f}/s, {size(rates.bytes)}/s), "
        f"{rates.requests:.1f} requests/s, {count(stats.queued, 'URL')} waiting{left}, "
        f"hosts {stats.running} active {stats.hosts_waiting} waiting "
        f"{stats.hosts_blocked} blocked, {count(errors, 'error')}, limited by {stats.limiting}"
    )


def as_logged(stats: Stats, rates: Rates, elapsed: float, config: Config) -> str:
    """The line, or with log_format json an object with what it says."""
    if not speaks_json():
        return line(stats, rates, elapsed, config)
    fields = {
        "elapsed": round(elapsed, 3),
        "pages": stats.pages,
        "pages_per_second": round(rates.pages, 3),
        "requests_per_second": round(rates.requests, 3),
        "bytes_per_second": round(rates.bytes),
        "queued": stats.queued,
        "hosts_active": stats.running,
        "hosts_waiting": stats.hosts_waiting,
        "hosts_blocked": stats.hosts_blocked,
        "errors": stats.errors.total() + stats.aways.total(),
        "limiting": one_line(stats.limiting),
    }
    return spoken("info", "progress", "progress", **fields)


def view(stats: Stats, rates: Rates, elapsed: float, config: Config) -> "Table":
    """The state of the crawl as a small table."""
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    of = f" of {config.max_pages}" if config.max_pages is not None else ""
    rows = [
        ("time", duration(elapsed) + (f" of {duration(config.max_time)}" if config.max_time is not None else "")),
        ("pages", f"{stats.pages} ({stats.total_pages_200}{of} with status 200 in all), {size(stats.bytes)}"),
        ("rate", f"{rates.pages:.1f} pages/s, {rates.requests:.1f} requests/s, {size(rates.bytes)}/s"),
        ("queue", f"{stats.queued} URLs waiting in memory{_left(stats, rates, elapsed, config)}"),
        ("hosts", f"{stats.running} active, {stats.hosts_waiting} waiting, {stats.hosts_blocked} blocked"),
        ("errors", ", ".join(f"{kind} {n}" for kind, n in stats.troubles.most_common(_ERRORS)) or "none"),
        ("limited by", stats.limiting),
    ]
    for name, value in rows:
        table.add_row(Text(name, style="dim"), Text(one_line(value)))
    return table


async def watch(
    stats: Stats, config: Config, monotonic: Callable[[], float], out: TextIO, refresh: Callable[[], None]
) -> None:
    """Show it until cancelled: drawn twice a second on a terminal, else as a line every `progress_interval`.

    ``refresh`` brings the counters up to date.
    """
    meter, started = Meter(), monotonic()

    def now() -> tuple[Rates, float]:
        at = monotonic()
        refresh()
        return meter.sample(at, stats), at - started

    now()
    if not out.isatty() or speaks_json():
        while True:
            await asyncio.sleep(config.progress_interval)
            print(as_logged(stats, *now(), config), file=out, flush=True)
    from rich.console import Console
    from rich.live import Live

    with Live(console=Console(file=out), auto_refresh=False, redirect_stdout=False) as live:
        while True:
            live.update(view(stats, *now(), config), refresh=True)
            await asyncio.sleep(REDRAW)


class Progress:
    """Tells how far a loop is that may be long: redrawn on a terminal, else as a line every `progress_interval`.

    What is over sooner is not told of. That nobody reads it is no fault of the loop.
    """

    def __init__(self, config: Config, monotonic: Callable[[], float], out: TextIO) -> None:
        self._drawn = out.isatty() and not speaks_json()
        self._every = REDRAW if self._drawn else config.progress_interval
        self._monotonic = monotonic
        self._out = out

    def over(self, doing: str, items: Iterable[T], total: int | None = None) -> Iterator[T]:
        """The items. ``total``: how many there are, where that is known."""
        begun = self._monotonic()
        last_line, of = begun, "" if total is None else f" of {total}"
        try:
            for number, item in enumerate(items):
                if (now := self._monotonic()) >= last_line + self._every:
                    last_line = now
                    self._tell(f"{duration(now - begun)}: {doing}, {number}{of} ({number / (now - begun):.0f}/s)")
                yield item
        finally:
            if self._drawn and last_line > begun:
                self._write("\r\x1b[K")

    def _tell(self, text: str) -> None:
        line = spoken("info", "progress", text) if speaks_json() else text
        self._write(f"\r{line}\x1b[K" if self._drawn else f"{line}\n")

    def _write(self, text: str) -> None:
        with contextlib.suppress(OSError):
            self._out.write(text)
            self._out.flush()
