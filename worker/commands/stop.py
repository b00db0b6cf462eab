"""`gregor stop`: end a worker cleanly by way of its API; nothing is lost."""

import argparse

from gregor.worker.base.errors import BadInput
from gregor.worker.commands import FINISHED, ordering
from gregor.worker.commands.common import settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Why, and whom to ask."""
    ordering.add_arguments(parser, why=True)


def run(arguments: argparse.Namespace) -> int:
    """Ask it to."""
    body = {"who": ordering.by(arguments).who, "why": arguments.why}
    try:
        ordering.ask(arguments, settings(arguments).config, "POST", "/api/v1/stop", body)
    except ordering.NotThere as error:
        raise BadInput(f"{error}; without an API, send the worker's process SIGTERM: that is the same") from None
    return FINISHED
