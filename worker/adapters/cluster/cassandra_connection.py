"""The driver's connections on the event loop of who asks.

The driver's own kinds have a thread beside it: each request then wakes that thread, each answer wakes the loop again,
and between them the interpreter changes hands.
"""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

from cassandra.connection import Connection, ConnectionShutdown


class LoopConnection(Connection, asyncio.Protocol):  # type: ignore[misc]  # the driver has no types
    """A connection of the loop that `connections_on` names. Opened on threads of the driver only; it waits there.

    It may be used and closed on any thread. Answers come on the loop's.
    """

    loop: asyncio.AbstractEventLoop
    thread: int
    is_closed: bool

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._connect_socket()
        opening = asyncio.run_coroutine_threadsafe(self._open(), self.loop)
        try:
            self._transport = opening.result(self.connect_timeout)
        finally:
            opening.cancel()
        self._send_options_message()

    @classmethod
    def create_timer(cls, timeout: float, callback: Callable[[], None]) -> "_Timer":
        """Call it after so many seconds. On any thread."""
        timer = _Timer(callback)
        cls.on_loop(cls.loop.call_later, timeout, timer)
        return timer

    @classmethod
    def on_loop(cls, call: Callable[..., object], *args: Any) -> None:
        """Call it on the loop, soon; nowhere once the loop is closed."""
        if threading.get_ident() == cls.thread:
            cls.loop.call_soon(call, *args)
        elif not cls.loop.is_closed():
            cls.loop.call_soon_threadsafe(call, *args)

    def push(self, data: bytes) -> None:
        """Send; in the order of the calls of a thread."""
        if threading.get_ident() == self.thread:
            self._transport.write(data)
        else:
            self.on_loop(self._transport.write, data)

    def close(self) -> None:
        """What is in flight fails. May be repeated."""
        with self.lock:
            if self.is_closed:
                return
            self.is_closed = True
        self.on_loop(self._transport.abort)
        if not self.is_defunct:
            self.error_all_requests(ConnectionShutdown(f"Connection to {self.endpoint} was closed"))

    def data_received(self, data: bytes) -> None:
        """Answers, or parts of them."""
        self._iobuf.write(data)
        self.process_io_buffer()

    def connection_lost(self, exc: Exception | None) -> None:
        """The other side is away, or this one has closed."""
        self.defunct(exc or ConnectionShutdown(f"Connection to {self.endpoint} was closed by it"))

    def _wrap_socket_from_context(self) -> Any:
        """What the driver connects; TLS is the loop's."""
        return self._socket

    async def _open(self) -> asyncio.Transport:
        # Where no name is checked none is sent either.
        name = None if self.ssl_context is None else self.endpoint.address if self.ssl_context.check_hostname else ""
        transport, _ = await self.loop.create_connection(
            lambda: self, sock=self._socket, ssl=self.ssl_context, server_hostname=name
        )
        return transport


class _Timer:
    """A call that can be cancelled, on any thread, as long as it was not made."""

    def __init__(self, call: Callable[[], None]) -> None:
        self._call: Callable[[], None] | None = call

    def __call__(self) -> None:
        if (call := self._call) is not None:
            call()

    def cancel(self) -> None:
        """Do not call."""
        self._call = None


def connections_on(loop: asyncio.AbstractEventLoop) -> type[LoopConnection]:
    """The driver's ``connection_class`` for a loop. Called on the loop's thread."""
    return type("LoopConnection", (LoopConnection,), {"loop": loop, "thread": threading.get_ident()})
