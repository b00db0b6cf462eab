"""Ranks by Spark: links that a core follows a second in an iteration.

`python -m benchmarks.spark_ranks [--pages 200000] [--links 3000000] [--cores 2]`, with Spark on this machine, over
Parquet as the exporter writes it. An iteration sends all ranks out, follows all links, and gathers what came; reading
the tables and numbering what they name is done once before, and not counted. Seconds are those of the clock.
"""

import argparse
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
    table |= {"duplicate_of": [""] * pages, "directives": [list[str]()] * pages, "requisite": [False] * pages}
    pq.write_table(
        pa.table(table | {"directives": pa.array(table["directives"], pa.list_(pa.string()))}), folder / "pages.parquet"
    )
    sources = np.sort(chance.integers(0, pages, links))
    targets = np.minimum((pages * chance.random(links) ** 3).astype(np.int64), pages - 1)
    rows = {"source_key": keys[sources], "target": keys[targets], "kind": ["a"] * links, "nofollow": [False] * links}
    pq.write_table(pa.table(rows | {"text": [""] * links, "position": np.arange(links)}), folder / "links.parquet")


def measured(pages: int = 200_000, links: int = 3_000_000, cores: int = 2) -> Figures:
    """Links a second of a core; nothing where Spark is missing."""
    spent: list[tuple[float, int]] = []

    def timed(*words: Any) -> PageRank:
        begun = time.perf_counter()
        done = converge(*words)
        spent.append((time.perf_counter() - begun, done.rounds))
        return done

    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), pages, links)
        with patch.object(spark_ranks, "converge", timed), spark_ranks.session(f"local[{cores}]") as session:
            done = spark_ranks.ranked(session, Path(folder), KeyOf(Urls()), LinkRules(), {})
    ((seconds, rounds),) = spent
    print(f"{done.links} links, {rounds} rounds, {seconds:.1f} s", file=sys.stderr)
    return {"search.spark_iteration": Figure(done.links * rounds / seconds / cores, "links a second of a core")}


def main() -> None:
    parser = argparse.ArgumentParser(description="Ranks by Spark.")
    parser.add_argument("--pages", type=int, default=200_000)
    parser.add_argument("--links", type=int, default=3_000_000)
    parser.add_argument("--cores", type=int, default=2)
    options = parser.parse_args()
    measure.report(measured(options.pages, options.links, options.cores))


if __name__ == "__main__":
    main()
