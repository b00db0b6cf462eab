"""Puts together the process that serves the console of a crawl, without being one of its workers."""

import asyncio
from collections.abc import Callable
from contextlib import ExitStack

from gregor.worker.api import opening
from gregor.worker.compose.engine import engine_of
from gregor.worker.compose.process import SystemClock, console_line, tokens_are_there, worker_name
from gregor.worker.config.settings import Config
from gregor.worker.observe import logging


async def console(config: Config, stop: asyncio.Event, started: Callable[[str], None]) -> None:
    """Serve the console and the API of a crawl on servers, or of a data folder, until `stop`.

    ``started`` gets a line that says where. Raises `BadInput`, `Unavailable`, and what ended the coordinator.
    """
    tokens_are_there(config)
    engine_of(config).there()  # before anything is written there
    config = opening.with_token(config)
    name = f"console-{worker_name()}"
    logging.identify(config.crawl, name)
    with ExitStack() as stack:

        def tell(url: str) -> None:
            stack.enter_context(opening.announced(config, url))
            started(console_line(config, url))

        await engine_of(config).serve_console(name, SystemClock(), stop, tell)
