"""`gregor rebuild-near`: sketches for the stored pages that have none, so that near-duplicates of them are found.

It runs beside a crawl. What is interrupted goes on where it was.
"""

import argparse
import asyncio
import time

from gregor.worker.base import amounts
from gregor.worker.base.errors import complain
from gregor.worker.borders.reader import WHOLE
from gregor.worker.commands import FINISHED
from gregor.worker.commands.common import add_settings, part_of, settings
from gregor.worker.operate.sketching import Sketched

_TOLD_EVERY = 5.0  # seconds


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """How much of it."""
    text = "on servers: only the I-th of N parts; the others are for as many processes or machines"
    parser.add_argument("--part", type=part_of, default=WHOLE, metavar="I/N", help=text)
    add_settings(parser)


def run(arguments: argparse.Namespace) -> int:
    """Make all of it, and say how much that was."""
    from gregor.worker.compose.engine import engine_of

    began, progress = time.monotonic(), _Progress()
    did = asyncio.run(engine_of(settings(arguments).config).rebuild_near(arguments.part, progress.tell))
    if did.before:
        complain("what an earlier run had done was not done again")
    took = f"{time.monotonic() - began:.0f} s"
    print(f"{amounts.count(did.pages, 'page')} looked at, in {took}: near-duplicates of them are found")
    return FINISHED


class _Progress:
    def __init__(self) -> None:
        self._began = self._last = time.monotonic()

    def tell(self, how_far: Sketched) -> None:
        """Say how far it is, every few seconds."""
        now = time.monotonic()
        if now - self._last >= _TOLD_EVERY:
            self._last = now
            share = (how_far.before + how_far.done) / max(1, how_far.shares)
            rate = how_far.pages / (now - self._began)
            complain(f"{share:.0%} done, {amounts.count(how_far.pages, 'page')}, {rate:.0f} a second")
