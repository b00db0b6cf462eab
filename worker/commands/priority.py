"""`gregor priority HOST N`: the priority of what is found of a host or domain; `none` takes the order back."""

import argparse

from gregor.worker.commands import ordering


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Of what, how much, why, and whom to ask."""
    ordering.add_value(parser, "priority", "N")


def run(arguments: argparse.Namespace) -> int:
    """Give the order, or take it back."""
    return ordering.run_value(arguments, "priority")
