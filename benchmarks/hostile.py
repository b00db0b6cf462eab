"""Memory of a worker to which many hosts send large documents that mean harm, all at once.

`python -m benchmarks.hostile [--hosts 30] [--pages 4]`. Each page is another one of the documents of tests/web/hostile,
as large as `max_body` allows; no delay. Memory is VmHWM, the peak resident size of the worker.
"""

import argparse
import shutil
from collections.abc import Callable
from itertools import count

from benchmarks import measure
from benchmarks.measure import GREGOR, WORK, Figure, Figures, run
from tests.web.hostile import DOCUMENTS
from tests.web.hostile.document import HALF
from tests.web.made_server import MadePage, serving

HOSTS, PAGES = 30, 4


def documents(sent: list[int]) -> Callable[[str], MadePage | None]:
    """A site where each page is another document; the bytes of each that was asked for are noted in ``sent``."""
    large = [document for document in DOCUMENTS if "/" in document.kind and document.size >= HALF]
    numbers = count()

    def page_at(target: str) -> MadePage | None:
        if not target.startswith("/page/"):
            return None
        document = large[next(numbers) % len(large)]
        body = document.body()
        sent.append(len(body))
        return document.kind, body

    return page_at


def measured(hosts: int = HOSTS, pages: int = PAGES) -> Figures:
    """Peak memory, and how many documents of how many bytes there were."""
    work = WORK / "hostile"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    sent: list[int] = []
    with serving(documents(sent)) as port:
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
