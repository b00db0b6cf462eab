"""`gregor delay HOST SECONDS`: the least time between two requests to a host; `none` takes the order back.

It never makes a crawl less polite: a longer delay that the settings or a robots.txt ask for stays.
"""

import argparse

from gregor.worker.commands import ordering


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Of what, how much, why, and whom to ask."""
    ordering.add_value(parser, "delay", "SECONDS")


def run(arguments: argparse.Namespace) -> int:
    """Give the order, or take it back."""
    return ordering.run_value(arguments, "delay")
