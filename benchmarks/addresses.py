"""Whether many hosts at few addresses are asked as few servers, by several workers: `python -m benchmarks.addresses`.

`[--hosts 200] [--workers 3] [--delay 0.5] [--seconds 60]`. The hosts share three addresses; workers on the servers of
the cluster tests crawl them. The web server's own log tells: `near` counts requests to an address that came before its
delay was over since the one before, `used` is the least share, of the three, of what the delays allow, from ten seconds
after the first request to the last address on. `audit` is what `gregor audit` says of it.
"""

import argparse
import contextlib
import shutil
import subprocess
import time
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

import msgspec

from benchmarks import anyhost, measure
from benchmarks.anyhost import ADDRESSES, Request
from benchmarks.crawl_on_servers import CrawlOnServers
from benchmarks.measure import WORK, Figure, Figures, RunFailed
from tests.cluster.servers import Servers

TOLERANCE = 0.02
"""Seconds by which a request may seem early: the server notes when it gets to read it, not when it was sent."""
_WARM = 10.0


def measured(hosts: int = 200, workers: int = 3, delay: float = 0.5, seconds: float = 60.0) -> Figures:
    """The share of the allowed requests that were made, and the requests that came too near."""
    work = WORK / "addresses"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    address_of = {f"host{number}.bench.test": ADDRESSES[number % len(ADDRESSES)] for number in range(hosts)}
    seeds = work / "seeds.txt"
    seeds.write_text("".join(f"http://{host}/\n" for host in address_of))
    with anyhost.serving(work, address_of) as table, Servers() as servers:
        crawl = CrawlOnServers(servers, table, work)
        try:
            crawl.begin(seeds)
            more = ["--set", "delay=1", "--set", f"per_address_delay={delay}", "--set", "stop_grace=1"]
            line = [*map(str, crawl.worker), *more, "--max-time", str(seconds + _WARM + 20.0)]
            with contextlib.ExitStack() as stack:
                crew = [
                    stack.enter_context(
                        subprocess.Popen(line, stdout=stack.enter_context((work / f"out{number}").open("w")), stderr=2)
                    )
                    for number in range(workers)
                ]
                for worker in crew:
                    worker.wait(seconds + 120.0)
            audit = crawl.output_of("audit", "--json")
        finally:
            crawl.remove()
    return _figures(anyhost.requests(work), address_of, delay, seconds) | {
        "addresses.audit": Figure(msgspec.json.decode(audit)["violations"], "violations", 0)
    }


def _figures(requests: Sequence[Request], address_of: dict[str, str], delay: float, seconds: float) -> Figures:
    at: dict[str, list[float]] = defaultdict(list)
    for request in requests:
        at[address_of[request.host]].append(request.at)
    if len(at) < len(ADDRESSES):
        raise RunFailed(f"only {len(at)} of {len(ADDRESSES)} addresses were asked")
    begin = max(times[0] for times in at.values()) + _WARM
    if requests[-1].at < begin + seconds:
        raise RunFailed(f"the crawl ended {begin + seconds - requests[-1].at:.1f} s too early")
    shares = [sum(begin <= time < begin + seconds for time in times) / (seconds / delay) for times in at.values()]
    gaps = [after - before for times in at.values() for before, after in pairwise(times)]
    return {
        "addresses.used": Figure(round(min(shares), 3), "of what the delays allow", 0.9),
        "addresses.near": Figure(sum(gap < delay - TOLERANCE for gap in gaps), "requests", 0),
        "addresses.least": Figure(round(min(gaps), 4), "s", delay),
        "addresses.hosts": Figure(len({request.host for request in requests}), "hosts asked", len(address_of)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Many hosts at three addresses, as three servers.")
    parser.add_argument("--hosts", type=int, default=200)
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--delay", type=float, default=0.5)
    parser.add_argument("--seconds", type=float, default=60.0)
    options = parser.parse_args()
    begun = time.monotonic()
    measure.report(measured(options.hosts, options.workers, options.delay, options.seconds))
    print(f"{time.monotonic() - begun:.0f} s")


if __name__ == "__main__":
    main()
