"""Serves a folder of hosts (FOLDER/www/HOST/path) on loopback as cheaply as possible: by nginx if it is installed.

`with serving(folder, work) as web` is what benchmarks use; `python -m tests.web.static_server FOLDER --work FOLDER`
prints one JSON object {"port", "host_table", "server"} and ends when its standard input closes.
"""

import argparse
import asyncio
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import uvloop

from gregor.worker.demo.child import child, parent_gone, ready
from gregor.worker.demo.protocol import HttpProtocol, Site, WireAnswer, plain

INDEX = "index.html"
TYPES = {".html": "text/html; charset=utf-8", ".txt": "text/plain; charset=utf-8"}

NGINX = """\
{user}
worker_processes 1;
pid {work}/nginx.pid;
error_log {work}/nginx.err warn;
events {{ worker_connections 4096; }}
http {{
    access_log off;
    sendfile on;
    tcp_nopush on;
    keepalive_requests 1000000;
    open_file_cache max=20000 inactive=600s;
    types {{ text/html html; text/plain txt; }}
    charset utf-8;
    client_body_temp_path {work}; proxy_temp_path {work}; fastcgi_temp_path {work};
    uwsgi_temp_path {work}; scgi_temp_path {work};
    server {{
        listen 127.0.0.1:{port} backlog=4096;
        root {root}/$host;
        index {index};
    }}
}}
"""


@dataclass(frozen=True, slots=True)
class StaticWeb:
    """A running server: its port, the host table that leads to it, and what serves ("nginx" or "asyncio")."""

    port: int
    host_table: Path
    server: str


@contextmanager
def serving(folder: Path, work: Path) -> Iterator[StaticWeb]:
    """Serves the folder in a process of its own while the block runs. Raises child.ServerFailed."""
    with child("tests.web.static_server", [str(folder), "--work", str(work)]) as report:
        yield StaticWeb(report["port"], Path(report["host_table"]), report["server"])


def site(root: Path) -> Site:
    """Answers from the files below `root`, found once: a request target is looked up, never used as a path."""
    files = {
        f"{file.relative_to(root).parent.as_posix()}/{'' if file.name == INDEX else file.name}": file
        for file in root.rglob("*")
        if file.is_file()
    }

    def answer(authority: str, target: str) -> WireAnswer:
        file = files.get(authority.partition(":")[0] + target)
        if file is None:
            return plain("404 Not Found", "no such page\n")
        body, kind = file.read_bytes(), TYPES.get(file.suffix, "application/octet-stream")
        return f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n".encode(), body

    return answer


async def serve_by_itself(root: Path, work: Path) -> None:
    """The server without nginx: about 0.1 ms of its own processor a page."""
    pages = site(root)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: HttpProtocol(pages), "127.0.0.1", 0, backlog=4096)
    _ready(root, work, server.sockets[0].getsockname()[1], "asyncio")
    await parent_gone()
    server.close()


async def serve_by_nginx(nginx: str, root: Path, work: Path) -> None:
    """Runs nginx until standard input closes. It goes into the background by itself once it listens."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    config = work / "nginx.conf"
    user = "user root;" if os.geteuid() == 0 else ""  # else it gives up the right to read the folder
    config.write_text(NGINX.format(user=user, work=work, root=root, port=port, index=INDEX))
    await _run(nginx, "-c", str(config))
    try:
        _ready(root, work, port, "nginx")
        await parent_gone()
    finally:
        await _run(nginx, "-c", str(config), "-s", "stop")


async def _run(*line: str) -> None:
    process = await asyncio.create_subprocess_exec(*line, stdin=subprocess.DEVNULL)
    if await process.wait():
        raise SystemExit(f"{' '.join(line)} ended with status {process.returncode}")


def _ready(root: Path, work: Path, port: int, server: str) -> None:
    hosts = sorted(folder.name for folder in root.iterdir())
    table = work / "hosts.table"
    table.write_text("".join(f"{host}:80 127.0.0.1:{port}\n" for host in hosts))
    ready({"port": port, "host_table": str(table), "server": server})


def main() -> None:
    parser = argparse.ArgumentParser(description="Serve a folder of hosts on loopback.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--work", type=Path, required=True, help="folder for configuration and host table")
    options = parser.parse_args()
    root, work = (options.folder / "www").resolve(), options.work.resolve()
    nginx = shutil.which("nginx")
    uvloop.run(serve_by_nginx(nginx, root, work) if nginx else serve_by_itself(root, work))


if __name__ == "__main__":
    main()
