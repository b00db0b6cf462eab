"""Puts together the process that serves the console of a crawl, without being one of its workers."""

import asyncio
from collections.abc import Callable

from gregor.worker.compose.engine import engine_of
from gregor.worker.compose.process import SystemClock, tokens_are_there, worker_name
from gregor.worker.config.settings import Config
from gregor.worker.observe import logging


async def console(config: Config, stop: asyncio.Event, started: Callable[[str], None]) -> None:
    """Serve the console and the API of a crawl on servers, or of a data folder, until `stop`; `started` gets its URL.

    Raises `BadInput`, `Unavailable`, and what ended the coordinator.
    """
    tokens_are_there(config)
    name = f"console-{worker_name()}"
    logging.identify(config.crawl, name)
    await engine_of(config).serve_console(name, SystemClock(), stop, started)
