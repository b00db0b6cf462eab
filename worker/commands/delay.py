"""`gregor delay HOST SECONDS`: the least time between two requests to a host; `none` takes the order back.

It never makes a crawl less polite: a longer delay that the settings or a robots.txt ask for stays.
"""

import argparse

from gregor.worker.commands import FINISHED, ordering
from gregor.worker.errors import BadInput


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which host, how long, why, and whom to ask."""
    ordering.add_arguments(parser, host=True, why=True)
    parser.add_argument("seconds", metavar="SECONDS", help="the delay, or none")


def run(arguments: argparse.Namespace) -> int:
    """Give the order, or take it back."""
    if arguments.seconds == "none":
        ordering.taken_back(arguments, "delay")
        return FINISHED
    try:
        seconds = float(arguments.seconds)
    except ValueError:
        raise BadInput("SECONDS must be a number or none") from None
    ordering.ordered(arguments, "delay", seconds)
    return FINISHED
