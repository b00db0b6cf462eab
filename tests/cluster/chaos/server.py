"""Serves a round's web in a process of its own and logs every request: the witness of what the workers did.

`python -m tests.cluster.chaos.server SEED HOSTS PAGES LOG` prints its port and ends when its standard input closes. A
line of the log is one request: when it started (monotonic seconds), host, path, agent, status, and how late the server
was lately, since a busy machine makes the witness see a request later than it came.
"""

import asyncio
import sys
import time
from collections import deque
from pathlib import Path
from typing import BinaryIO

import msgspec

from gregor.worker.demo.child import parent_gone, ready
from tests.cluster.chaos.web import Web, make

RETRY_AFTER = 1
"""Seconds that a busy page asks for."""


class Asked(msgspec.Struct, frozen=True, array_like=True):
    """One request as the server saw it."""

    at: float
    host: str
    path: str
    agent: str
    status: int
    lag: float

    @property
    def url(self) -> str:
        """What was asked for."""
        return f"http://{self.host}{self.path}"


class Server:
    """Answers from the web, and writes the log line before the answer."""

    def __init__(self, web: Web, log: BinaryIO) -> None:
        self._web = web
        self._log = log
        self._refused: set[str] = set()
        self._lags: deque[float] = deque([0.0], maxlen=100)

    async def watch(self) -> None:
        """Measure how late this process is, a hundred times a second."""
        while True:
            due = time.monotonic() + 0.01
            await asyncio.sleep(0.01)
            self._lags.append(time.monotonic() - due)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                at = time.monotonic()
                fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
                path, host = head[0].split(" ")[1], fields.get("host", "").lower()
                status, extra, body = self._answer(host, path)
                asked = Asked(at, host, path, fields.get("user-agent", ""), status, max(self._lags))
                self._log.write(msgspec.json.encode(asked) + b"\n")
                length = f"Content-Length: {len(body)}\r\n"
                writer.write(f"HTTP/1.1 {status} X\r\nContent-Type: text/html\r\n{extra}{length}\r\n".encode() + body)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            writer.close()

    def _answer(self, host: str, path: str) -> tuple[int, str, bytes]:
        here = f"http://{host}{path}"
        if host in self._web.hosts and path == "/robots.txt":
            return 200, "", self._web.robots(host)
        if here in self._web.redirects:
            return 301, f"Location: {self._web.redirects[here]}\r\n", b""
        if here in self._web.busy and here not in self._refused:
            self._refused.add(here)
            return 503, f"Retry-After: {RETRY_AFTER}\r\n", b""
        body = self._web.bodies.get(here)
        return (404, "", b"none") if body is None else (200, "", body)


async def main(seed: int, hosts: int, pages: int, log: Path) -> None:
    """Serve until the parent is gone."""
    with log.open("wb", buffering=0) as file:
        site = Server(make(seed, hosts, pages), file)
        server = await asyncio.start_server(site.serve, "127.0.0.1", 0, backlog=1024)
        watch = asyncio.create_task(site.watch())
        ready({"port": server.sockets[0].getsockname()[1]})
        await parent_gone()
        watch.cancel()
        server.close()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])))
