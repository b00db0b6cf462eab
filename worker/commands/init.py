"""`gregor init`: topics, keyspace and tables, the tree, checks of Redis; what is there already stays."""

import argparse
import asyncio

from gregor.worker.commands import FINISHED
from gregor.worker.commands.common import add_settings, settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Settings only."""
    add_settings(parser)


def run(arguments: argparse.Namespace) -> int:
    """Make what is missing, and say what was made and what was checked."""
    from gregor.worker.compose.engine import engine_of

    config = settings(arguments).config
    prepared = asyncio.run(engine_of(config).init())
    for line in (*prepared.made, *prepared.checked):
        print(line)
    print(
        f"crawl {config.crawl} is set up" if prepared.made else f"crawl {config.crawl} was set up before: nothing to do"
    )
    return FINISHED
