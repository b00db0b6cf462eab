"""The server of the API, in the event loop of what it reads, which so changes only between two steps."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Final, cast

import uvicorn

from gregor.worker.api import console, search_login, search_routes
from gregor.worker.api.access import Access
from gregor.worker.api.app import Gate, application
from gregor.worker.api.backend import Backend
from gregor.worker.api.connection import Connection
from gregor.worker.base.errors import BadInput, why
from gregor.worker.base.tasks import cancel
from gregor.worker.config.api import address, token
from gregor.worker.config.settings import Config
from gregor.worker.observe.logging import Log
from gregor.worker.operate import about

_LOG = Log("api")
_FAREWELL: Final = 2
_STALLED: Final = 30_000
"""Milliseconds after which a connection ends whose reader takes nothing: it would keep its place for ever."""


class _Server(uvicorn.Server):
    """Leaves signals to the worker."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@asynccontextmanager
async def serving(
    config: Config, backend: Backend, environ: Mapping[str, str], ended: Callable[[], None]
) -> AsyncIterator[str]:
    """Serve an API while the block runs; gives its URL. Raises `BadInput` when that cannot begin.

    ``ended`` is called when the server ends, also by itself: nobody could see or steer the process any more.
    """
    access = Access(
        token(config, "viewer", environ), token(config, "operator", environ), anonymous_read=config.anonymous_read
    )
    pages = {"/": console.response(console.page())}
    if config.about_path:
        pages[config.about_path] = console.response(about.page(config))
    searching = backend.archive.searching
    search_pages = [] if searching is None else search_routes.routes(searching, search_routes.BESIDE)
    beside = search_login.guarded(search_pages, access) if search_pages else []
    keeper = asyncio.create_task(backend.keep())
    keeper.add_done_callback(lambda _: ended())
    try:
        async with served(application(backend, access, config.api_rate, pages, beside), config, ended) as url:
            yield url
    finally:
        await cancel([keeper])


@asynccontextmanager
async def served(app: Gate, config: Config, ended: Callable[[], None]) -> AsyncIterator[str]:
    """Serve an application where the config says, while the block runs; gives its URL. As `serving` else."""
    listener = listening(config)
    host, port = listener.getsockname()[:2]
    url = f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"
    server = _Server(
        uvicorn.Config(
            app,
            http=cast(Any, partial(Connection, app.full)),
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="error",  # what is no request is the client's fault, and must not fill the log
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=_FAREWELL,
            h11_max_incomplete_event_size=16384,
        )
    )
    task = asyncio.create_task(server.serve([listener]))
    task.add_done_callback(lambda _: ended())
    _LOG.info("listening", url=url)
    try:
        yield url
    finally:
        server.should_exit = True
        await task


def listening(config: Config) -> socket.socket:
    """A socket that listens where the config says. Raises `BadInput` when that cannot be."""
    try:
        family, kind, *_, where = socket.getaddrinfo(*address(config), type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _STALLED)  # accepted ones inherit it
            listener.bind(where)
            listener.listen()  # whoever comes before the loop accepts waits in the queue
        except OSError:
            listener.close()
            raise
    except OSError as error:
        raise BadInput(f"listen {config.listen}: {why(error)}") from None
    return listener
