"""What the cluster engine costs: against the embedded engine on one job, and two workers against one.

`python -m benchmarks.cluster [--rounds 3] [--pages 6000] [--only cost,scale] [--cores 0.3] [--peer TREE]`. Kafka,
ZooKeeper, Redis and Cassandra are those of the cluster tests, on this machine.

*cost*: the job of `benchmarks.cpu`, once on each engine a round; of the cluster the worker's process only, its start
included. *scale*: one worker, then two, each held to a share of a core by a control group (`benchmarks.quota`). Speed
and processor time a page, of workers and servers, are counted from a tenth to seven tenths of the pages: start and end
are no part of how it scales. That web has more hosts, so that each of two workers has enough to do. With a peer,
another checkout with a virtual environment of its own, *cost* runs that one's worker on the servers in each round as
well, and not the embedded engine.
"""

import argparse
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Final

import msgspec

from benchmarks import cpu, measure, quota
from benchmarks.crawl_on_servers import CrawlOnServers, crawl_on
from benchmarks.measure import WORK, Figure, Figures, RunFailed, middle, processor_seconds
from tests.cluster.servers import Servers
from tests.web import corpus
from tests.web.static_server import StaticWeb, serving

PARTS: Final = ("cost", "scale")
SCALE_HOSTS: Final = 240
FIRST, LAST = 0.1, 0.7
LONGEST: Final = 1200.0
"""Seconds for one crawl."""
_LOOK: Final = 0.5


class Moment(msgspec.Struct, frozen=True):
    """What was reached by then: seconds of time, pages, seconds of processor time of workers and of servers."""

    at: float
    pages: int
    workers: float
    servers: float


class Speed(msgspec.Struct, frozen=True):
    """Pages a second; milliseconds of processor time a page of the workers, and of the servers."""

    pages: float
    workers: float
    servers: float


def measured(
    rounds: int = 3, pages: int = cpu.PAGES, parts: Sequence[str] = PARTS, cores: float = 0.3, peer: Path | None = None
) -> Figures:
    """Both parts, one after another; ``peer`` is another checkout, whose worker runs in *cost*."""
    figures: Figures = {}
    with Servers() as servers:
        if "cost" in parts:
            with _web(corpus.Shape(cpu.HOSTS, pages)) as (web, seeds):
                figures |= (
                    _cost(servers, web, seeds, rounds, pages)
                    if peer is None
                    else _against(peer, servers, web, seeds, rounds, pages)
                )
        if "scale" in parts:
            with _web(corpus.Shape(SCALE_HOSTS, pages)) as (web, seeds):
                figures |= _scale(servers, web, seeds, rounds, pages, cores)
    return figures


def _cost(servers: Servers, web: StaticWeb, seeds: Path, rounds: int, pages: int) -> Figures:
    embedded: list[float] = []
    cluster: list[float] = []
    for number in range(rounds):
        cost, stored = cpu.gregor(web, seeds, _folder("embedded"))
        embedded.append(_page_cost(cost.cpu, stored, pages))
        cluster.append(_worker_cost(servers, web, seeds, _folder(f"cost{number}"), pages))
        _tell(f"round {number + 1} of {rounds}, ms a page: embedded {embedded[-1]:.2f}  cluster {cluster[-1]:.2f}")
    return {
        "cluster.page": Figure(middle(cluster), "ms", middle(embedded)),
        "cluster.times.embedded": Figure(middle(a / b for a, b in zip(cluster, embedded, strict=True)), "x"),
    }


def _against(peer: Path, servers: Servers, web: StaticWeb, seeds: Path, rounds: int, pages: int) -> Figures:
    """A worker of this checkout on servers, and one of another."""
    theirs = peer.resolve() / ".venv/bin/gregor"
    spent: list[tuple[float, float]] = []
    for number in range(rounds):
        ours = _worker_cost(servers, web, seeds, _folder(f"cost{number}"), pages)
        spent.append((ours, _worker_cost(servers, web, seeds, _folder(f"peer{number}"), pages, theirs)))
        _tell(f"round {number + 1} of {rounds}, ms a page: cluster {spent[-1][0]:.2f}  peer {spent[-1][1]:.2f}")
    return {
        "cluster.page": Figure(middle(ours for ours, _ in spent), "ms", middle(theirs for _, theirs in spent)),
        "cluster.times.peer": Figure(middle(ours / theirs for ours, theirs in spent), "x"),
    }


def _worker_cost(
    servers: Servers, web: StaticWeb, seeds: Path, folder: Path, pages: int, gregor: Path = measure.GREGOR
) -> float:
    """Milliseconds of processor a page of one worker that crawls all of a web."""
    with crawl_on(servers, web, seeds, folder, gregor) as crawl:
        cost = measure.run(crawl.worker, folder / "out")
        return _page_cost(cost.cpu, crawl.stored(), pages)


