"""Memory of a worker to which many hosts send large documents that mean harm, all at once.

`python -m benchmarks.hostile [--hosts 30] [--pages 4]`. Each page is another one of the documents of tests/web/hostile,
as large as `max_body` allows; no delay. Memory is VmHWM, the peak resident size of the worker.
"""

import argparse
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count

from benchmarks import measure
from benchmarks.measure import GREGOR, WORK, Figure, Figures, run
from tests.web.hostile import DOCUMENTS
from tests.web.hostile.document import HALF

HOSTS, PAGES = 30, 4


@contextmanager
def serving() -> Iterator[tuple[int, list[int]]]:
    """A server on loopback, where each page is another document: its port, and the bytes of each that was sent."""
    large = [each for each in DOCUMENTS if "/" in each.kind and each.size >= HALF]
    numbers, sent = count(), list[int]()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            """Answer with the next document, and with 404 for what else is asked for."""
            document = large[next(numbers) % len(large)] if self.path.startswith("/page/") else None
            body = document.body() if document is not None else b""
            self.send_response(200 if document is not None else 404)
            self.send_header("Content-Type", document.kind if document is not None else "text/plain")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            if document is not None:
                sent.append(len(body))

        def log_message(self, format: str, *args: object) -> None:
            """Nothing is logged."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_port, sent
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def measured(hosts: int = HOSTS, pages: int = PAGES) -> Figures:
    """Peak memory, and how many documents of how many bytes there were."""
    work = WORK / "hostile"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    with serving() as (port, sent):
        (work / "hosts.table").write_text(f"* 127.0.0.1:{port}\n")
        seeds = work / "seeds"
        seeds.write_text(
            "".join(f"http://h{host}.test/page/{page}\n" for page in range(pages) for host in range(hosts))
        )
        line = [GREGOR, "crawl", "--data", work / "data", "--host-table", work / "hosts.table", "--seeds", seeds]
        cost = run([*line, "--max-depth", "0", "--delay", "0", "--set", "delay_factor=0", "--json"], work / "out")
    return {
        "hostile.peak": Figure(round(cost.peak, 1), "MB"),
        "hostile.cpu": Figure(round(cost.cpu / max(1, len(sent)), 2), "s a document"),
        "hostile.documents": Figure(len(sent), "documents"),
        "hostile.mean": Figure(round(sum(sent) / max(1, len(sent)) / 1e6, 1), "MB a document"),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Memory while many hosts send large hostile documents.")
    parser.add_argument("--hosts", type=int, default=HOSTS)
    parser.add_argument("--pages", type=int, default=PAGES)
    options = parser.parse_args()
    measure.report(measured(options.hosts, options.pages))


if __name__ == "__main__":
    main()
