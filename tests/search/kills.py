"""SIGKILL of workers of an index and of OpenSearch nodes while a crawl on servers is indexed; at the end the index has
what the store has, by key and version: `python -m tests.search.kills [--kills 50] [--nodes 1|3] [--what worker|node]`.

The last line is JSON: kills, pages, and what is missing, doubled or of another version.
"""

import argparse
import json
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

import msgspec

from gregor.schemas.messages import Page
from tests.cluster.servers import Servers, Service
from tests.search.on_servers import Crawl, follow
from tests.search.stored import page

_PAGES: Final = 30
_PATIENCE: Final = 180.0


class Outcome(msgspec.Struct):
    """What came of it; three numbers of documents."""

    kills: int
    pages: int
    missing: int
    foreign: int
    stale: int

    @property
    def is_right(self) -> bool:
        """Whether index and store are the same."""
        return not (self.missing or self.foreign or self.stale)


def run(crawl: Crawl, service: Service, kills: int, what: str, chance: random.Random) -> Outcome:
    """Store pages and versions of pages, with a kill after each lot; two workers follow."""
    wanted: dict[str, int] = {}
    workers = [follow(crawl), follow(crawl)]
    try:
        for round_number in range(kills):
            crawl.settle(*_lot(wanted, round_number))
            time.sleep(chance.uniform(0.0, 1.0))  # any moment of the work on it
            if what == "worker":
                workers[0].kill()
                workers[0].wait()
                workers = [workers[1], follow(crawl)]
            else:
                node = chance.choice(service.nodes)
                node.kill()
                node.start()
                service.ready()
        deadline = time.monotonic() + _PATIENCE
        while (outcome := _compared(crawl, wanted, kills)) and not outcome.is_right and time.monotonic() < deadline:
            time.sleep(0.5)
        if not outcome.is_right:
            print(crawl.file.with_name("index.log").read_text()[-4000:], file=sys.stderr)
        return outcome
    finally:
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


def _compared(crawl: Crawl, wanted: dict[str, int], kills: int) -> Outcome:
    documents = crawl.documents()
    return Outcome(
        kills,
        len(wanted),
        len(wanted.keys() - documents.keys()),
        len(documents.keys() - wanted.keys()),
        sum(documents[key] != visit for key, visit in wanted.items() if key in documents),
    )


def main() -> int:
    parser = argparse.ArgumentParser(description="Kills while a crawl on servers is indexed.")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--nodes", type=int, choices=[1, 3], default=1)
    parser.add_argument("--what", choices=["worker", "node"], default="worker")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with Servers() as servers, tempfile.TemporaryDirectory() as folder:
        service = servers.get("opensearch" if options.nodes == 1 else "opensearch3")
        others = {name: servers.get(name) for name in ("kafka", "zookeeper", "redis", "cassandra")}
        crawl = Crawl({**others, "opensearch": service}, Path(folder))
        if crawl.run("init"):
            return 1
        outcome = run(crawl, service, options.kills, options.what, random.Random(options.seed))
    print(json.dumps(msgspec.to_builtins(outcome)))
    return 0 if outcome.is_right else 1


if __name__ == "__main__":
    raise SystemExit(main())
