"""What a crawl loses while its API is asked a thousand times a second.

`python -m benchmarks.api_load [--rate 1000] [--seconds 60]`. 100 hosts with a delay of a second allow 100 pages a
second. The server's own log says how many were asked for in as many seconds before the load began and under it.
"""

import argparse
import asyncio
import contextlib
import multiprocessing
import shutil
import socket
import subprocess
import time
from collections import Counter

import requests

from benchmarks import anyhost, measure
from benchmarks.measure import GREGOR, WORK, Figure, Figures

HOSTS, RATE, SECONDS = 100, 1000, 60.0
CONNECTIONS = 20
PATHS = ("/api/v1/status", "/api/v1/hosts?limit=20", "/metrics", "/api/v1/orders", "/api/v1/history")
_BEGIN = 120.0
"""Seconds within which the crawl must have come to its rate."""


async def load(address: tuple[str, int], rate: float, seconds: float) -> Counter[int]:
    """Ask so many times a second, over kept connections; how often each status was answered."""
    end = asyncio.get_running_loop().time() + seconds
    statuses: Counter[int] = Counter()
    await asyncio.gather(
        *(_ask_on(address, number, CONNECTIONS / rate, end, statuses) for number in range(CONNECTIONS)),
    )
    return statuses


async def _ask_on(address: tuple[str, int], number: int, pause: float, end: float, statuses: Counter[int]) -> None:
    """One connection: a request at each tick; a late answer delays none but its own connection's."""
    clock = asyncio.get_running_loop().time
    reader, writer = await asyncio.open_connection(*address)
    due = clock() + pause * number / CONNECTIONS
    while due < end:
        await asyncio.sleep(max(0.0, due - clock()))
        due += pause
        number += 1
        writer.write(f"GET {PATHS[number % len(PATHS)]} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        statuses[await _answer(reader)] += 1
    writer.close()


async def _answer(reader: asyncio.StreamReader) -> int:
    """The status; 0 for a 429 that does not say when to come again."""
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = next(int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.startswith(b"content-length:"))
    await reader.readexactly(length)
    status = int(head.split()[1])
    return 0 if status == 429 and b"\r\nretry-after:" not in head else status


def _load(address: tuple[str, int], rate: float, seconds: float, told: "multiprocessing.Queue[Counter[int]]") -> None:
    told.put(asyncio.run(load(address, rate, seconds)))


def measured(rate: float = RATE, seconds: float = SECONDS) -> Figures:
    """Pages a second before the load and under it."""
    work = WORK / "api_load"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    seeds = work / "seeds.txt"
    seeds.write_text("".join(f"http://host{number}.bench.test/\n" for number in range(HOSTS)))
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = free.getsockname()[:2]
    with anyhost.serving(work) as table, (work / "out").open("wb") as out:
        line = [GREGOR, "crawl", "--seeds", seeds, "--data", work / "data", "--host-table", table, "--delay", "1"]
        line += ["--console", f"{address[0]}:{address[1]}", "--set", "anonymous_read=true"]
        line += ["--set", "delay_factor=0", "--set", "stop_grace=1"]
        crawl = subprocess.Popen(list(map(str, line)), stdout=out, stderr=out, stdin=subprocess.DEVNULL)
        try:
            _until_it_runs(f"http://{address[0]}:{address[1]}")
            start = measure.processor_seconds(crawl.pid)
            time.sleep(seconds)
            begun, idle = time.monotonic(), measure.processor_seconds(crawl.pid)
            answers = under_load(address, rate, seconds)
            ended, busy = time.monotonic(), measure.processor_seconds(crawl.pid)
            if crawl.poll() is not None:
                raise measure.RunFailed(f"the crawl ended before the load did: see {work / 'out'}")
        finally:
            crawl.terminate()
            crawl.wait()
    times = [request.at for request in anyhost.requests(work)]
    quiet = sum(begun - seconds <= at < begun for at in times) / seconds
    loaded = sum(begun <= at < ended for at in times) / (ended - begun)
    return {
        "api_load.pages": Figure(round(loaded, 1), "requests/s of the crawl under load", round(quiet, 1)),
        "api_load.lost": Figure(round(1.0 - loaded / quiet, 3), "of the crawl's rate without load"),
        "api_load.cpu": Figure(
            round((busy - idle) / (ended - begun), 3), "of a core under load", round((idle - start) / seconds, 3)
        ),
        "api_load.answered": Figure(answers[200], "answers 200"),
        "api_load.refused": Figure(answers[429], "answers 429 with Retry-After"),
        "api_load.others": Figure(sum(answers.values()) - answers[200] - answers[429], "other answers"),
    }


def under_load(address: tuple[str, int], rate: float, seconds: float) -> Counter[int]:
    """The load comes from a process of its own."""
    spawn = multiprocessing.get_context("spawn")
    results: multiprocessing.Queue[Counter[int]] = spawn.Queue()
    process = spawn.Process(target=_load, args=(address, rate, seconds, results))
    process.start()
    answers = results.get(timeout=2 * seconds + 30)
    process.join()
    return answers


def _until_it_runs(url: str) -> None:
    """Wait until the crawl has been through all hosts some times."""
    end = time.monotonic() + _BEGIN
    while time.monotonic() < end:
        time.sleep(0.5)
        with contextlib.suppress(requests.ConnectionError):
            answer = requests.get(f"{url}/api/v1/status", timeout=10)
            if answer.ok and answer.json()["counts"]["pages"] >= 3 * HOSTS:
                return
    raise measure.RunFailed(f"the crawl did not come to {3 * HOSTS} pages within {_BEGIN:g} s")


def main() -> None:
    parser = argparse.ArgumentParser(description="What a crawl loses while its API is asked.")
    parser.add_argument("--rate", type=float, default=RATE)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    options = parser.parse_args()
    measure.report(measured(options.rate, options.seconds))


if __name__ == "__main__":
    main()
