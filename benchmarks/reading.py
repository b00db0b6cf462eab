"""What reading a page costs, step by step: processor time of pages like those that benchmarks.cpu crawls.

`python -m benchmarks.reading [--rounds 5] [--pages 200] [--peer TREE]`. Each round is a process that does every step
of every page some times; of a step of a page the least counts, since all that disturbs adds, so that everything is in
the processor's caches and references were met before. With a peer, another checkout does the same in turns by Python,
by its own file of this name and in its own virtual environment if it has one, and the figures have its values beside
them. Where the native core is installed, pages are read by it in turns with Python
(`reading.native.…`): parsing is then part of the walk. Figures are medians of the rounds.
"""

import argparse
import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from selectolax.lexbor import LexborHTMLParser

from benchmarks.measure import ROOT, Figure, Figures, middle, report
from gregor.schemas.messages import Ticket, encode
from gregor.worker.adapters.compression import Compressor
from gregor.worker.base.spooled import SpooledBody
from gregor.worker.borders.transport import Response
from gregor.worker.config.settings import Config
from gregor.worker.examine import Content, Examiner, ReadPage
from gregor.worker.frontier.sent import RecentlySent
from gregor.worker.links.scope import Scope, ScopeRules
from gregor.worker.links.traps import Traps
from gregor.worker.observe.stats import Stats
from gregor.worker.read.document import Document
from gregor.worker.read.fingerprints import simhash_and_sketch, text_fingerprint
from gregor.worker.read.html import parse as html
from gregor.worker.read.html.guard import guard
from gregor.worker.read.html.natively import NativeAttempt
from gregor.worker.read.native import Core, core
from gregor.worker.read.processors import Processors
from gregor.worker.read.read import Reading
from gregor.worker.settle.new_page import new_page
from gregor.worker.web.encodings import sniff
from gregor.worker.web.urls import Url, Urls
from tests.web import corpus

PAGES = 200
PAGES_OF_A_HOST = 100
REPEATED = 5
PIECE = 16 * 1024
"""Bytes that come at a time."""
ASKED = 4
"""How often it is asked how a URL stands among those of its host: when published, admitted, queued and taken."""
TYPE = "text/html"
PYTHON, NATIVE = "", "native."
"""The ways of reading, as names of figures begin."""
WHOLE = ("keep", "decode", "guard", "parse", "walk", "fingerprint", "simhash", "links", "traps", "record", "compress")
"""The steps that together are the reading of a page."""


def measured(rounds: int = 5, pages: int = PAGES, peer: Path | None = None) -> Figures:
    """Microseconds a page, by step and all together."""
    trees = [ROOT] if peer is None else [ROOT, peer.resolve()]
    turns = [
        (tree, way)
        for way in (PYTHON, NATIVE)[: 1 + (core() is not None)]
        for tree in trees
        if tree == ROOT or way == PYTHON
    ]
    rounds_of: dict[tuple[Path, str], list[dict[str, float]]] = {turn: [] for turn in turns}
    for number in range(rounds):
        for tree, way in turns if number % 2 else reversed(turns):  # which one is first may matter
            rounds_of[tree, way].append(_round(tree, pages, way))
    medians = {
        turn: {name: middle((of_round[name] for of_round in of_turn), 1) for name in of_turn[0]}
        for turn, of_turn in rounds_of.items()
    }
    return {
        f"reading.{way}{name}": Figure(
            value, "us a page", None if peer is None else medians[trees[1], PYTHON].get(name)
        )
        for (tree, way), values in medians.items()
        if tree == ROOT
        for name, value in values.items()
    }


def _round(tree: Path, pages: int, way: str) -> dict[str, float]:
    """One process of a tree."""
    own = tree / ".venv/bin/python"
    python = str(own) if own.exists() else sys.executable
    line = [
        python,
        "-m",
        "benchmarks.reading",
        "--here",
        "--pages",
        str(pages),
        *(["--native"] if way == NATIVE else []),
    ]
    done = subprocess.run(
        line, cwd=tree, env={**os.environ, "PYTHONPATH": str(tree)}, check=True, stdout=subprocess.PIPE
    )
    steps: dict[str, float] = json.loads(done.stdout)
    return steps


