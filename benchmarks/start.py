"""What the start costs: `gregor --help`, `gregor crawl` to its first request, the first page of very many fresh hosts.

`python -m benchmarks.start [--rounds 5] [--hosts 50000]`. Processor time of whole processes, in seconds; that of the
crawl is read when its first request comes in. Of the hosts: seconds until the first page was asked for, from the start
of the process, which checks and publishes as many seeds before, and from the first request, which is for a robots.txt:
its host may be asked for a page when its delay of a second is over.
"""

import argparse
import shutil
import socket
import time
from pathlib import Path

from benchmarks import anyhost, measure
from benchmarks.measure import GREGOR, WORK, Figure, Figures, middle, run

ROUNDS, HOSTS = 5, 50_000
WAIT = 30.0
"""Seconds for a first request."""


def measured(rounds: int = ROUNDS, hosts: int = HOSTS) -> Figures:
    """Medians of the rounds; the hosts once."""
    work = WORK / "start"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    run([GREGOR, "--help"], work / "help")  # modules are compiled
    helps = [run([GREGOR, "--help"], work / "help").cpu for _ in range(rounds)]
    to_request(work / "first")
    requests = [to_request(work / f"data-{number}") for number in range(rounds)]
    from_start, from_request = to_page(work, hosts)
    return {
        "start.help": Figure(middle(helps), "s of processor"),
        "start.request": Figure(middle(requests), "s of processor"),
        "start.page": Figure(round(from_start, 2), "s"),
        "start.page.from_request": Figure(round(from_request, 2), "s"),
    }


def to_request(data: Path) -> float:
    """Processor seconds of a crawl when its first request came in; it is killed then."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(WAIT)
        port = server.getsockname()[1]
        line = [GREGOR, "crawl", f"http://127.0.0.1:{port}/", "--data", data, "--json"]
        allowed = ["--allow-network", "127.0.0.0/8", "--allow-port", port]
        with measure.begun([*line, *allowed], data.with_suffix(".out")) as process:
            connection, _ = server.accept()
            with connection:
                connection.recv(1)
                return measure.processor_seconds(process.pid)


def to_page(work: Path, hosts: int) -> tuple[float, float]:
    """Seconds to the first page of so many hosts: from the start, and from the first request."""
    seeds = work / "seeds.txt"
    seeds.write_text("".join(f"http://host{number}.bench.test/\n" for number in range(hosts)))
    with anyhost.serving(work) as table:
        line = [GREGOR, "crawl", "--seeds", seeds, "--data", work / "data", "--host-table", table, "--json"]
        started = time.monotonic()
        run([*line, "--max-pages", "20", "--set", "per_address_delay=0", "--set", "stop_grace=0"], work / "out")
    requests = anyhost.requests(work)
    page = next(request.at for request in requests if request.target != "/robots.txt")
    return page - started, page - requests[0].at


def main() -> None:
    parser = argparse.ArgumentParser(description="What the start costs.")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--hosts", type=int, default=HOSTS)
    options = parser.parse_args()
    measure.report(measured(options.rounds, options.hosts))


if __name__ == "__main__":
    main()
