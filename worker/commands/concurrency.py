"""`gregor concurrency HOST N`: the most requests at once of a domain or the crawl; `none` takes the order back.

One host gets one request at a time, always.
"""

import argparse

from gregor.worker.commands import ordering


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Of what, how much, why, and whom to ask."""
    ordering.add_value(parser, "concurrency", "N")


def run(arguments: argparse.Namespace) -> int:
    """Give the order, or take it back."""
    return ordering.run_value(arguments, "concurrency")
