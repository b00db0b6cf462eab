"""The API and the console of a crawl by several processes: all of them as one."""

import os
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from gregor.worker.api import opening
from gregor.worker.api.crawl_backend import backend_of
from gregor.worker.api.serving import serving
from gregor.worker.compose.open_folder import OpenFolder
from gregor.worker.compose.process import SystemClock, console_line, worker_name
from gregor.worker.compose.stored_crawl import stored_crawl
from gregor.worker.config.settings import Config
from gregor.worker.operate.control import Control

if TYPE_CHECKING:
    from gregor.worker.compose.processes import Processes


@asynccontextmanager
async def serving_all(
    config: Config, engine: OpenFolder, processes: "Processes", tell: Callable[[str], None]
) -> AsyncIterator[None]:
    """Serve it while the block runs. Raises `BadInput`."""
    clock = SystemClock()
    async with AsyncExitStack() as stack:
        reader = await engine.reader(stack)
        archive = stored_crawl(config, reader, clock)
        control = Control(engine.log, engine.store, engine.coordinator, reader)
        backing = backend_of(
            config,
            worker_name(),
            engine.coordinator,
            clock,
            archive,
            control,
            processes.members,
            lambda: processes.stop("by order"),
        )
        backend = stack.enter_context(backing)
        url = await stack.enter_async_context(
            serving(config, backend, os.environ, lambda: processes.stop("because its API ended"))
        )
        stack.enter_context(opening.announced(config, url))
        tell(console_line(config, url))
        yield
