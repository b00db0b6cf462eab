"""Processor time a page on one job: this crawler, a bare reference made of the same C libraries, and Scrapy.

`python -m benchmarks.cpu [--rounds 5] [--pages 6000] [--only gregor,bare] [--peer TREE]`. The web is that of
tests/web/corpus.py: 60 hosts, pages of 5 to 150 KB with about 65 links, served by nginx; no delay; everything on. Each
round runs all of them, one after another, so that the machine's moods meet all alike; figures are medians. A process is
counted as a whole, its start included. With a peer, another checkout with a virtual environment of its own, that one's
crawler runs in each round as well. `--only gregor,rules` says what a rule of ten CSS fields adds, and `--only
gregor,indexed` what `crawl --index` does to the crawler's own process, that of the index left out.
"""

import argparse
import json
import shutil
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec

from benchmarks import extraction, measure
from benchmarks.measure import GREGOR, WORK, Cost, Figure, Figures, middle, run
from tests.web import corpus
from tests.web.static_server import StaticWeb, serving

HOSTS, PAGES = 60, 6000
Job = Callable[[Path], int]


def gregor(
    web: StaticWeb, seeds: Path, folder: Path, command: Path = GREGOR, more: tuple[str | Path, ...] = ()
) -> tuple[Cost, int]:
    """The crawler as a user runs it; ``more``: of its command line."""
    line = [command, "crawl", "--seeds", seeds, "--data", folder / "data", "--json", *more]
    cost = run([*line, "--host-table", web.host_table, "--delay", "0", "--set", "delay_factor=0"], folder / "out")
    return cost, int(json.loads((folder / "out").read_text().splitlines()[-1])["pages"])


def with_rules(web: StaticWeb, seeds: Path, folder: Path) -> tuple[Cost, int]:
    """The crawler with a rule of ten CSS fields."""
    rules = folder / "ten.toml"
    extraction.ten_fields(rules)
    return gregor(web, seeds, folder, more=("--rules", rules))


def indexed(web: StaticWeb, seeds: Path, folder: Path) -> tuple[Cost, int]:
    """The crawler's own process while another one indexes what it stores."""
    cost, met = gregor(web, seeds, folder, more=("--index",))
    return msgspec.structs.replace(cost, cpu=cost.alone), met


def bare(web: StaticWeb, seeds: Path, folder: Path) -> tuple[Cost, int]:
    """The bare reference."""
    cost = run([sys.executable, "-m", "benchmarks.bare", str(web.port), seeds, folder / "pages"], folder / "out")
    return cost, int(json.loads((folder / "out").read_text())["pages"])


def scrapy(web: StaticWeb, seeds: Path, folder: Path) -> tuple[Cost, int]:
    """Scrapy."""
    items = folder / "items.jsonl"
    line = [sys.executable, "-m", "benchmarks.scrapy_job", seeds, items]
    cost = run(line, folder / "out", {"http_proxy": f"http://127.0.0.1:{web.port}"})
    with items.open("rb") as file:
        return cost, sum(1 for _ in file)


JOBS = {"gregor": gregor, "bare": bare, "scrapy": scrapy}
OTHERS = {"rules": with_rules, "indexed": indexed}
"""Jobs that run by name alone."""


def measured(
    rounds: int = 5, pages: int = PAGES, names: tuple[str, ...] = tuple(JOBS), peer: Path | None = None
) -> Figures:
    """Milliseconds a page, and how they compare; ``peer`` is another checkout, whose crawler runs, too."""
    jobs = JOBS | OTHERS
    if peer is not None:
        jobs["peer"] = partial(gregor, command=peer.resolve() / ".venv/bin/gregor")
        names = (*names, "peer")
    folder = WORK / f"web-{pages}"
    corpus.write(folder, corpus.Shape(HOSTS, pages))
    work = WORK / "cpu"
    spent: dict[str, list[float]] = {name: [] for name in names}
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    with serving(folder, work) as web:
        for number in range(rounds):
            for name in names:
                spent[name].append(_page_cost(name, partial(jobs[name], web, folder / "seeds.txt"), work, pages))
            costs = "  ".join(f"{name} {values[-1]:.2f}" for name, values in spent.items())
            print(f"round {number + 1} of {rounds}, ms a page: {costs}", file=sys.stderr, flush=True)
    return _figures(spent)


def _page_cost(name: str, job: Callable[[Path], tuple[Cost, int]], work: Path, pages: int) -> float:
    """Milliseconds a page of one run, which must have met all of them."""
    folder = work / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    cost, met = job(folder)
    if met != pages:
        raise measure.RunFailed(f"{name} found {met} of {pages} pages: see {folder}")
    return 1000 * cost.cpu / pages


def _figures(spent: dict[str, list[float]]) -> Figures:
    figures = {f"cpu.page.{name}": Figure(middle(values), "ms") for name, values in spent.items()}
    ours = spent.get("gregor")
    if ours and "rules" in spent:
        more = (theirs - mine for mine, theirs in zip(ours, spent["rules"], strict=True))
        figures["cpu.more.rules"] = Figure(middle(more), "ms")
    if ours and "indexed" in spent:
        ratios = (theirs / mine for mine, theirs in zip(ours, spent["indexed"], strict=True))
        figures["cpu.times.indexed"] = Figure(middle(ratios), "x")
    for peer in ("peer", "bare", "scrapy"):
        if ours and peer in spent:
            ratios = (mine / theirs for mine, theirs in zip(ours, spent[peer], strict=True))
            figures[f"cpu.times.{peer}"] = Figure(middle(ratios), "x")
            figures["cpu.page.gregor"] = Figure(middle(ours), "ms", middle(spent[peer]))
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description="Processor time a page.")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--pages", type=int, default=PAGES)
    parser.add_argument("--only", default=",".join(JOBS), help="names, separated by commas")
    parser.add_argument("--peer", type=Path, help="another checkout, whose crawler runs in each round, too")
    options = parser.parse_args()
    measure.report(measured(options.rounds, options.pages, tuple(options.only.split(",")), options.peer))


if __name__ == "__main__":
    main()
