"""A web without end on loopback, at any host name: each page leads to the next ones of its host.

`python -m benchmarks.anyhost LOG` prints {"port"} and ends when its standard input closes. LOG gets a line for each
request: time (CLOCK_MONOTONIC, seconds), host, target. There are no robots.txt.
"""

import asyncio
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import shake_128
from pathlib import Path
from typing import NamedTuple

import uvloop

from gregor.worker.demo.child import child, parent_gone, ready
from gregor.worker.demo.protocol import HttpProtocol, WireAnswer, plain

LINKS = 4
ADDRESSES = ("127.0.0.1", "127.0.0.2", "127.0.0.3")
"""All hosts are at the first, but where a host table of one's own says otherwise."""
_LETTERS = str.maketrans("0123456789", "ghijklmnop")


class Request(NamedTuple):
    """One request as the server saw it."""

    at: float
    host: str
    target: str


@contextmanager
def serving(work: Path, addresses: Mapping[str, str] = {"*": ADDRESSES[0]}) -> Iterator[Path]:
    """Serves while the block runs; yields the host table that leads to it, with the address of each of these hosts.
    `requests` reads its log afterwards."""
    with child("benchmarks.anyhost", [str(work / "requests.log")]) as report:
        table = work / "hosts.table"
        table.write_text("".join(f"{host} {address}:{report['port']}\n" for host, address in addresses.items()))
        yield table


def requests(work: Path) -> list[Request]:
    """All requests, in order."""
    lines = (work / "requests.log").read_text().splitlines()
    return [Request(float(at), host, target) for at, host, target in map(str.split, lines)]


def page(host: str, target: str) -> WireAnswer:
    """A page of its own words, with links to the pages after it."""
    if target == "/robots.txt":
        return plain("404 Not Found", "none\n")
    number = int(target[1:]) if target[1:].isdecimal() else 0
    links = "".join(f'<li><a href="/{number + step}">page {number + step}</a></li>' for step in range(1, LINKS + 1))
    words = " ".join(_words(f"{host}/{number}"))
    body = f"<!DOCTYPE html><title>{host} {number}</title><p>{words}</p><ul>{links}</ul>".encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode(), body


def _words(seed: str) -> list[str]:
    """Twenty words that no other page has: pages that differ in a number only are taken for a trap."""
    letters = shake_128(seed.encode()).hexdigest(80).translate(_LETTERS)
    return [letters[start : start + 8] for start in range(0, len(letters), 8)]


async def serve(log: Path) -> None:
    """Serves until standard input closes."""
    with log.open("w", buffering=1 << 20) as file:

        def answer(host: str, target: str) -> WireAnswer:
            file.write(f"{time.monotonic():.6f} {host} {target}\n")
            return page(host, target)

        loop = asyncio.get_running_loop()
        servers, port = [], 0
        for address in ADDRESSES:
            servers.append(await loop.create_server(lambda: HttpProtocol(answer), address, port, backlog=4096))
            port = servers[0].sockets[0].getsockname()[1]
        ready({"port": port})
        await parent_gone()
        for server in servers:
            server.close()


if __name__ == "__main__":
    uvloop.run(serve(Path(sys.argv[1])))
