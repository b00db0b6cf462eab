"""`gregor console`: console and API of a whole crawl on servers, or of a data folder; it crawls nothing itself."""

import argparse
import asyncio

from gregor.worker.base.errors import BadInput, complain
from gregor.worker.commands import FINISHED
from gregor.worker.commands.common import DATA, Flag, add_settings, settings
from gregor.worker.config.settings import Config
from gregor.worker.observe import logging
from gregor.worker.run.signals import stopping

FLAGS = (
    *DATA,
    Flag("--listen", "listen", "ADDRESS:PORT"),
    Flag("--viewer-token-file", "viewer_token_file", "FILE"),
    Flag("--operator-token-file", "operator_token_file", "FILE"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Where it listens, and settings."""
    add_settings(parser, FLAGS)


def run(arguments: argparse.Namespace) -> int:
    """Serve until a signal or an order to stop."""
    config = settings(arguments).config
    if not config.listen:
        raise BadInput("say where the console listens: --listen 127.0.0.1:9100")
    logging.configure(config.log_level, config.log_format, config.log_file)
    asyncio.run(_serve(config))
    return FINISHED


async def _serve(config: Config) -> None:
    from gregor.worker.compose import console

    stop = asyncio.Event()
    with stopping(stop.set, lambda: None, FINISHED):
        await console.console(config, stop, lambda line: complain(line, "info"))
