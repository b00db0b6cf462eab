"""SIGKILL of who indexes a crawl, or of OpenSearch nodes, while pages are stored. At the end the index has what the
store has, by key and version:

    python -m tests.search.kills [--engine tantivy|opensearch] [--what worker|node|leader] [--nodes 1|3] [--kills 50]

With tantivy the engine is in the worker's process: both are killed at once. The last line is JSON: kills, pages, and
how many documents are missing, should not be there, are of another version, or are doubled.
"""

import argparse
import asyncio
import json
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import msgspec

from gregor.schemas.messages import Page
from gregor.search.borders import Unusable
from gregor.worker.borders.errors import Unavailable
from gregor.worker.compose.comparing import comparing
from gregor.worker.compose.search import opened
from gregor.worker.config.settings import Config
from gregor.worker.config.sources import load
from tests.cluster.servers import Servers, Service
from tests.cluster.servers.opensearch import leader
from tests.search import stored
from tests.search.on_servers import Crawl, follow
from tests.search.stored import page

_PAGES: Final = 30
_PATIENCE: Final = 180.0


class Outcome(msgspec.Struct):
    """What came of it; four numbers of documents."""

    kills: int
    pages: int
    missing: int
    foreign: int
    stale: int
    doubled: int

    @property
    def is_right(self) -> bool:
        """Whether index and store are the same."""
        return not (self.missing or self.foreign or self.stale or self.doubled)


def run(crawl: Crawl, service: Service, kills: int, what: str, chance: random.Random) -> Outcome:
    """Store pages and versions of pages in a crawl on servers, with a kill after each lot; two workers follow."""
    wanted: dict[str, int] = {}
    workers = [follow(crawl), follow(crawl)]
    try:
        for round_number in range(kills):
            before = crawl.writes()
            crawl.settle(*_lot(wanted, round_number))
            _until(lambda before=before: crawl.writes() != before)  # type: ignore[misc]  # they are at work
            time.sleep(chance.uniform(0.0, 0.5))  # any moment of it
            if what == "worker":
                workers[0].kill()
                workers[0].wait()
                workers = [workers[1], follow(crawl)]
            else:
                node = leader(service) if what == "leader" else chance.choice(service.nodes)
                node.kill()
                node.start()
                service.ready()
            _tell(round_number)
        outcome = _settled(crawl.config, wanted, kills)
        if not outcome.is_right:
            _show(crawl, workers)
        return outcome
    except AssertionError:
        _show(crawl, workers)
        raise
    finally:
        end(*workers)


def _show(crawl: Crawl, workers: Sequence[subprocess.Popen[bytes]]) -> None:
    """What the workers said last, and which of them ended by themselves."""
    print(crawl.file.with_name("index.log").read_text()[-4000:], file=sys.stderr)
    print(f"workers ended with {[worker.poll() for worker in workers]}", file=sys.stderr)


def run_in_folder(data: Path, kills: int, chance: random.Random) -> Outcome:
    """The same on one machine, where pages are stored all the time."""
    wanted: dict[str, int] = {}
    is_over = threading.Event()
    feeding = threading.Thread(target=lambda: asyncio.run(_feed(data, wanted, is_over)), daemon=True)
    feeding.start()
    line = [sys.executable, "-m", "gregor", "index", "--data", str(data)]
    index = data / "index"
    try:
        for round_number in range(kills):
            worker = subprocess.Popen(line, stderr=subprocess.DEVNULL)
            before = _written(index)
            _until(lambda before=before: _written(index) != before)  # type: ignore[misc]  # it is at work
            time.sleep(chance.uniform(0.0, 0.7))
            end(worker)
            _tell(round_number)
    finally:
        is_over.set()
        feeding.join()
    subprocess.run([*line, "--once"], check=True)
    return _settled(load(None, {"GREGOR_DATA": str(data)}, ()).config, wanted, kills)


