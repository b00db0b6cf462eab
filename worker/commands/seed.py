"""`gregor seed URL…`: publish seeds for workers that run now or later."""

import argparse
import asyncio
import io
import sys

from gregor.worker.commands import FINISHED
from gregor.worker.commands.common import add_settings, settings
from gregor.worker.errors import BadInput


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Seeds and settings."""
    parser.add_argument("seed", nargs="*", metavar="SEED", help="URL to start from")
    text = "more seeds, - for standard input: lines of URLs, or of JSON with url, label, depth, priority"
    parser.add_argument("--seeds", metavar="FILE", help=text)
    add_settings(parser)


def run(arguments: argparse.Namespace) -> int:
    """Publish them; durable when it returns."""
    from gregor.worker import composition
    from gregor.worker.rules import urls_of
    from gregor.worker.seeds_input import open_seeds

    config = settings(arguments).config
    stdin = io.BytesIO() if sys.stdin is None else sys.stdin.buffer
    seeds = open_seeds(arguments.seed, arguments.seeds, stdin, urls_of(config))
    try:
        if not seeds.count:
            raise BadInput("no seed is given: name URLs, or a file with --seeds")
        count = asyncio.run(composition.seed(config, seeds))
    finally:
        seeds.close()
    print(f"{count} seeds published")
    return FINISHED
