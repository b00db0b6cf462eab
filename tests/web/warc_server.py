"""Serves WARC files by host name on loopback, http and https, as they were recorded.

`python -m tests.web.warc_server FILE… --work FOLDER` prints one JSON object (ports, CA, host table, request log)
when it listens and ends when its standard input closes. A URL that was not recorded is answered with 404.
"""

import argparse
import asyncio
import io
import json
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import uvloop

from gregor.worker.demo import warc
from gregor.worker.demo.child import child, parent_gone, ready
from gregor.worker.demo.protocol import HttpProtocol, Site, WireAnswer, plain
from tests.web.authority import Authority

PORTS = {"http": ":80", "https": ":443"}


@dataclass(frozen=True, slots=True)
class RecordedWeb:
    """A running server: where it listens and the files that a crawler is started with."""

    http: int
    https: int
    ca: Path
    host_table: Path
    log: Path


@contextmanager
def serving(files: Sequence[Path], work: Path) -> Iterator[RecordedWeb]:
    """Serves the WARC files in a process of its own while the block runs; its CA, host table and log lie in `work`."""
    with child("tests.web.warc_server", [*map(str, files), "--work", str(work)]) as report:
        yield RecordedWeb(
            report["http"], report["https"], Path(report["ca"]), Path(report["host_table"]), Path(report["log"])
        )


def host_table(urls: Iterable[str], http: int, https: int) -> str:
    """Lines that send every recorded host's ports 80 and 443 to the server."""
    hosts = sorted({urlsplit(url).netloc for url in urls})
    return "".join(f"{host}:80 127.0.0.1:{http}\n{host}:443 127.0.0.1:{https}\n" for host in hosts)


def site(scheme: str, records: dict[str, warc.ResponsePlace], log: io.TextIOBase) -> Site:
    """Answers from the records of one scheme, noting each request: time (Unix, seconds), scheme, host, target."""

    def answer(authority: str, target: str) -> WireAnswer:
        entry = {"t": round(time.time(), 4), "scheme": scheme, "host": authority, "target": target}
        log.write(json.dumps(entry) + "\n")
        record = records.get(f"{scheme}://{authority.removesuffix(PORTS[scheme])}{target}")
        if record is None:
            return plain("404 Not Found", "not recorded\n")
        response = warc.load(record)
        return response.head(), response.body

    return answer


async def serve(files: Sequence[Path], work: Path) -> None:
    """Indexes the files, listens on two free ports of 127.0.0.1, and serves until standard input closes."""
    records = warc.index(files)
    authority = Authority(work / "ca.pem")
    loop = asyncio.get_running_loop()
    with (work / "requests.jsonl").open("w", buffering=1 << 16) as log:
        sites = {scheme: site(scheme, records, log) for scheme in PORTS}
        servers = [
            await loop.create_server(lambda: HttpProtocol(sites["http"]), "127.0.0.1", 0, backlog=1024),
            await loop.create_server(
                lambda: HttpProtocol(sites["https"]), "127.0.0.1", 0, backlog=1024, ssl=authority.context()
            ),
        ]
        http, https = (server.sockets[0].getsockname()[1] for server in servers)
        (work / "hosts.table").write_text(host_table(records, http, https))
        ready(
            {
                "http": http,
                "https": https,
                "ca": str(work / "ca.pem"),
                "host_table": str(work / "hosts.table"),
                "log": str(work / "requests.jsonl"),
            }
        )
        await parent_gone()
        for server in servers:
            server.close()


def main() -> None:
    parser = argparse.ArgumentParser(description="Serve WARC files by host name on loopback.")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--work", type=Path, required=True, help="folder for CA, host table and request log")
    arguments = parser.parse_args()
    uvloop.run(serve(arguments.files, arguments.work))


if __name__ == "__main__":
    main()
