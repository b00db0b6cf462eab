"""What rules cost: ten CSS fields on the pages that benchmarks.cpu crawls, and `gregor extract` in two processes.

`python -m benchmarks.extraction [--rounds 5] [--pages 200] [--stored 10000]`. Processor time of a page read as the
crawl reads it, and of the same page's rules besides, in turns; the middle of the rounds. Then how much
faster the command is over a folder of stored pages with two processes than with one.
"""

import argparse
import asyncio
import io
import os
import shutil
import subprocess
import sys
import time
from hashlib import sha256
from pathlib import Path
from typing import Final

from benchmarks.measure import COMPILED, WORK, Figure, Figures, middle, report
from gregor.schemas.messages import Page, Row
from gregor.worker.adapters.embedded import open_engine
from gregor.worker.compose.process import SystemClock
from gregor.worker.config.settings import Config
from gregor.worker.extract import rules
from gregor.worker.extract.crawled import Extraction
from gregor.worker.extract.drift import FieldShares
from gregor.worker.extract.identity import compared
from gregor.worker.extract.model import Rule
from gregor.worker.links.configured import canonical_rules
from gregor.worker.read.document import Document
from gregor.worker.read.processors import process
from gregor.worker.web.urls import Urls
from tests.web import corpus

SELECTORS: Final = ("title", "h1", "h2", "p", "a::attr(href)", "img::attr(src)", "li", "time", ".price", "#content")
_MEASURED: Final = """
import resource, sys
from gregor.worker.commands import cli
assert cli.main(sys.argv[1:]) == 0
for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
    spent = resource.getrusage(who)
    print(spent.ru_utime + spent.ru_stime)
"""
TYPE: Final = "text/html; charset=utf-8"


def measured(rounds: int = 5, pages: int = 200, stored: int = 10_000) -> Figures:
    """Milliseconds of processor a page that rules add; how much faster two processes are than one."""
    WORK.mkdir(parents=True, exist_ok=True)
    file = WORK / "ten.toml"
    ruleset = ten_fields(file)
    made = list(corpus.pages(corpus.Shape(2, pages)))
    spent = [round_of(made, ruleset) for _ in range(rounds)]
    figures = {
        "extract.fields": Figure(middle((after for _, after in spent), 3), "ms a page"),
        "extract.reading": Figure(middle((before for before, _ in spent), 3), "ms a page"),
    }
    if stored:
        folder = WORK / "extract"
        shutil.rmtree(folder, ignore_errors=True)
        asyncio.run(store(folder, stored))
        figures["extract.two_processes"] = Figure(
            middle((faster(folder, file) for _ in range(3)), 2), "times as fast", 1.0
        )
    return figures


def ten_fields(file: Path) -> tuple[Rule, ...]:
    """A rule of ten CSS fields."""
    fields = "".join(f'f{number} = "{selector}"\n' for number, selector in enumerate(SELECTORS))
    file.write_text(f'[[item]]\nname = "ten"\n[item.fields]\n{fields}')
    return rules.read([file])


def round_of(pages: list[corpus.Page], ruleset: tuple[Rule, ...]) -> tuple[float, float]:
    """Milliseconds a page: reading it, and its rules over the tree that is there then, up to the items as kept."""
    urls, extraction, shares = Urls(), Extraction(ruleset), FieldShares()
    reading = applying = 0.0
    for made in pages:
        url = urls.parse(made.url)
        assert url is not None
        document = Document(made.url, made.html, TYPE)
        document.keeps_tree = True
        started = time.process_time()
        said = process(document)
        read = time.process_time()
        page = Page(url.key, url.href, url.host, 1, "new", 200, 1.0, content_type="text/html", text=said.text)
        extracted = extraction.of(page, url, document)
        page.items = compared(extracted.items, (), extracted.asked)
        shares.note(extracted, page.href, page.fetched_at)
        applying += time.process_time() - read
        reading += read - started
        assert len(page.items) == 1
    return 1000.0 * reading / len(pages), 1000.0 * applying / len(pages)


async def store(folder: Path, pages: int) -> None:
    """A data folder with so many pages."""
    config = Config()
    engine = await open_engine(
        folder, config.partitions, canonical_rules(config).fingerprint(), SystemClock(), config.bucket_width
    )
    for made in corpus.pages(corpus.Shape(4, pages)):
        page = Page(made.url, made.url, made.host, 1, "new", 200, time.time(), content_type="text/html")
        page.encoding, page.body, page.size = "utf-8", sha256(made.html).hexdigest(), len(made.html)
        await engine.store.put_page(page, io.BytesIO(made.html), None, 1)
        await engine.store.put_rows([Row(made.url, made.url, made.host, 1, "fetched", "fetched", 200, page=1)], 1)
    await engine.close()


def faster(folder: Path, file: Path) -> float:
    """How much faster two processes are than one where each has a processor: by the processor time of the process that
    begins them, which they wait for, and theirs, of which each has half. Another load on the machine hides nothing."""
    (alone, _), (serial, shared) = (_spent(folder, file, number) for number in (1, 2))
    return alone / (serial + shared / 2)


def _spent(folder: Path, file: Path, processes: int) -> tuple[float, float]:
    """Seconds of processor of the command itself, and of the processes that it begins."""
    line = ["extract", "--rules", file, "--data", folder, "--processes", processes, "-o", WORK / "items.jsonl"]
    words = [sys.executable, "-c", _MEASURED, *map(str, line)]
    done = subprocess.run(words, stdout=subprocess.PIPE, check=True, env={**os.environ, **COMPILED})
    itself, begun = map(float, done.stdout.split()[-2:])
    return itself, begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--pages", type=int, default=200, help="that rules are applied to")
    parser.add_argument("--stored", type=int, default=10_000, help="pages of the folder that is extracted; 0: none")
    arguments = parser.parse_args()
    report(measured(arguments.rounds, arguments.pages, arguments.stored))


if __name__ == "__main__":
    main()
