"""Serves the bundled web on loopback: `python -m gregor.worker.demo.server`, or `with serving() as web:`."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gregor.worker.demo import warc
from gregor.worker.demo.child import child, parent_gone, ready
from gregor.worker.demo.protocol import HttpProtocol, WireAnswer, plain

WEB = Path(__file__).with_name("web.warc.gz")
HOSTS = ("harbour.example", "library.harbour.example", "museum.example", "ferry.example")
SEEDS = tuple(f"http://{host}/" for host in HOSTS)


@dataclass(frozen=True, slots=True)
class DemoWeb:
    """What a crawl of the bundled web needs: lines of a host table, seeds, and no CA, since it speaks plain HTTP."""

    host_table_lines: tuple[str, ...]
    seeds: tuple[str, ...]
    ca: Path | None = None


@contextmanager
def serving() -> Iterator[DemoWeb]:
    """Serves the bundled web in a process of its own for as long as the block runs. Raises child.ServerFailed."""
    with child("gregor.worker.demo.server") as report:
        lines = tuple(f"{host}:80 127.0.0.1:{report['port']}" for host in HOSTS)
        yield DemoWeb(lines, SEEDS)


async def serve() -> None:
    """Listens on a free port, says which, and ends with the process that started it."""
    records = warc.index([WEB])

    def answer(host: str, target: str) -> WireAnswer:
        record = records.get(f"http://{host.removesuffix(':80')}{target}")
        if record is None:
            return plain("404 Not Found", "There is no such page in this small web.\n")
        response = warc.load(record)
        return response.head(), response.body

    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: HttpProtocol(answer), "127.0.0.1", 0)
    ready({"port": server.sockets[0].getsockname()[1]})
    await parent_gone()
    server.close()


if __name__ == "__main__":
    asyncio.run(serve())
