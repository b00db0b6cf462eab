"""Pages a core-second on real pages: the recorded web over HTTPS, by this crawler, a bare reference, and Scrapy.

`python -m benchmarks.real --web FOLDER [--rounds 3] [--pages 700] [--only gregor,bare] [--peer TREE]`. The pages of
many hosts of the recorded web (`web-*.warc.gz`, 115 KB and some 180 links a page), each host by a connection of its
own, over TLS and compressed. All pages are seeds, and no link is followed: what they lead to was not recorded. Each
round runs all of them, one after another; figures are medians. A process is counted as a whole, its start included;
what a page takes is told by stages, too. ``--pages``: of each file. With a peer, another checkout's crawler runs in
each round.
"""

import argparse
import json
import shutil
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import measure
from benchmarks.measure import GREGOR, WORK, Cost, Figure, Figures, middle, run
from benchmarks.real_server import RealWeb, serving

FILES = "web-*.warc.gz"
PAGES = 700
Stages = dict[str, float]
Job = Callable[[RealWeb, Path], tuple[Cost, int, Stages]]


def gregor(web: RealWeb, folder: Path, command: Path = GREGOR) -> tuple[Cost, int, Stages]:
    """The crawler as a user runs it."""
    line = [command, "crawl", "--seeds", web.seeds, "--data", folder / "data", "--json", "--max-depth", "0"]
    polite = ["--delay", "0", "--set", "delay_factor=0", "--set", "max_crawl_delay=0", "--set", "per_address_delay=0"]
    cost = run([*line, *polite, "--host-table", web.host_table, "--ca-file", web.ca], folder / "out")
    measured: dict[str, Any] = json.loads((folder / "out").read_text().splitlines()[-1])
    return cost, measured["pages"], measured.get("cpu", {})


def bare(web: RealWeb, folder: Path) -> tuple[Cost, int, Stages]:
    """The bare reference."""
    line = [sys.executable, "-m", "benchmarks.bare", str(web.port), web.seeds, folder / "pages", web.ca]
    cost = run(line, folder / "out")
    return cost, int(json.loads((folder / "out").read_text())["pages"]), {}


def scrapy(web: RealWeb, folder: Path) -> tuple[Cost, int, Stages]:
    """Scrapy, which does not look at certificates."""
    items = folder / "items.jsonl"
    cost = run([sys.executable, "-m", "benchmarks.scrapy_job", web.seeds, items, "loopback"], folder / "out")
    with items.open("rb") as file:
        return cost, sum(1 for _ in file), {}


JOBS: dict[str, Job] = {"gregor": gregor, "bare": bare, "scrapy": scrapy}


def measured(
    web: Path, rounds: int = 3, pages: int = PAGES, names: tuple[str, ...] = tuple(JOBS), peer: Path | None = None
) -> Figures:
    """Pages a core-second, and how they compare; ``peer`` is another checkout, whose crawler runs, too."""
    jobs = dict(JOBS)
    if peer is not None:
        jobs["peer"] = partial(gregor, command=peer.resolve() / ".venv/bin/gregor")
        names = (*names, "peer")
    work = WORK / "real"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    rates: dict[str, list[float]] = {name: [] for name in names}
    stages: list[Stages] = []
    with serving(sorted(web.glob(FILES)), work, pages) as served:
        print(f"{served.pages} pages of {served.bytes / served.pages / 1000:.0f} KB", file=sys.stderr, flush=True)
        for number in range(rounds):
            for name in names:
                folder = work / name
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                cost, met, by_stage = jobs[name](served, folder)
                if met < 0.97 * served.pages:
                    raise measure.RunFailed(f"{name} stored {met} of {served.pages} pages: see {folder}")
                rates[name].append(met / cost.cpu)
                if name == "gregor":
                    stages.append({stage: 1000 * spent / met for stage, spent in by_stage.items()})
            shown = "  ".join(f"{name} {values[-1]:.1f}" for name, values in rates.items())
            print(f"round {number + 1} of {rounds}, pages a core-second: {shown}", file=sys.stderr, flush=True)
    return _figures(rates, stages)


def _figures(rates: dict[str, list[float]], stages: list[Stages]) -> Figures:
    figures = {f"real.rate.{name}": Figure(middle(values, 1), "pages/core-s") for name, values in rates.items()}
    for stage in stages[0] if stages else ():
        figures[f"real.stage.{stage}"] = Figure(middle(spent[stage] for spent in stages), "ms a page")
    ours = rates.get("gregor", [])
    for name, theirs in rates.items():
        if ours and name != "gregor":
            ratios = (mine / other for mine, other in zip(ours, theirs, strict=True))
            figures[f"real.times.{name}"] = Figure(middle(ratios), "x")
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description="Pages a core-second on real pages.")
    parser.add_argument("--web", type=Path, default=measure.ROOT.parent / "shared" / "realweb")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pages", type=int, default=PAGES, help="of each file of the recorded web")
    parser.add_argument("--only", default=",".join(JOBS), help="names, separated by commas")
    parser.add_argument("--peer", type=Path, help="another checkout, whose crawler runs in each round, too")
    options = parser.parse_args()
    names = tuple(options.only.split(","))
    measure.report(measured(options.web, options.rounds, options.pages, names, options.peer))


if __name__ == "__main__":
    main()
