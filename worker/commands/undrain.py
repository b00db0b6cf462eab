"""`gregor undrain WORKER`: let a worker own partitions again."""

import argparse

from gregor.worker.commands import FINISHED, ordering


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which one, why, and whom to ask."""
    ordering.add_arguments(parser, why=True)
    parser.add_argument("worker", metavar="WORKER", help="its name, as `gregor status` has it")


def run(arguments: argparse.Namespace) -> int:
    """Take the order back."""
    ordering.taken_back(arguments, "drain", arguments.worker)
    return FINISHED
