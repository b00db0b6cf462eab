"""`gregor worker`: join a crawl that `gregor init` made; ends when the crawl does, or waits for more with `linger`."""

import argparse

from gregor.worker.commands import crawl
from gregor.worker.commands.common import add_settings, settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The report, and settings."""
    parser.add_argument("--json", action="store_true", help="the report as one JSON object on standard output")
    add_settings(parser, crawl.FLAGS)
    parser.set_defaults(seed=[], seeds=None, joins=True)


def run(arguments: argparse.Namespace) -> int:
    """Crawl with what the coordinator gives, to the end or a signal."""
    from gregor.worker.compose.engine import engine_of

    engine_of(settings(arguments).config).joinable()
    return crawl.run(arguments)
