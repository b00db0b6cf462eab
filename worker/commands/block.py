"""`gregor block HOST`: send a host, or a domain with all below it, nothing until `gregor unblock`."""

import argparse

from gregor.worker.commands import FINISHED, ordering


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which one, why, and whom to ask."""
    ordering.add_arguments(parser, host=True, why=True)


def run(arguments: argparse.Namespace) -> int:
    """Give the order."""
    ordering.ordered(arguments, "block", arguments.host)
    return FINISHED
