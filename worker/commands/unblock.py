"""`gregor unblock HOST`: let a host be crawled again."""

import argparse

from gregor.worker.commands import FINISHED, ordering


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which host, and whom to ask."""
    ordering.add_arguments(parser, host=True)


def run(arguments: argparse.Namespace) -> int:
    """Take the order back."""
    ordering.taken_back(arguments, "block")
    return FINISHED
