"""Stands before a node of OpenSearch, as its security plugin or a proxy would: users, TLS; and can be away."""

import asyncio
import base64
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.cluster.servers.certificates import CA_FILE, SERVER_FILE, write_certificates
from tests.cluster.servers.process import free_ports

_REFUSED = b"HTTP/1.1 401 Unauthorized\r\ncontent-length: 12\r\nconnection: close\r\n\r\nUnauthorized"


class Front:
    """Hands connections on to a node while it is open, requests of ``user`` alone if there is one."""

    def __init__(self, node: str, folder: Path, *, user: str = "", password: str = "", tls: bool = False) -> None:
        self._node = node
        self.port = free_ports(1)[0]
        self.allowed = f"Basic {base64.b64encode(f'{user}:{password}'.encode()).decode()}".encode() if user else b""
        self.ca_file = folder / CA_FILE
        self._context: ssl.SSLContext | None = None
        if tls:
            write_certificates(folder)
            self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._context.load_cert_chain(folder / SERVER_FILE)
        self._loop = asyncio.new_event_loop()
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def begin(self) -> None:
        """Be there."""
        asyncio.run_coroutine_threadsafe(self._begin(), self._loop).result()

    def end(self) -> None:
        """Be away: connections end, and none is taken."""
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()

    def close(self) -> None:
        self.end()
        self._loop.call_soon_threadsafe(self._loop.stop)

    async def _begin(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port, ssl=self._context)

    async def _end(self) -> None:
        if self._server is not None:
            self._server.close()
        for writer in [*self._open]:
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        host, _, port = self._node.rpartition(":")
        opened = [writer]
        self._open.add(writer)
        try:
            behind, to = await asyncio.open_connection(host, int(port))
            opened.append(to)
            self._open.add(to)
            back = asyncio.create_task(_copy(behind, writer))
            while head := await reader.readuntil(b"\r\n\r\n"):
                if self.allowed and self.allowed not in head:
                    writer.write(_REFUSED)
                    await writer.drain()
                    break
                size = next(
                    (int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0
                )
                to.write(head + (await reader.readexactly(size) if size else b""))
                await to.drain()
            back.cancel()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            for stream in opened:
                stream.close()
                self._open.discard(stream)


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    while data := await source.read(65536):
        target.write(data)
        await target.drain()


@contextmanager
def front(node: str, folder: Path, *, user: str = "", password: str = "", tls: bool = False) -> Iterator[Front]:
    """One that is there."""
    made = Front(node, folder, user=user, password=password, tls=tls)
    made.begin()
    try:
        yield made
    finally:
        made.close()
