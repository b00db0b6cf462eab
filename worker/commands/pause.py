"""`gregor pause`: no new requests until `gregor resume`; what runs is finished."""

import argparse

from gregor.worker.commands import FINISHED, ordering


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Why, and whom to ask."""
    ordering.add_arguments(parser, why=True)


def run(arguments: argparse.Namespace) -> int:
    """Give the order."""
    ordering.ordered(arguments, "pause")
    return FINISHED
