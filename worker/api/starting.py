"""What listens before the API can: while servers are waited for, whoever probes the process is told which is away.

The API needs the servers. Until it is there every request gets 503 and the `Health` of `/healthz`, which names no more
than the service: it is read without a token.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final, cast

import msgspec

from gregor.worker.api.endpoints import Health
from gregor.worker.api.serving import listening
from gregor.worker.borders.errors import Unavailable
from gregor.worker.config.settings import Config

_HEAD: Final = "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nContent-Length: {}\r\n"


class _Refusal(asyncio.Protocol):
    """Answers whatever is asked, and ends the connection."""

    def __init__(self, answer: Callable[[], bytes], open_: set[asyncio.Transport]) -> None:
        self._answer, self._open = answer, open_

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is none by name
        self._open.add(self._transport)

    def data_received(self, data: bytes) -> None:
        if not self._transport.is_closing():
            self._transport.write(self._answer())
            self._transport.close()

    def connection_lost(self, error: Exception | None) -> None:
        self._open.discard(self._transport)


@asynccontextmanager
async def starting(config: Config) -> AsyncIterator[Callable[[Unavailable], None]]:
    """Listen while the block runs; gives what is to be told of each server that is away. Raises `BadInput`."""
    detail = "starting"

    def away(error: Unavailable) -> None:
        nonlocal detail
        detail = f"{error.service} is away"

    def answer() -> bytes:
        body = msgspec.json.encode(Health(False, detail))
        return f"{_HEAD.format(len(body))}Connection: close\r\n\r\n".encode() + body

    connections: set[asyncio.Transport] = set()
    server = await asyncio.get_running_loop().create_server(
        lambda: _Refusal(answer, connections), sock=listening(config)
    )
    try:
        yield away
    finally:
        server.close()
        for connection in list(connections):
            connection.abort()