def _page_cost(seconds: float, stored: int, pages: int) -> float:
    if stored != pages:
        raise RunFailed(f"{stored} of {pages} pages were stored: see {WORK / 'cluster'}")
    return 1000 * seconds / pages


def _scale(servers: Servers, web: StaticWeb, seeds: Path, rounds: int, pages: int, cores: float) -> Figures:
    of_one: list[Speed] = []
    two: list[Speed] = []
    for number in range(rounds):
        for speeds, workers in ((of_one, 1), (two, 2)):
            folder = _folder(f"scale{number}-{workers}")
            with crawl_on(servers, web, seeds, folder) as crawl:
                speeds.append(_speed(crawl, folder, workers, pages, cores))
            _tell(f"round {number + 1} of {rounds}, {workers} of {cores:g} core: {speeds[-1]}")
    pairs = list(zip(of_one, two, strict=True))
    costs = [(a.workers + a.servers, b.workers + b.servers) for a, b in pairs]
    return {
        "cluster.speed.two": Figure(middle(b.pages for b in two), "pages/s", middle(a.pages for a in of_one)),
        "cluster.speed.times": Figure(middle(b.pages / a.pages for a, b in pairs), "x"),
        "cluster.all.two": Figure(middle(b for _, b in costs), "ms", middle(a for a, _ in costs)),
        "cluster.all.times": Figure(middle(b / a for a, b in costs), "x"),
        "cluster.servers.page": Figure(middle(b.servers for b in two), "ms", middle(a.servers for a in of_one)),
    }


def _speed(crawl: CrawlOnServers, folder: Path, workers: int, pages: int, cores: float) -> Speed:
    """One crawl by so many workers, each with its share of a core."""
    with ExitStack() as stack:
        crew = []
        for number in range(workers):
            group = stack.enter_context(quota.share(f"{folder.name}-{number}", cores))
            crew.append(stack.enter_context(_worker(crawl, group, folder / f"out{number}")))
        first = _reached(crawl, crew, FIRST * pages)
        last = _reached(crawl, crew, LAST * pages)
    crawled = last.pages - first.pages
    return Speed(
        round(crawled / (last.at - first.at), 1),
        round(1000 * (last.workers - first.workers) / crawled, 3),
        round(1000 * (last.servers - first.servers) / crawled, 3),
    )


def _worker(crawl: CrawlOnServers, group: Path, output: Path) -> AbstractContextManager[subprocess.Popen[bytes]]:
    """A worker that enters its group before it becomes one; killed in the end: what it left is removed anyway."""
    enter = f'echo $$ > {group}/cgroup.procs && exec "$@"'
    return measure.begun(["sh", "-c", enter, "worker", *crawl.worker], output)


def _reached(crawl: CrawlOnServers, crew: Sequence[subprocess.Popen[bytes]], pages: float) -> Moment:
    """The moment when so many pages are stored. Raises RunFailed when a worker ends before."""
    deadline = time.monotonic() + LONGEST
    while time.monotonic() < deadline:
        stored, at = crawl.stored(), time.monotonic()
        if any(worker.poll() is not None for worker in crew):
            raise RunFailed(f"a worker ended at {stored} pages: see {WORK / 'cluster'}")
        if stored >= pages:
            used = sum(processor_seconds(worker.pid) for worker in crew)
            return Moment(at, stored, used, crawl.servers_cpu())
        time.sleep(_LOOK)
    raise RunFailed(f"{pages:g} pages were not stored within {LONGEST:g} s")


@contextmanager
def _web(shape: corpus.Shape) -> Iterator[tuple[StaticWeb, Path]]:
    """The web of a shape, served; and its seeds."""
    folder = WORK / (f"web-{shape.pages}" if shape.hosts == cpu.HOSTS else f"web-{shape.hosts}-{shape.pages}")
    corpus.write(folder, shape)
    shutil.rmtree(WORK / "cluster", ignore_errors=True)
    with serving(folder, _folder("served")) as web:
        yield web, folder / "seeds.txt"


def _folder(name: str) -> Path:
    folder = WORK / "cluster" / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="What the cluster engine costs, and how it scales.")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pages", type=int, default=cpu.PAGES)
    parser.add_argument("--only", default=",".join(PARTS), help="parts, separated by commas")
    parser.add_argument("--cores", type=float, default=0.3, help="of each worker in scale")
    parser.add_argument("--peer", type=Path, help="another checkout, whose worker runs in each round of cost")
    options = parser.parse_args()
    parts = options.only.split(",")
    measure.report(measured(options.rounds, options.pages, parts, options.cores, options.peer))


if __name__ == "__main__":
    main()
