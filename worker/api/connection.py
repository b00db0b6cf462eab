"""A connection to the API: the server's own, bounded in what it holds and in how long it waits for a request's head.

When more is asked than is answered, the refusal costs almost nothing: it is told from the bytes as they came.
"""

import asyncio
from collections.abc import Callable
from typing import Any, Final, cast

import h11
from starlette.responses import Response
from uvicorn.protocols.http.h11_impl import H11Protocol

from gregor.worker.api import problems
from gregor.worker.api.problems import Problem

PATIENCE: Final = 10.0
"""Seconds within which the head of a request must be there, counted from the connection's begin or the last answer."""
MOST: Final = 400
"""Connections at once; a further one takes the place of the one that has asked nothing for longest."""
_TOO_MANY: Final = problems.response(problems.too_many())
_LATE: Final = problems.response(Problem(408, f"The head did not come within {PATIENCE:g} seconds."))
_BROKEN: Final = problems.response(Problem(400, "This is no HTTP/1.1 request, or its head is too large."))
_FRAMING: Final = (b"content-length", b"transfer-encoding", b"connection: close", b"expect:")
"""What makes a head more than a plain question: a body, or how the connection goes on."""


class _Joined:
    """A transport that sends what is written in one step of the loop at once: head and body of an answer."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._waits: list[bytes] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Soon."""
        if not self._waits:
            self._loop.call_soon(self._flush)
        self._waits.append(data)

    def close(self) -> None:
        """When all is sent."""
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        if self._waits:
            data, self._waits = b"".join(self._waits), []
            self._transport.write(data)


class Connection(H11Protocol):
    """One client's. ``full`` tells whether nothing more is answered at this moment."""

    def __init__(self, full: Callable[[], bool], **more: Any) -> None:
        super().__init__(**more)
        self._full = full
        self._since = self.loop.time()
        self._watch: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a head, in the place of another if need be."""
        super().connection_made(cast(asyncio.Transport, _Joined(transport, self.loop)))
        self._watch = self.loop.call_later(PATIENCE, self._look)
        if len(self.connections) > MOST:
            idle = [
                connection
                for connection in self.connections
                if isinstance(connection, Connection) and connection.waits()
            ]
            min(idle, key=lambda connection: connection._since, default=self).transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        if self._watch is not None:
            self._watch.cancel()
        super().connection_lost(exc)

    def waits(self) -> bool:
        """Whether it has no request whose head is there."""
        return self.conn.their_state is h11.IDLE

    def data_received(self, data: bytes) -> None:
        """Refuse at once what is refused anyway, else parse it."""
        if self._full() and self._is_plain(data):
            self.transport.write(self._encoded(_TOO_MANY))
            self.on_response_complete()
        else:
            super().data_received(data)

    def on_response_complete(self) -> None:
        """The wait for the next head begins."""
        self._since = self.loop.time()
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        """In the form of every other refusal."""
        self._end(_BROKEN)

    def _is_plain(self, data: bytes) -> bool:
        """Whether this is one whole GET without a body, not for /healthz, on a connection that waits for one."""
        if not data.startswith(b"GET /") or data.find(b"\r\n\r\n") != len(data) - 4 or data.startswith(b"GET /healthz"):
            return False
        head = data.lower()
        return (
            b" http/1.1\r\n" in head
            and not any(name in head for name in _FRAMING)
            and self.waits()
            and not self.conn.trailing_data[0]
            and not self.flow.write_paused  # who takes no answers gets no more of them
        )

    def _look(self) -> None:
        """End a wait that lasts too long."""
        left = self._since + PATIENCE - self.loop.time() if self.waits() else PATIENCE
        if left > 0.0:
            self._watch = self.loop.call_later(left, self._look)
        elif self.conn.trailing_data[0]:
            self._end(_LATE)
        else:
            self.transport.close()

    def _end(self, answer: Response) -> None:
        self.transport.write(self._encoded(answer, (b"connection", b"close")))
        self.transport.close()

    def _encoded(self, answer: Response, *more: tuple[bytes, bytes]) -> bytes:
        headers = (*self.server_state.default_headers, *answer.raw_headers, *problems.EVERY, *more)
        lines = b"".join(b"%s: %s\r\n" % pair for pair in headers)
        return b"HTTP/1.1 %d \r\n%s\r\n%s" % (answer.status_code, lines, answer.body)
