"""What an export costs: the records of stored pages to Parquet, and small pages in every form.

`python -m benchmarks.exporting [--pages 1000000] [--small 100000]`. The folder is made by bulk insert, no crawl:
rows and pages of 20 links and a kilobyte of text. Processor time of the command,
its start included, and its peak of memory.
"""

import argparse
import asyncio
import shutil
import sqlite3
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Final

from benchmarks.measure import GREGOR, WORK, Figure, Figures, report, run
from gregor.schemas.messages import Attempt, Link, Page, Row, encode
from gregor.worker.adapters.compression import Compressor
from gregor.worker.adapters.embedded import open_engine
from gregor.worker.compose.process import SystemClock
from gregor.worker.config.settings import Config
from gregor.worker.links.configured import canonical_rules

TEXT: Final = " ".join(f"word{number * 7919 % 9973}" for number in range(120))
HEAD: Final = b'HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nServer: nginx\r\nETag: "x"\r\n\r\n'
AT: Final = 1_700_000_000.0
MEMORY: Final = 300.0
"""MB that an export may take."""


def measured(pages: int = 200_000, small: int = 100_000) -> Figures:
    """Rows a second of processor to Parquet, with the peak of memory in MB; small pages a second by form."""
    WORK.mkdir(parents=True, exist_ok=True)
    folder = WORK / f"export-{pages}"
    if not (folder / "crawl.db").exists():
        make(folder, pages)
    cost = run([GREGOR, "export", "parquet", "--data", folder, "-o", WORK / "x.parquet"], WORK / "export.log")
    figures = {
        "export.parquet": Figure(round(pages / cost.cpu), "rows a second", 10_000),
        "export.memory": Figure(round(cost.peak), "MB", MEMORY),
    }
    folder = WORK / f"export-small-{small}"
    if small and not (folder / "crawl.db").exists():
        make(folder, small, bodies=True)
    for form in ("csv", "jsonl", "warc") if small else ():
        cost = run([GREGOR, "export", form, "--data", folder, "-o", WORK / f"x.{form}"], WORK / "export.log")
        figures[f"export.small.{form}"] = Figure(round(small / cost.cpu), "pages a second", 5_000)
    return figures


def make(folder: Path, count: int, *, bodies: bool = False) -> None:
    """A crawl of so many pages, put into the tables as they are."""
    shutil.rmtree(folder, ignore_errors=True)
    rules = canonical_rules(Config()).fingerprint()

    async def opened() -> None:
        await (await open_engine(folder, Config().partitions, rules, SystemClock())).close()

    asyncio.run(opened())
    compress = Compressor().compress
    with sqlite3.connect(folder / "crawl.db", isolation_level=None) as database:
        database.execute("PRAGMA synchronous=OFF")
        database.execute("BEGIN")
        for page, row, body in documents(count):
            database.execute("INSERT INTO rows VALUES (?, 1, ?, ?, ?)", (row.key, row.host, row.state, encode(row)))
            database.execute(
                "INSERT INTO pages VALUES (?, 1, 1, 200, ?, ?)", (page.key, page.size, compress(encode(page)))
            )
            if bodies:
                record = (bytes.fromhex(page.body), compress(body))
                database.execute("INSERT OR IGNORE INTO bodies VALUES (?, ?)", record)
        database.execute("COMMIT")


def documents(count: int) -> Iterator[tuple[Page, Row, bytes]]:
    """Pages with their rows and bodies."""
    for number in range(count):
        host = f"host{number % 997}.test"
        url = f"http://{host}/page/{number}"
        body = f"<title>Page {number}</title><p>{TEXT}".encode()
        links = [Link(f"http://{host}/page/{number * 31 + step}", "a", text=f"page {step}") for step in range(20)]
        page = Page(
            *(url, url, host, 1, "new", 200, AT + number),
            content_type="text/html",
            encoding="utf-8",
            title=f"Page {number}",
            text=f"{number} {TEXT}",
            body=sha256(body).hexdigest(),
            size=len(body),
            links=links,
            response_head=HEAD,
            request_head=b"GET / HTTP/1.1\r\nHost: x\r\nUser-Agent: bench\r\n\r\n",
            language="en",
        )
        attempt = Attempt(AT + number, "fetched", 200, 0.1, "worker")
        row = Row(
            url, url, host, 1, "fetched", "fetched", 200, depth=1, page=1, attempts=(attempt,), kept_size=len(body)
        )
        yield page, row, body


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=200_000)
    parser.add_argument("--small", type=int, default=100_000)
    arguments = parser.parse_args()
    report(measured(arguments.pages, arguments.small))


if __name__ == "__main__":
    main()
