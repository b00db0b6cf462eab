"""Puts together the process that serves the console of a crawl, without being one of its workers."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from gregor.worker.adapters import embedded
from gregor.worker.borders.clock import Clock
from gregor.worker.compose.beside import controlled
from gregor.worker.compose.engines import (
    SystemClock,
    engine_of_a_server,
    made_for,
    reading_folder,
    tokens_are_there,
    worker_name,
)
from gregor.worker.config.settings import Config
from gregor.worker.frontier.counts import total
from gregor.worker.links.configured import urls_of
from gregor.worker.observe import logging
from gregor.worker.operate.control import Control, FolderControl
from gregor.worker.web.urls import Urls


async def console(config: Config, stop: asyncio.Event, started: Callable[[str], None]) -> None:
    """Serve the console and the API of a crawl on servers, or of a data folder, until `stop`; `started` gets its URL.

    Raises `BadInput`, `Unavailable`, and what ended the coordinator.
    """
    from gregor.worker.api.archive import Archive
    from gregor.worker.api.crawl_backend import serve

    tokens_are_there(config)
    name, clock = f"console-{worker_name()}", SystemClock()
    logging.identify(config.crawl, name)
    if config.engine == "embedded":
        await _folder_console(config, name, clock, stop, started)
        return
    engine = await engine_of_a_server(config)
    try:
        assert not isinstance(engine, embedded.EmbeddedEngine)
        control = Control(engine.log, engine.store, engine.coordinator, engine.reader)
        archive = Archive(engine.reader, urls_of(config), config)
        coordinator = engine.coordinator

        async def counts() -> dict[str, int]:
            return total([record.counts async for record in engine.reader.partitions()])

        await serve(config, name, coordinator, clock, archive, control, coordinator.members, counts, stop, started)
    finally:
        await engine.close()


async def _folder_console(
    config: Config, name: str, clock: Clock, stop: asyncio.Event, started: Callable[[str], None]
) -> None:
    """Beside a crawl or after it: the folder is taken only while something is changed that is no order."""
    from gregor.worker.api.archive import Archive
    from gregor.worker.api.folder_backend import FolderBackend, serve

    made, rules = made_for(config)
    async with reading_folder(config) as reader:
        archive = Archive(reader, Urls(rules, max_length=config.max_url_length), made)
        book = embedded.FolderBook(Path(config.data), clock)
        control = FolderControl(book, lambda: controlled(config))
        desk = FolderBackend(name, made, book, clock, archive, control, settled=reader.settled, stop=stop.set)
        await serve(config, desk, stop, started)
