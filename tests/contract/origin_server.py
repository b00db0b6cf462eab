"""A web server that says exactly what a test tells it to say, byte for byte, over http and https on loopback."""

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

import trustme


class Talk:
    """One request as it was received, and the means to answer it."""

    def __init__(self, head: bytes, connection: int, writer: asyncio.StreamWriter) -> None:
        self.head = head
        self.connection = connection
        self.sent = 0
        self._writer = writer

    @property
    def target(self) -> str:
        """The raw request target."""
        return self.head.split(b" ", 2)[1].decode("latin-1")

    @property
    def header_lines(self) -> list[str]:
        """The header lines as received."""
        return self.head.decode("latin-1").split("\r\n")[1:-2]

    async def send(self, data: bytes) -> None:
        """Write and wait until the peer's window took it (up to a small buffer)."""
        self._writer.write(data)
        self.sent += len(data)
        await self._writer.drain()

    def close(self) -> None:
        """End the connection in order."""
        self._writer.close()

    def reset(self) -> None:
        """Break the connection off."""
        self._writer.transport.abort()


Script = Callable[[Talk], Awaitable[None]]


class Origin:
    """Serves scripts by request target on one http and one https port; `received` has every request."""

    def __init__(self, names: tuple[str, ...] = ("site.test", "127.0.0.1")) -> None:
        self.received: list[Talk] = []
        self.connections = 0
        self.authority = trustme.CA()
        self._certificate = self.authority.issue_cert(*names)
        self._scripts: dict[str, Script] = {}
        self._stack = AsyncExitStack()
        self._talking: set[asyncio.Task[None]] = set()
        self.port = self.tls_port = 0

    async def __aenter__(self) -> Self:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._certificate.configure_cert(context)
        plain = await self._stack.enter_async_context(await asyncio.start_server(self._serve, "127.0.0.1", 0))
        secure = await self._stack.enter_async_context(
            await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=context)
        )
        self.port, self.tls_port = (server.sockets[0].getsockname()[1] for server in (plain, secure))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for task in self._talking:
            task.cancel()
        await asyncio.gather(*self._talking, return_exceptions=True)
        await self._stack.aclose()

    def write_ca(self, folder: Path) -> Path:
        """The certificate authority as a PEM file."""
        path = folder / "ca.pem"
        self.authority.cert_pem.write_to_path(path)
        return path

    def script(self, target: str, script: Script) -> None:
        """Let `script` answer requests to `target`."""
        self._scripts[target] = script

    def raw(self, target: str, answer: bytes, *, close: bool = True) -> None:
        """Answer with these bytes, then close the connection or wait for the next request."""

        async def say(talk: Talk) -> None:
            await talk.send(answer)
            if close:
                talk.close()

        self.script(target, say)

    def page(self, target: str, body: bytes = b"", *headers: str, status: int = 200) -> None:
        """A well-formed answer that keeps the connection."""
        lines = [f"HTTP/1.1 {status} Status", f"Content-Length: {len(body)}", *headers, "", ""]
        self.raw(target, "\r\n".join(lines).encode("latin-1") + body, close=False)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._talking.add(task)
        task.add_done_callback(self._talking.discard)
        writer.transport.set_write_buffer_limits(high=1024)
        self.connections += 1
        connection = self.connections
        try:
            while not writer.is_closing():
                talk = Talk(await reader.readuntil(b"\r\n\r\n"), connection, writer)
                self.received.append(talk)
                await self._scripts[talk.target](talk)
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()
