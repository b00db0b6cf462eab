"""`gregor init`: topics, keyspace and tables, the tree, checks of Redis; what is there already stays."""

import argparse
import asyncio

from gregor.worker.commands import FINISHED
from gregor.worker.commands.common import add_settings, settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Settings only."""
    add_settings(parser)


def run(arguments: argparse.Namespace) -> int:
    """Make what is missing, and say what was made."""
    from gregor.worker import composition

    config = settings(arguments).config
    made = asyncio.run(composition.init(config))
    for line in made:
        print(line)
    print(f"crawl {config.crawl} is set up" if made else f"crawl {config.crawl} was set up before: nothing to do")
    return FINISHED
