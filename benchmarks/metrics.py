"""What all metrics cost a page: how often each way of counting is used, times what it costs once.

`python -m benchmarks.metrics [--pages 1500]`. The crawl is that of benchmarks.cpu: once in this process, to see how
often things are counted, and once as a user runs it, to see what a page costs altogether. A scrape is one every 15
seconds of a crawl at 100 pages a second.
"""

import argparse
import asyncio
import gc
import shutil
import time
from collections import Counter
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any
from unittest import mock

from benchmarks import cpu, measure
from benchmarks.measure import WORK, Figure, Figures
from gregor.worker.api.worker_backend import WorkerBackend
from gregor.worker.compose import worker as composition
from gregor.worker.compose.process import SystemClock
from gregor.worker.config.settings import Config
from gregor.worker.observe.cpu_time import CpuTime
from gregor.worker.observe.instrumented import instrumented as wrapped
from gregor.worker.observe.stats import Stats
from gregor.worker.observe.timing import Timing
from gregor.worker.operate.seeds import Seed
from gregor.worker.web.urls import Urls
from tests.web import corpus
from tests.web.static_server import StaticWeb, serving

PAGES = 1500
TIMES = 20_000
SCRAPE_PAGES = 15 * 100
"""Pages between two scrapes."""
CLOCKS = 6
"""Looks at a clock that a visit takes for its stages."""


def measured(pages: int = PAGES) -> Figures:
    """Microseconds a page, by way of counting, and the share of all processor time."""
    folder, work = WORK / f"web-{pages}", WORK / "metrics"
    corpus.write(folder, corpus.Shape(cpu.HOSTS, pages))
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    with serving(folder, work) as web:
        uses, scrape = asyncio.run(_uses(web, _seeds(folder), work / "counted"))
        cost, crawled = cpu.gregor(web, folder / "seeds.txt", work)
    each = costs()
    spent = {name: 1e6 * count * each[name] / pages for name, count in uses.items()}
    spent["scrape"] = 1e6 * scrape / SCRAPE_PAGES
    per_page = 1e6 * cost.cpu / crawled
    figures = {f"metrics.{name}": Figure(round(value, 2), "us a page") for name, value in spent.items()}
    figures["metrics.all"] = Figure(round(sum(spent.values()), 2), "us a page", round(per_page, 1))
    figures["metrics.share"] = Figure(round(sum(spent.values()) / per_page, 4), "of the CPU a page")
    return figures


def _seeds(folder: Path) -> list[Seed]:
    urls = Urls()
    lines = (folder / "seeds.txt").read_text().split()
    return [Seed(url) for line in lines if (url := urls.parse(line)) is not None]


async def _uses(web: StaticWeb, seeds: list[Seed], folder: Path) -> tuple[dict[str, int], float]:
    """How often each way of counting is used in a whole crawl; seconds of one scrape."""
    switched: Counter[str] = Counter()
    scrapes: list[float] = []
    runtimes: list[composition.Crawling] = []
    switch = CpuTime.switch

    def counted(spending: CpuTime, stage: str) -> str:
        switched[stage] += 1
        return switch(spending, stage)

    config = Config(data=str(folder), host_table=str(web.host_table), delay=0.0, delay_factor=0.0, listen="127.0.0.1:0")
    with mock.patch.object(CpuTime, "switch", counted), mock.patch.object(WorkerBackend, "keep", _scraping(scrapes)):
        await composition.crawl(config, seeds, runtimes.append)
    stats = runtimes[0].stats
    counters = (stats.states, stats.statuses, stats.errors, stats.contents, stats.robots, stats.cached, stats.seen)
    return {
        "border calls": sum(timing.count for timing in stats.calls.values()),
        "stages": sum(timing.count for timing in stats.stages.values()),
        "clocks": CLOCKS * stats.requests,
        "politeness": stats.requests,
        "counters": sum(sum(counter.values()) for counter in counters) + 6 * stats.pages,
        "cpu switches": sum(switched.values()),
        "cpu steps": switched["admit"] + switched["settle"],
    }, min(scrapes)


def _scraping(scrapes: list[float]) -> Callable[[WorkerBackend], Coroutine[Any, Any, None]]:
    """In the place of what keeps the history of rates: scrapes now and then, and says what they take."""

    async def keep(backend: WorkerBackend) -> None:
        while True:
            await asyncio.sleep(1.5)
            begun = time.thread_time()
            await backend.metrics()
            scrapes.append(time.thread_time() - begun)

    return keep


class _Border:
    async def call(self) -> None: ...


def costs() -> dict[str, float]:
    """Seconds that each way of counting takes once: the least of some rounds, since all that disturbs adds."""
    stats, timing, cpu_time, counter = Stats(), Timing(), CpuTime(), Counter[str]()
    border = _Border()
    standing_in = wrapped(border, "store", stats, clock=SystemClock().monotonic)

    def count() -> None:
        counter["fetched"] += 1

    switching = _call(lambda: cpu_time.switch("parse"))
    return {
        "border calls": max(0.0, _await(standing_in.call) - _await(border.call)),
        "stages": _call(lambda: timing.observe(0.01)),
        "clocks": _call(SystemClock().monotonic),
        "politeness": _call(lambda: stats.spaced(1.0, 1.0, 5.0)),
        "counters": _call(count),
        "cpu switches": switching,
        "cpu steps": max(0.0, _steps(cpu_time) - _steps(None) - 2 * switching),
    }


def _call(call: Callable[[], object]) -> float:
    """Seconds of one call."""
    return min(_timed(call) for _ in range(5))


def _timed(call: Callable[[], object]) -> float:
    gc.disable()
    begun = time.thread_time()
    for _ in range(TIMES):
        call()
    gc.enable()
    return (time.thread_time() - begun) / TIMES


def _await(call: Callable[[], Coroutine[Any, Any, None]]) -> float:
    """Seconds of one call that never waits."""

    async def calls() -> float:
        begun = time.thread_time()
        for _ in range(TIMES):
            await call()
        return (time.thread_time() - begun) / TIMES

    return min(asyncio.run(calls()) for _ in range(5))


def _steps(cpu_time: CpuTime | None) -> float:
    """Seconds of one step of work that waits often, charged to a stage or not."""

    async def waits() -> None:
        for _ in range(TIMES):
            await asyncio.sleep(0)

    async def work() -> float:
        begun = time.thread_time()
        await (waits() if cpu_time is None else cpu_time.charge("settle", waits()))
        return (time.thread_time() - begun) / TIMES

    return min(asyncio.run(work()) for _ in range(5))


def main() -> None:
    parser = argparse.ArgumentParser(description="What all metrics cost a page.")
    parser.add_argument("--pages", type=int, default=PAGES)
    measure.report(measured(parser.parse_args().pages))


if __name__ == "__main__":
    main()
