"""Memory of a worker that resumes a crawl with millions of URLs waiting, and how soon it asks for the first.

`python -m benchmarks.memory [--urls 2000000] [--hosts 50000] [--seconds 60]`. Half of the URLs belong to one host, the
rest to all others. Memory is VmHWM, the peak resident size, from the start through the given time of crawling.
"""

import argparse
import asyncio
import shutil
import sys
import time

from benchmarks import anyhost, frontier, measure
from benchmarks.measure import GREGOR, WORK, Figure, Figures, run

URLS, HOSTS, SECONDS = 2_000_000, 50_000, 60.0


def measured(urls: int = URLS, hosts: int = HOSTS, seconds: float = SECONDS) -> Figures:
    """Peak memory, and seconds to the first request."""
    work = WORK / "memory"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    began = time.monotonic()
    asyncio.run(frontier.write(work / "data", urls, hosts))
    print(f"{urls} URLs written in {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    with anyhost.serving(work) as table:
        line = [GREGOR, "crawl", "--data", work / "data", "--host-table", table, "--scope", "any", "--json"]
        began = time.monotonic()
        cost = run([*line, "--max-time", str(seconds), "--set", "stop_grace=1"], work / "out")
    requests = anyhost.requests(work)
    return {
        "memory.peak": Figure(round(cost.peak, 1), "MB"),
        "memory.first_request": Figure(round(requests[0].at - began, 2), "s"),
        "memory.requests": Figure(len(requests), "requests"),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Memory with many URLs waiting.")
    parser.add_argument("--urls", type=int, default=URLS)
    parser.add_argument("--hosts", type=int, default=HOSTS)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    options = parser.parse_args()
    measure.report(measured(options.urls, options.hosts, options.seconds))


if __name__ == "__main__":
    main()
