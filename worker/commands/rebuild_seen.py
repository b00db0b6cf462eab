"""`gregor rebuild-seen`: what Cassandra knows is marked in Redis again; may run beside workers."""

import argparse
import asyncio

from gregor.worker.commands import FINISHED
from gregor.worker.commands.common import add_settings, settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Settings only."""
    add_settings(parser)


def run(arguments: argparse.Namespace) -> int:
    """Mark all of it, and say how much that was."""
    from gregor.worker.compose import servers

    count = asyncio.run(servers.rebuild_seen(settings(arguments).config))
    print(f"{count} URLs marked as seen")
    return FINISHED
