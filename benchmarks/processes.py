"""Several processes on one machine: pages a second beside one process, each held to the same share of a core.

`python -m benchmarks.processes [--rounds 3] [--pages 6000] [--only 2x0.5,8x0.2]`. The web is that of `benchmarks.cpu`,
its server in no group. Each process that crawls is in a control group of its own (`benchmarks.quota`); the one that
begins them shares that of the first, so that nothing is done outside. Measured is from the first tenth of the pages to
two fifths, while every process has hosts left and none starts; processor time is that of all groups within it.
"""

import argparse
import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import ExitStack, closing
from pathlib import Path
from typing import NamedTuple

from benchmarks import measure, quota
from benchmarks.measure import GREGOR, WORK, Figure, Figures, middle
from tests.web import corpus
from tests.web.static_server import StaticWeb, serving

HOSTS, PAGES = 240, 6000
FROM, TO = 0.1, 0.4
PATIENCE = 240.0
CONCURRENCY = 64


class Setup(NamedTuple):
    """So many processes of so much of a core."""

    processes: int
    cores: float

    def __str__(self) -> str:
        return f"{self.processes}x{self.cores:g}"


class Speed(NamedTuple):
    """Pages a second, and milliseconds of processor a page."""

    pages: float
    cost: float


SETUPS = (Setup(2, 0.5), Setup(8, 0.2))


def speed(web: StaticWeb, seeds: Path, folder: Path, setup: Setup, pages: int) -> Speed:
    """Of a crawl that is ended once it was measured."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    data = folder / "data"
    line = [GREGOR, "crawl", "--seeds", seeds, "--data", data, "--host-table", web.host_table]
    line += ["--delay", "0", "--set", "delay_factor=0", "--processes", setup.processes]
    line += ["--concurrency", CONCURRENCY * setup.processes]  # of all: each has as much as one alone
    with ExitStack() as stack:
        groups = [
            stack.enter_context(quota.share(f"{folder.name}-{number}", setup.cores))
            for number in range(setup.processes)
        ]
        process = stack.enter_context(measure.begun(line, folder / "out"))
        _place(groups[0], process.pid)
        crawling = [process.pid]
        if setup.processes > 1:
            crawling = _children(process, setup.processes)
            for group, pid in zip(groups, crawling, strict=True):
                _place(group, pid)
            crawling.append(process.pid)
        began = _when(process, data, FROM * pages, crawling)
        ended = _when(process, data, TO * pages, crawling)
    count = ended.pages - began.pages
    return Speed(count / (ended.at - began.at), 1000 * (ended.cpu - began.cpu) / count)


class _Moment(NamedTuple):
    at: float
    pages: int
    cpu: float


def _when(process: "subprocess.Popen[bytes]", data: Path, pages: float, crawling: list[int]) -> _Moment:
    """The moment at which so many pages are stored."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        if (stored := _stored(data)) >= pages:
            return _Moment(time.monotonic(), stored, sum(map(measure.processor_seconds, crawling)))
        time.sleep(0.05)
    raise measure.RunFailed(f"{pages:g} pages were not stored in time: see {data.parent}")


def _stored(data: Path) -> int:
    if not (data / "crawl.db").exists():
        return 0
    try:
        with closing(sqlite3.connect(f"file:{data / 'crawl.db'}?mode=ro", uri=True, timeout=5.0)) as connection:
            return int(connection.execute("SELECT pages FROM totals").fetchone()[0])
    except sqlite3.OperationalError:  # it is being made
        return 0


def _children(process: "subprocess.Popen[bytes]", number: int) -> list[int]:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        if len(children := measure.begun_by(process.pid)) == number:
            return children
        time.sleep(0.02)
    raise measure.RunFailed(f"{number} processes did not begin")


def _place(group: Path, pid: int) -> None:
    (group / "cgroup.procs").write_text(str(pid))


def measured(rounds: int = 3, pages: int = PAGES, setups: tuple[Setup, ...] = SETUPS) -> Figures:
    """How many times the pages of one process, and the processor time of a page beside its."""
    folder, work = WORK / f"web-{HOSTS}-{pages}", WORK / "processes"
    corpus.write(folder, corpus.Shape(HOSTS, pages))
    work.mkdir(parents=True, exist_ok=True)
    times: dict[Setup, list[float]] = {setup: [] for setup in setups}
    costs: dict[Setup, list[float]] = {setup: [] for setup in setups}
    with serving(folder, work) as web:
        for number in range(rounds):
            for setup in setups:
                alone = speed(web, folder / "seeds.txt", work / "one", Setup(1, setup.cores), pages)
                several = speed(web, folder / "seeds.txt", work / "several", setup, pages)
                times[setup].append(several.pages / alone.pages)
                costs[setup].append(several.cost / alone.cost)
                print(
                    f"round {number + 1} of {rounds}, {setup}: {several.pages:.0f} pages/s against {alone.pages:.0f}, "
                    f"{several.cost:.2f} ms a page against {alone.cost:.2f}",
                    file=sys.stderr,
                    flush=True,
                )
    figures: Figures = {}
    for setup in setups:
        figures[f"processes.times.{setup}"] = Figure(middle(times[setup]), "x")
        figures[f"processes.cost.{setup}"] = Figure(middle(costs[setup]), "x")
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description="Several processes on one machine.")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pages", type=int, default=PAGES)
    parser.add_argument("--only", default=",".join(map(str, SETUPS)), help="as 2x0.5,8x0.2")
    options = parser.parse_args()
    wanted = (text.split("x") for text in options.only.split(","))
    setups = tuple(Setup(int(number), float(cores)) for number, cores in wanted)
    measure.report(measured(options.rounds, options.pages, setups))


if __name__ == "__main__":
    main()
