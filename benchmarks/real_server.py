"""Pages of a recorded web over HTTPS, compressed, each host by a certificate of its own.

`python -m benchmarks.real_server --work FOLDER --pages N FILE…` prints {"port", "ca", "host_table", "seeds", "pages",
"bytes"} when it listens, and ends when its standard input closes. All is served over TLS, what was recorded over plain
HTTP too, at one port, which is part of the seeds' URLs.
"""

import argparse
import asyncio
import gzip
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit, urlunsplit

import uvloop

from gregor.worker.demo import warc
from gregor.worker.demo.child import child, parent_gone, ready
from gregor.worker.demo.protocol import HttpProtocol, WireAnswer, plain
from tests.web.authority import Authority

_HTML = b"content-type: text/html"
_ROBOTS = "/robots.txt"
_LEVEL = 6


class RealWeb(NamedTuple):
    """A running server; ``bytes`` are those of all pages together, without their compression."""

    port: int
    ca: str
    host_table: str
    seeds: str
    pages: int
    bytes: int


@contextmanager
def serving(files: Sequence[Path], work: Path, pages: int) -> Iterator[RealWeb]:
    """Serves the first so many pages of each of the files in a process of its own while the block runs."""
    arguments = ["--work", str(work), "--pages", str(pages), *map(str, files)]
    with child("benchmarks.real_server", arguments) as report:
        yield RealWeb(**report)


def answers(files: Sequence[Path], most: int) -> dict[tuple[str, str], warc.RecordedResponse]:
    """Pages of HTML and robots.txt, by host and target; at most so many pages of a file."""
    kept: dict[tuple[str, str], warc.RecordedResponse] = {}
    for file in files:
        count = 0
        for url, place in warc.index([file]).items():
            parts = urlsplit(url)
            name = parts.hostname or "", urlunsplit(("", "", parts.path or "/", parts.query, ""))
            is_robots = name[1] == _ROBOTS
            if name in kept or (count >= most and not is_robots):
                continue
            response = warc.load(place)
            is_page = any(line.lower().startswith(_HTML) for line in response.headers)
            if response.status == 200 and (is_robots or is_page):
                kept[name] = response
                count += not is_robots
    return kept


def compressed(response: warc.RecordedResponse) -> WireAnswer:
    """As a server sends it to whoever takes gzip."""
    headers = (*response.headers, b"Content-Encoding: gzip")
    coded = replace(response, headers=headers, body=gzip.compress(response.body, _LEVEL))
    return coded.head(), coded.body


async def serve(files: Sequence[Path], work: Path, most: int) -> None:
    """Serves until standard input closes."""
    recorded = answers(files, most)
    bodies = [response.body for (_, target), response in recorded.items() if target != _ROBOTS]
    pages, size = len(bodies), sum(map(len, bodies))
    wire = {name: compressed(response) for name, response in recorded.items()}
    ca, table, seeds = work / "ca.pem", work / "hosts.table", work / "seeds.txt"
    authority, loop = Authority(ca), asyncio.get_running_loop()

    def answer(host: str, target: str) -> WireAnswer:
        return wire.get((host.partition(":")[0], target)) or plain("404 Not Found", "not recorded\n")

    server = await loop.create_server(
        lambda: HttpProtocol(answer), "127.0.0.1", 0, backlog=1024, ssl=authority.context()
    )
    port = server.sockets[0].getsockname()[1]
    hosts = sorted({host for host, _ in wire})
    table.write_text("".join(f"{host}:{port} 127.0.0.1:{port}\n" for host in hosts))
    seeds.write_text("".join(f"https://{host}:{port}{target}\n" for host, target in wire if target != _ROBOTS))
    ready(RealWeb(port, str(ca), str(table), str(seeds), pages, size)._asdict())
    await parent_gone()
    server.close()


def main() -> None:
    parser = argparse.ArgumentParser(description="Serve a recorded web over HTTPS.")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--work", type=Path, required=True, help="folder for CA, host table and seeds")
    parser.add_argument("--pages", type=int, required=True, help="of each file")
    options = parser.parse_args()
    uvloop.run(serve(options.files, options.work, options.pages))


if __name__ == "__main__":
    main()
