"""Ranks by Spark: links that a core follows a second in an iteration.

`python -m benchmarks.spark_ranks [--pages 200000] [--links 3000000] [--cores 2]`, with Spark on this machine, over
Parquet as the exporter writes it. An iteration sends all ranks out, follows all links, and gathers what came; reading
the tables and numbering what they name is done once before, and not counted. Seconds are those of the processor, of all
processes that Spark has here, its Java and its Pythons; those of the clock are told, too.
"""

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import measure
from benchmarks.measure import Figure, Figures
from gregor.search.adapters import spark_ranks
from gregor.search.ranking import LinkRules
from gregor.search.ranks import PageRank, converge
from gregor.worker.compose.ranks import KeyOf
from gregor.worker.web.urls import Urls

_HOSTS: Final = 1000


def write(folder: Path, pages: int, links: int) -> None:
    """Tables of pages that link to each other unevenly."""
    chance = np.random.default_rng(1)
    keys = np.array([f"http://h{number % _HOSTS}.example.org/{number}" for number in range(pages)])
    hosts = np.array([f"h{number % _HOSTS}.example.org" for number in range(pages)])
    table: dict[str, Any] = {"key": keys, "host": hosts, "state": ["fetched"] * pages}
    none = pa.array([list[str]()] * pages, pa.list_(pa.string()))
    table |= {"duplicate_of": [""] * pages, "directives": none, "requisite": [False] * pages}
    pq.write_table(pa.table(table), folder / "pages.parquet")
    sources = np.sort(chance.integers(0, pages, links))
    targets = np.minimum((pages * chance.random(links) ** 3).astype(np.int64), pages - 1)
    rows = {"source_key": keys[sources], "target": keys[targets], "kind": ["a"] * links, "nofollow": [False] * links}
    pq.write_table(pa.table(rows | {"text": [""] * links, "position": np.arange(links)}), folder / "links.parquet")


def spent_by_all() -> float:
    """Seconds of processor that this process and all below it have had."""
    parents, seconds = dict[int, int](), dict[int, float]()
    for place in Path("/proc").glob("[0-9]*"):
        try:
            fields = (place / "stat").read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):  # it ended meanwhile; its parent has what it took
            continue
        parents[int(place.name)] = int(fields[1])
        seconds[int(place.name)] = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    below = {os.getpid()}
    while more := {process for process, parent in parents.items() if parent in below} - below:
        below |= more
    return sum(seconds[process] for process in below)


def measured(pages: int = 200_000, links: int = 3_000_000, cores: int = 2) -> Figures:
    """Links a second of a core; nothing where Spark is missing."""
    spent: list[tuple[float, float, int]] = []

    def timed(*words: Any) -> PageRank:
        begun, before = time.perf_counter(), spent_by_all()
        done = converge(*words)
        spent.append((spent_by_all() - before, time.perf_counter() - begun, done.rounds))
        return done

    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), pages, links)
        with patch.object(spark_ranks, "converge", timed), spark_ranks.session(f"local[{cores}]") as session:
            done = spark_ranks.ranked(session, Path(folder), KeyOf(Urls()), LinkRules(), {})
    ((seconds, passed, rounds),) = spent
    print(f"{done.links} links, {rounds} rounds, {seconds:.1f} s of processor in {passed:.1f} s", file=sys.stderr)
    return {"search.spark_iteration": Figure(done.links * rounds / seconds, "links a second of a core")}


def main() -> None:
    parser = argparse.ArgumentParser(description="Ranks by Spark.")
    parser.add_argument("--pages", type=int, default=200_000)
    parser.add_argument("--links", type=int, default=3_000_000)
    parser.add_argument("--cores", type=int, default=2)
    options = parser.parse_args()
    measure.report(measured(options.pages, options.links, options.cores))


if __name__ == "__main__":
    main()