class Steps:
    """The steps of reading, one page at a time."""

    def __init__(self, hosts: int, native: Core | None = None) -> None:
        """``native`` reads where it can."""
        self._core = native
        self._urls = Urls()
        config, scope = Config(), Scope(ScopeRules(), map(corpus.host_name, range(hosts)))
        self._sent = RecentlySent(config.recently_sent)
        self._traps = [Traps() for _ in range(REPEATED)]
        self._examiner = Examiner(
            config,
            urls=self._urls,
            scope=lambda: scope,
            now=lambda: 1000.0,
            stats=Stats(),
            processors=Processors(),
            sent=self._sent,
            traps=self._traps[0],
        )
        self._compress = Compressor().compress
        self.seconds = dict.fromkeys(WHOLE, 0.0)

    def page(self, page: corpus.Page) -> None:
        """Does and times all of a page's steps."""
        data, url = page.html, self._urls.parse(page.url)
        assert url is not None
        text, native = sniff.decode(data, "utf-8"), self._core
        extract = html.extract(text)
        words = f"{extract.title} {extract.text}"
        reading = Reading(extract, text_fingerprint(words), *simhash_and_sketch(words))
        ticket, deeper = Ticket(url.href, url.key, url.host), Ticket(url.href, url.key, url.host, depth=2)
        response = Response(200, "OK", [("Content-Type", TYPE)], "HTTP/1.1", _kept(data), None, b"", b"", "", 0.0, 0.0)
        document = Document(url.href, response.body, TYPE)

        def examine() -> Content:
            page = new_page(ticket, url, response, document, 0.0)
            return self._examiner.content(ticket, url, response, ReadPage(page, reading, None))

        examined = examine()
        self._sent.learn(examined.tickets)
        record = encode(examined.page)
        spent = {
            "keep": _least(lambda: _kept(data)),
            "decode": _least(lambda: sniff.decode(data, sniff.sniff(data, TYPE))),
            "guard": _least(lambda: guard(text)),
            "parse": 0.0 if native else _least(lambda: LexborHTMLParser(text)),
            "walk": _least(lambda: html.extract(text, attempt=NativeAttempt(native) if native else None)),
            "fingerprint": _least(lambda: text_fingerprint(words, native)),
            "simhash": _least(lambda: simhash_and_sketch(words, native)),
            "links": _least(examine),
            "traps": _least(lambda: self._heed(url, deeper, words)),  # each time by others, which know not the page
            "record": _least(lambda: [encode(message) for message in (examined.page, *examined.tickets)]),
            "compress": _least(lambda: (self._compress(record), self._compress(data))),
        }
        spent["walk"] -= spent["guard"] + spent["parse"]
        for name, seconds in spent.items():
            self.seconds[name] += seconds

    def _heed(self, url: Url, ticket: Ticket, text: str) -> None:
        """What a page tells of the URL space of its host, and what that means for one URL."""
        traps = self._traps.pop(0)
        self._traps.append(traps)
        traps.learn(url, text=text, via=url.origin)
        for _ in range(ASKED):
            traps.judge(ticket)


def _kept(data: bytes) -> SpooledBody:
    body = SpooledBody(cap=len(data))
    for at in range(0, len(data), PIECE):
        body.write(data[at : at + PIECE])
    return body


def _least(step: Callable[[], object]) -> float:
    """Seconds of a step."""

    def once() -> float:
        begun = time.thread_time()
        step()
        return time.thread_time() - begun

    return min(once() for _ in range(REPEATED))


def _steps(pages: int, native: Core | None = None) -> dict[str, float]:
    """Microseconds a page of each step, measured in this process."""
    hosts = -(-pages // PAGES_OF_A_HOST)
    made = list(corpus.pages(corpus.Shape(hosts, pages)))
    steps = Steps(hosts, native)
    for page in made:
        steps.page(page)
    spent = {name: 1e6 * seconds / len(made) for name, seconds in steps.seconds.items()}
    return {**spent, "all": sum(spent.values())}


def main() -> None:
    parser = argparse.ArgumentParser(description="What reading a page costs, step by step.")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--pages", type=int, default=PAGES)
    parser.add_argument("--peer", type=Path, help="another checkout, measured in turns with this one")
    parser.add_argument("--native", action="store_true", help="with --here: by the native core")
    parser.add_argument("--here", action="store_true", help="one round in this process, as JSON")
    options = parser.parse_args()
    if options.here:
        gc.freeze()
        gc.set_threshold(20_000, 20, 20)  # as while crawling
        print(json.dumps(_steps(options.pages, core() if options.native else None)))
    else:
        report(measured(options.rounds, options.pages, options.peer))


if __name__ == "__main__":
    main()
