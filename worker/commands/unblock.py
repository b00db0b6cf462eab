"""`gregor unblock HOST`: take a block back."""

import argparse

from gregor.worker.commands import FINISHED, ordering


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which one, why, and whom to ask."""
    ordering.add_arguments(parser, host=True, why=True)


def run(arguments: argparse.Namespace) -> int:
    """Take the order back."""
    ordering.taken_back(arguments, "block", arguments.host)
    return FINISHED
