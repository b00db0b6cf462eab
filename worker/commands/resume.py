"""`gregor resume`: go on after `gregor pause`."""

import argparse

from gregor.worker.commands import FINISHED, ordering


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Whom to ask."""
    ordering.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Take the order back."""
    ordering.taken_back(arguments, "pause")
    return FINISHED
