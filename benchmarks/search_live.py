"""Search while a crawl goes on: PageRank, how soon a page is found, and what a kill costs.

`python -m benchmarks.search_live [--kills 50] [--pages 3000]`. PageRank is of 500,000 nodes and 4 million links, with
their joining, until a round changes less than 1e-8. Pages are stored twenty a second while `gregor index` follows, and
looked for until they are found. The index worker is killed at random moments while pages are stored; at the end the
index has each page once.
"""

import argparse
import asyncio
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks import measure
from benchmarks.measure import Figure, Figures
from gregor.search.query import parse
from gregor.search.ranks import Edges, pagerank
from gregor.worker.compose.index_folder import searchable
from tests.search.stored import crawl, page, store

WORDS = [f"word{number}" for number in range(5000)]


def ranks(nodes: int = 500_000, links: int = 4_000_000) -> Figures:
    """Edges that one core ranks a second."""
    chance = np.random.default_rng(1)
    targets = np.minimum((nodes * chance.random(links) ** 3).astype(np.int64), nodes - 1)
    sources = chance.integers(0, nodes * 4 // 5, links)
    begun = time.process_time()
    pagerank(Edges(nodes, sources, targets, np.ones(links)).joined())
    return {"search.pagerank": Figure(links / (time.process_time() - begun), "edges a second of a core")}


def text(number: int) -> str:
    """That of a page: 300 words by a power law."""
    chance = random.Random(number)
    return " ".join(WORDS[int(len(WORDS) * chance.random() ** 3)] for _ in range(300))


async def fill(folder: Path, first: int, count: int, pause: float = 0.0) -> dict[int, float]:
    """Store pages; when each was."""
    stored: dict[int, float] = {}
    async with crawl(folder) as engine:
        for number in range(first, first + count):
            said = f"unique{number} {text(number)}"  # the first letters are its content's fingerprint
            await store(engine, page(f"http://h{number % 97}.example.org/{number}", said, title=f"Page {number}"))
            stored[number] = time.monotonic()
            await asyncio.sleep(pause)
    return stored


def index(folder: Path, *more: str) -> subprocess.Popen[bytes]:
    line = [sys.executable, "-m", "gregor", "index", "--data", str(folder), *more]
    return subprocess.Popen(line, stderr=subprocess.DEVNULL)


def found_after(folder: Path, count: int = 200) -> Figures:
    """How long after it was stored a page is found, while others are stored."""

    async def run() -> list[float]:
        await fill(folder, 10**6 - 1, 1)
        # Until the other process follows: its start is not measured.
        while not searchable(folder / "index").search(parse(f"unique{10**6 - 1}"), 1).hits:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        filling = asyncio.create_task(asyncio.to_thread(asyncio.run, fill(folder, 10**6, count, 0.05)))
        seen: dict[int, float] = {}
        while len(seen) < count:
            searched = searchable(folder / "index")
            for number in range(10**6, 10**6 + count):
                if number not in seen and searched.search(parse(f"unique{number}"), 1).hits:
                    seen[number] = time.monotonic()
            await asyncio.sleep(0.05)
        stored = await filling
        return sorted(seen[number] - stored[number] for number in stored)

    process = index(folder)
    try:
        waits = asyncio.run(run())
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()
    return {"search.stored_to_found_p95": Figure(waits[int(0.95 * len(waits))], "s")}


def kills(folder: Path, count: int) -> Figures:
    """Documents that are lost or doubled after so many kills."""
    chance = random.Random(1)
    for number in range(count):
        process = index(folder)
        asyncio.run(fill(folder, 2 * 10**6 + 20 * number, 20))
        time.sleep(3 * chance.random())
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert index(folder, "--once").wait() == 0
    searched = searchable(folder / "index")
    numbers = range(2 * 10**6, 2 * 10**6 + 20 * count)
    wrong = sum(searched.search(parse(f"unique{number}"), 2).total != 1 for number in numbers)
    return {"search.wrong_after_kills": Figure(float(wrong), f"documents lost or doubled after {count} SIGKILLs")}


def measured(pages: int = 3000, killed: int = 50) -> Figures:
    """All of it."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "data"
        asyncio.run(fill(folder, 0, pages))
        assert index(folder, "--once").wait() == 0
        return {**ranks(), **found_after(folder), **kills(folder, killed)}


def main() -> None:
    parser = argparse.ArgumentParser(description="Ranks, following a crawl, kills.")
    parser.add_argument("--pages", type=int, default=3000)
    parser.add_argument("--kills", type=int, default=50)
    options = parser.parse_args()
    measure.report(measured(options.pages, options.kills))


if __name__ == "__main__":
    main()
