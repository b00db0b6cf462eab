"""Whether politeness costs more than it must: many hosts with a long delay each, and how much of it is used.

`python -m benchmarks.politeness [--hosts 5000] [--delay 20] [--rounds 3]`. Each host may be asked once a delay: in a
round of one delay, as many requests as there are hosts. Rounds begin when all hosts have been asked for a page: before
that come their robots.txt, all at once, and one delay later all first pages as fast as one process can. The server's
own log says when requests came; `early` counts those that came before their host's delay had passed. All hosts are at
one address, whose own delay is off.
"""

import argparse
import shutil
from collections.abc import Sequence

from benchmarks import anyhost, measure
from benchmarks.anyhost import Request
from benchmarks.measure import GREGOR, WORK, Figure, Figures, middle, run

HOSTS, DELAY, ROUNDS = 5000, 20.0, 3
TOLERANCE = 0.1
"""Seconds by which a request may seem early: the server notes when it gets to read it, not when it was sent."""


def measured(hosts: int = HOSTS, delay: float = DELAY, rounds: int = ROUNDS) -> Figures:
    """The share of the allowed requests that were made, and the requests that came too early."""
    work = WORK / "politeness"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    seeds = work / "seeds.txt"
    seeds.write_text("".join(f"http://host{number}.bench.test/\n" for number in range(hosts)))
    with anyhost.serving(work) as table:
        line = [GREGOR, "crawl", "--seeds", seeds, "--data", work / "data", "--host-table", table, "--json"]
        limits = ["--delay", str(delay), "--concurrency", "256", "--max-time", str((rounds + 3) * delay)]
        cost = run([*line, *limits, "--set", "stop_grace=1", "--set", "per_address_delay=0"], work / "out")
    requests = anyhost.requests(work)
    shares = _shares(requests, hosts, delay, rounds)
    return {
        "politeness.used": Figure(middle(shares), "of what the delays allow"),
        "politeness.used.least": Figure(round(min(shares), 3), "of what the delays allow"),
        "politeness.rate": Figure(round(middle(shares) * hosts / delay, 1), "requests/s", hosts / delay),
        "politeness.early": Figure(_early(requests, delay), "requests"),
        "politeness.cpu": Figure(round(1000 * cost.cpu / len(requests), 3), "ms a request"),
    }


def _shares(requests: Sequence[Request], hosts: int, delay: float, rounds: int) -> list[float]:
    """For each round, requests made to requests allowed."""
    first: dict[str, float] = {}
    for request in requests:
        if request.target != "/robots.txt":
            first.setdefault(request.host, request.at)
    if len(first) < hosts:
        raise measure.RunFailed(f"only {len(first)} of {hosts} hosts were asked for a page")
    begin = max(first.values())
    ends = [begin + delay * (number + 1) for number in range(rounds)]
    if requests[-1].at < ends[-1] - 1.0:
        raise measure.RunFailed(f"the crawl ended {ends[-1] - requests[-1].at:.1f} s before the last round did")
    return [sum(end - delay < request.at <= end for request in requests) / hosts for end in ends]


def _early(requests: Sequence[Request], delay: float) -> int:
    last: dict[str, float] = {}
    early = 0
    for request in requests:
        early += request.at - last.get(request.host, -delay) < delay - TOLERANCE
        last[request.host] = request.at
    return early


def main() -> None:
    parser = argparse.ArgumentParser(description="What the delays allow, and what is made of it.")
    parser.add_argument("--hosts", type=int, default=HOSTS)
    parser.add_argument("--delay", type=float, default=DELAY)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    measure.report(measured(options.hosts, options.delay, options.rounds))


if __name__ == "__main__":
    main()
