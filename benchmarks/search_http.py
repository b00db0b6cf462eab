"""The search page over HTTP: what answers with ten snippets take, at a steady rate, of a server on one core.

`python -m benchmarks.search_http [--rate 50] [--seconds 60] [--web ../shared/realweb] [--items …/known_open.jsonl]`.
The recorded web is stored in a data folder, indexed, and served by `gregor search --serve`, whose process is held to
one core; who asks is on another, where there is one. Asked are the queries of the known items in any order, as
a browser does: the page `/?q=`, its snippets, facets and suggestions. A request is due at its time whether those
before it were answered or not, and its time runs from when it was due.
"""

import argparse
import asyncio
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection
from itertools import islice
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from benchmarks import measure
from benchmarks.measure import Figure, Figures
from benchmarks.search import ITEMS, WEB
from tests.search import quality
from tests.search.recorded_web import page_files, pages
from tests.search.stored import crawl, store

RATE = 50
"""Requests a second."""
CONNECTIONS = 16
SHARES = {"p50": 0.5, "p99": 0.99}
_TOGETHER = 500


def measured(
    rate: float = RATE, seconds: float = 60.0, web: Path = WEB, items: Path = ITEMS, most: int | None = None
) -> Figures:
    """Milliseconds until a page of results is there; nothing where there is no such web. ``most``: of its pages."""
    if not web.is_dir() or not items.is_file():
        print(f"search over HTTP is not measured: {web} or {items} is missing", file=sys.stderr)
        return {}
    queries = [item.query for item in quality.read_items(items)]
    random.Random(1).shuffle(queries)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "data"
        asyncio.run(_fill(folder, web, most))
        subprocess.run([sys.executable, "-m", "gregor", "index", "--once", "--data", folder], check=True)
        with served(folder) as url:
            asked(url, queries[:CONNECTIONS], rate)
            repeated = (queries * (int(rate * seconds) // len(queries) + 1))[: int(rate * seconds)]
            spent = sorted(asked(url, repeated, rate))
    return {f"search.http_{name}": Figure(measure.middle([at(spent, share)]), "ms") for name, share in SHARES.items()}


def at(ordered: Sequence[float], share: float) -> float:
    """The value that so large a share of them does not exceed."""
    return ordered[int(share * (len(ordered) - 1))]


async def _fill(folder: Path, web: Path, most: int | None) -> None:
    recorded = islice(pages(page_files(web)), most)
    async with crawl(folder) as engine:
        while together := list(islice(recorded, _TOGETHER)):
            await store(engine, *together)


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The search page of a data folder, by a process that has one core; this process leaves that one alone."""
    cores = sorted(os.sched_getaffinity(0))
    line = [sys.executable, "-m", "gregor", "search", "--serve", "127.0.0.1:0", "--data", str(folder)]
    os.sched_setaffinity(0, cores[:1])  # the process inherits it
    try:
        process = subprocess.Popen([*line, "--set", "api_rate=1000"], stderr=subprocess.PIPE, text=True)
    finally:
        os.sched_setaffinity(0, cores[1:] or cores)
    assert process.stderr is not None
    try:
        place = re.search(r"http://\S+", process.stderr.readline())
        if place is None:
            raise measure.RunFailed("the search page was not served")
        threading.Thread(target=process.stderr.read, daemon=True).start()
        yield place[0]
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()
        os.sched_setaffinity(0, cores)


def asked(url: str, queries: Sequence[str], rate: float) -> list[float]:
    """Milliseconds from when each was due until its page was there."""
    kept = threading.local()
    host = urlsplit(url).netloc

    def ask(query: str, due: float) -> float:
        connection: HTTPConnection | None = getattr(kept, "connection", None)
        if connection is None:
            connection = kept.connection = HTTPConnection(host, timeout=30)
        time.sleep(max(0.0, due - time.monotonic()))
        connection.request("GET", f"/?{urlencode({'q': query})}")
        answer = connection.getresponse()
        text = answer.read()
        if answer.status != 200:
            raise measure.RunFailed(f"{answer.status} for {query!r}: {text[:200]!r}")
        return 1000 * (time.monotonic() - due)

    with ThreadPoolExecutor(CONNECTIONS) as threads:
        begun = time.monotonic() + 0.5
        answers = [threads.submit(ask, query, begun + n / rate) for n, query in enumerate(queries)]
        return [answer.result() for answer in answers]


def main() -> None:
    parser = argparse.ArgumentParser(description="The search page over HTTP.")
    parser.add_argument("--rate", type=float, default=RATE, help="requests a second")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--web", type=Path, default=WEB)
    parser.add_argument("--items", type=Path, default=ITEMS)
    parser.add_argument("--pages", type=int, help="of the web; default: all")
    options = parser.parse_args()
    measure.report(measured(options.rate, options.seconds, options.web, options.items, options.pages))


if __name__ == "__main__":
    main()
