"""How soon a page is found after it was stored, on servers: Kafka, Cassandra, OpenSearch, two workers of the index.

`python -m benchmarks.found_on_servers [--pages 400] [--rate 20]`. Pages are stored so many a second, as their owners do
it, and the index is asked all the time for those that came last. Seconds from when the store has acknowledged a page.
On one machine: `benchmarks.search_live`.
"""

import argparse
import asyncio
import tempfile
import time
from pathlib import Path
from typing import Final

import msgspec

from benchmarks import measure
from benchmarks.measure import Figure, Figures
from gregor.search.borders import Index, Unusable
from gregor.search.query import parse
from gregor.worker.borders.errors import Unavailable
from gregor.worker.compose.opensearch import searched
from tests.cluster.servers import Servers
from tests.search.on_servers import Crawl, follow
from tests.search.stored import page

_WARM: Final = 20
"""Pages that are stored before the others, and found before these are."""
_NEWEST: Final = 200
_PATIENCE: Final = 120.0


def measured(count: int = 400, rate: float = 20.0) -> Figures:
    """The median and the 95th percentile."""
    with Servers() as servers, tempfile.TemporaryDirectory() as folder:
        names = ("kafka", "zookeeper", "redis", "cassandra", "opensearch")
        crawl = Crawl({name: servers.get(name) for name in names}, Path(folder))
        assert crawl.run("init") == 0
        workers = [follow(crawl), follow(crawl)]
        try:
            waits = asyncio.run(_waits(crawl, count, rate))
        finally:
            for worker in workers:
                worker.kill()
                worker.wait()
    shares = {"p50": 0.5, "p95": 0.95}
    return {
        f"search.stored_to_found_on_servers_{name}": Figure(waits[int(share * len(waits))], "s")
        for name, share in shares.items()
    }


async def _waits(crawl: Crawl, count: int, rate: float) -> list[float]:
    stored: dict[str, float] = {}
    seen: dict[str, float] = {}

    async def store(first: int, last: int) -> None:
        for number in range(first, last):
            made = page(f"http://h{number % 97}.example.org/{number}", f"marker text{number}", fetched_at=1e9 + number)
            await crawl.store(engine, made)
            stored[made.key] = time.monotonic()
            await asyncio.sleep(1 / rate)

    async def look(until: int) -> None:
        deadline = time.monotonic() + _PATIENCE
        while len(seen) < until:
            assert time.monotonic() < deadline, f"{until - len(seen)} pages are not found"
            for key in await asyncio.to_thread(_newest, crawl):
                seen.setdefault(key, time.monotonic())
            await asyncio.sleep(0.02)

    async with crawl.opened() as engine:
        await asyncio.gather(store(0, _WARM), look(_WARM))
        await asyncio.gather(store(_WARM, _WARM + count), look(_WARM + count))
    return sorted(seen[key] - at for key, at in list(stored.items())[_WARM:])


def _newest(crawl: Crawl) -> list[str]:
    """The keys of the pages that were fetched last, as far as they are found."""
    try:
        index: Index = searched(crawl.config)
        newest = msgspec.structs.replace(parse("marker"), newest=True)
        return [hit.key for hit in index.search(newest, _NEWEST).hits]
    except (Unavailable, Unusable):
        return []


def main() -> None:
    parser = argparse.ArgumentParser(description="How soon a page is found, on servers.")
    parser.add_argument("--pages", type=int, default=400)
    parser.add_argument("--rate", type=float, default=20.0)
    options = parser.parse_args()
    measure.report(measured(options.pages, options.rate))


if __name__ == "__main__":
    main()
