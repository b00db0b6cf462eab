"""`gregor stop`: end a worker cleanly by way of its API; nothing is lost."""

import argparse

from gregor.worker.base.errors import BadInput
from gregor.worker.commands import FINISHED, api_client
from gregor.worker.commands.common import settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Why, and whom to ask."""
    api_client.add_arguments(parser, why=True)


def run(arguments: argparse.Namespace) -> int:
    """Ask it to."""
    body = {"who": api_client.by(arguments).who, "why": arguments.why}
    try:
        api_client.ask(arguments, settings(arguments).config, "POST", "/api/v1/stop", body)
    except api_client.NotThere as error:
        raise BadInput(f"{error}; without an API, send the worker's process SIGTERM: that is the same") from None
    return FINISHED
