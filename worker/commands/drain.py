"""`gregor drain WORKER`: have a worker hand all its partitions over and stand by, until `gregor undrain`."""

import argparse

from gregor.worker.base.errors import complain
from gregor.worker.commands import FINISHED, ordering


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which one, why, and whom to ask."""
    ordering.add_arguments(parser, why=True)
    parser.add_argument("worker", metavar="WORKER", help="its name, as `gregor status` has it")


def run(arguments: argparse.Namespace) -> int:
    """Give the order."""
    ordering.ordered(arguments, "drain", arguments.worker)
    crawl = ordering.by_api(arguments, "GET", "/api/v1/workers")
    if crawl is not None and arguments.worker not in {worker["name"] for worker in crawl["workers"]}:
        complain("no worker of this name runs now: the order stands for one that comes, until `gregor undrain`")
    return FINISHED