async def _feed(data: Path, wanted: dict[str, int], is_over: threading.Event) -> None:
    async with stored.crawl(data) as engine:
        number = 0
        while not is_over.is_set():
            await stored.store(engine, *_lot(wanted, number))
            number += 1
            await asyncio.sleep(0.1)


def _written(index: Path) -> int:
    """When a file of the index was written last, in nanoseconds; 0: there is none."""
    times = [0]
    for file in index.glob("*/*"):
        try:
            times.append(file.stat().st_mtime_ns)
        except FileNotFoundError:
            continue
    return max(times)


def _until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _PATIENCE
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def end(*workers: subprocess.Popen[bytes]) -> None:
    """Kill them."""
    for worker in workers:
        worker.kill()
        worker.wait()


def _lot(wanted: dict[str, int], round_number: int) -> list[Page]:
    """New pages, and new versions of some that are there."""
    keys = [f"http://h{round_number}-{number}.org/" for number in range(_PAGES)] + list(wanted)[:: max(1, round_number)]
    pages = []
    for key in keys:
        wanted[key] = wanted.get(key, 0) + 1
        pages.append(page(key, f"{wanted[key]} {key}", wanted[key]))
    return pages


def _tell(round_number: int) -> None:
    if (round_number + 1) % 10 == 0:
        print(f"{round_number + 1} kills", file=sys.stderr, flush=True)


def _settled(config: Config, wanted: dict[str, int], kills: int) -> Outcome:
    """What it is in the end: what is told is taken in a while later."""
    deadline = time.monotonic() + _PATIENCE
    while not (outcome := _compared(config, wanted, kills)).is_right and time.monotonic() < deadline:
        time.sleep(0.5)
    return outcome


def _compared(config: Config, wanted: dict[str, int], kills: int) -> Outcome:
    """By what is known here to have been stored, and by the command's own look at both."""
    try:
        index = opened(config)
        hits = Counter((hit.key, hit.visit) for hit in index.documents())
        index.close()
    except (Unavailable, Unusable):  # not there yet, or not again
        hits = Counter()
    versions = dict(hits)
    missing = sum((key, visit) not in hits for key, visit in wanted.items())
    foreign = sum(key not in wanted for key, _ in versions)
    stale = sum(wanted.get(key, visit) != visit for key, visit in versions)
    doubled = sum(hits.values()) - len(hits)
    if not (missing or foreign or stale or doubled):
        kinds = asyncio.run(_differences(config))
        return Outcome(kills, len(wanted), *(kinds[kind] for kind in ("missing", "foreign", "stale", "doubled")))
    return Outcome(kills, len(wanted), missing, foreign, stale, doubled)


async def _differences(config: Config) -> Counter[str]:
    async with comparing(config, lambda what, count: None, lambda damage: None) as opened_both:
        return Counter(difference.kind for difference in await opened_both.comparison.differences())


def main() -> int:
    parser = argparse.ArgumentParser(description="Kills while a crawl is indexed.")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--engine", choices=["tantivy", "opensearch"], default="opensearch")
    parser.add_argument("--nodes", type=int, choices=[1, 3], default=1)
    parser.add_argument("--what", choices=["worker", "node", "leader"], default="worker")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        if options.engine == "tantivy":
            outcome = run_in_folder(Path(folder) / "data", options.kills, chance)
        else:
            outcome = _on_servers(Path(folder), options, chance)
    print(json.dumps({**msgspec.to_builtins(outcome), "seconds": round(time.monotonic() - begun)}))
    return 0 if outcome.is_right else 1


def _on_servers(folder: Path, options: argparse.Namespace, chance: random.Random) -> Outcome:
    with Servers() as servers:
        service = servers.get("opensearch" if options.nodes == 1 else "opensearch3")
        others = {name: servers.get(name) for name in ("kafka", "zookeeper", "redis", "cassandra")}
        crawl = Crawl({**others, "opensearch": service}, folder)
        if crawl.run("init"):
            raise SystemExit(1)
        return run(crawl, service, options.kills, options.what, chance)


if __name__ == "__main__":
    raise SystemExit(main())
