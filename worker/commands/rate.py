"""`gregor rate HOST N`: the most requests a second of a host, a domain or the crawl; `none` takes it back."""

import argparse

from gregor.worker.commands import ordering


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Of what, how much, why, and whom to ask."""
    ordering.add_value(parser, "rate", "N")


def run(arguments: argparse.Namespace) -> int:
    """Give the order, or take it back."""
    return ordering.run_value(arguments, "rate")
