"""What a crawl does now, for the eyes: a view that redraws itself on a terminal, a line now and then elsewhere."""

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Iterator
from textwrap import wrap
from typing import Final, TextIO, TypeVar

from gregor.worker.base.amounts import count, duration, size
from gregor.worker.base.errors import speaks_json, spoken
from gregor.worker.base.printable import one_line
from gregor.worker.base.terminal import panel, redraws
from gregor.worker.config.settings import Config
from gregor.worker.inspect.outlook import Remaining, span_left
from gregor.worker.inspect.rates import Meter, Rates
from gregor.worker.observe.stats import Stats

T = TypeVar("T")

REDRAW = 0.5
_ERRORS = 5
_NARROWEST: Final = 20
"""Characters of a value on a line."""
_WAYS: Final = {"active": "active", "waiting": "waiting", "backing off": "backing_off"}


def _waiting(stats: Stats) -> int:
    """URLs in memory that are not being visited."""
    return max(0, stats.queued - stats.running)


def _left(stats: Stats, rates: Rates, elapsed: float, config: Config) -> str:
    """How long it may still take, by the rates of now: to the budget that is spent first, or until what waits in memory
    is done, with what that will bring as it looks."""
    remaining = Remaining(
        stats.queued,
        stats.slowest,
        stats.later,
        None if config.max_pages is None else config.max_pages - stats.total_pages_200,
        None if config.max_bytes is None else config.max_bytes - stats.total_bytes,
        None if config.max_time is None else config.max_time - elapsed,
    )
    stats.course.add(stats.visited, stats.visited + stats.queued)
    left = span_left(remaining, rates, stats.course.steps()) if stats.queued or stats.pages else None
    return "" if left is None else f" (about {duration(left.likely)} to the end)"


def _hosts(stats: Stats) -> dict[str, int]:
    """How many hosts are in memory, each in one of these ways."""
    states = stats.host_states
    blocked = states.get("blocked", 0) + states.get("robots", 0)
    ways = {name: states.get(state, 0) for name, state in _WAYS.items()}
    return {**ways, "blocked": blocked}


def line(stats: Stats, rates: Rates, elapsed: float, config: Config) -> str:
    """The state of the crawl in one line."""
    errors = stats.errors.total() + stats.aways.total()
    left = _left(stats, rates, elapsed, config)
    return one_line(
        f"{duration(elapsed)}: {count(stats.pages, 'page')} ({rates.pages:.1f}/s, {size(rates.bytes)}/s), "
        f"{rates.requests:.1f} requests/s, {count(_waiting(stats), 'URL')} waiting{left}, "
        f"hosts {' '.join(f'{number} {way}' for way, number in _hosts(stats).items())}, "
        f"{count(errors, 'error')}, limited by {stats.limiting}"
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
        "queued": _waiting(stats),
        **{f"hosts_{way.replace(' ', '_')}": number for way, number in _hosts(stats).items()},
        "errors": stats.errors.total() + stats.aways.total(),
        "limiting": one_line(stats.limiting),
    }
    return spoken("info", "progress", "progress", **fields)


def view(stats: Stats, rates: Rates, elapsed: float, config: Config, columns: int) -> list[str]:
    """The state of the crawl as a small table: lines for a terminal of so many columns."""
    of = f" of {config.max_pages}" if config.max_pages is not None else ""
    rows = {
        "time": duration(elapsed) + (f" of {duration(config.max_time)}" if config.max_time is not None else ""),
        "pages": f"{stats.pages} ({stats.total_pages_200}{of} with status 200 in all), {size(stats.bytes)}",
        "rate": f"{rates.pages:.1f} pages/s, {rates.requests:.1f} requests/s, {size(rates.bytes)}/s",
        "queue": f"{_waiting(stats)} URLs waiting in memory{_left(stats, rates, elapsed, config)}",
        "hosts": ", ".join(f"{number} {way}" for way, number in _hosts(stats).items()),
        "errors": ", ".join(f"{kind} {n}" for kind, n in stats.troubles.most_common(_ERRORS)) or "none",
        "limited by": stats.limiting,
    }
    indent = max(map(len, rows)) + 2
    lines = []
    for name, value in rows.items():
        first, *more = wrap(one_line(value), max(_NARROWEST, columns - indent)) or [""]
        lines += [f"\x1b[2m{name:{indent}}\x1b[22m{first}", *(" " * indent + line for line in more)]
    return lines


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
    if not redraws(out):
        while True:
            await asyncio.sleep(config.progress_interval)
            print(as_logged(stats, *now(), config), file=out, flush=True)
    with panel(out) as shown:
        while True:
            shown.draw(view(stats, *now(), config, shown.size.columns))
            await asyncio.sleep(REDRAW)


class Progress:
    """Tells how far a loop is that may be long: redrawn on a terminal, else as a line every `progress_interval`.

    What is over sooner is not told of. That nobody reads it is no fault of the loop.
    """

    def __init__(self, config: Config, monotonic: Callable[[], float], out: TextIO) -> None:
        self._drawn = redraws(out)
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
