"""An HTTP/2 server of a few frames (RFC 9113), which answers or resets streams as a test says; HTTP/1.1 beside it."""

import asyncio
import ssl
from collections.abc import Callable
from typing import Self

import trustme

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING = 0, 1, 3, 4, 6
END_STREAM = ACK = 1
END_HEADERS = 4
STATUS_200 = b"\x88"  # an entry of HPACK's static table (RFC 7541 appendix A)
INTERNAL_ERROR, REFUSED_STREAM, CANCEL, HTTP_1_1_REQUIRED = 2, 7, 8, 13


class Http2Server:
    """Answers each stream with 200, or resets it with the code that `resets` gives for its number among all streams.

    `spoke` has the protocol of each request that came, in order.
    """

    def __init__(self, authority: trustme.CA, resets: Callable[[int], int | None]) -> None:
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert("site.test", "other.test").configure_cert(self._context)
        self._context.set_alpn_protocols(["h2", "http/1.1"])
        self._resets = resets
        self.spoke: list[str] = []
        self.port = 0

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._context)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *error: object) -> None:
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if writer.get_extra_info("ssl_object").selected_alpn_protocol() == "h2":
                await self._frames(reader, writer)
            else:
                await self._lines(reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            return
        finally:
            writer.close()

    async def _lines(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.readuntil(b"\r\n\r\n"):
            self.spoke.append("http/1.1")
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none")
            await writer.drain()

    async def _frames(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(len(PREFACE))
        writer.write(_frame(SETTINGS, 0, 0))
        while True:
            head = await reader.readexactly(9)
            payload = await reader.readexactly(int.from_bytes(head[:3], "big"))
            kind, flags, stream = head[3], head[4], int.from_bytes(head[5:], "big")
            if kind == SETTINGS and not flags & ACK:
                writer.write(_frame(SETTINGS, ACK, 0))
            elif kind == PING and not flags & ACK:
                writer.write(_frame(PING, ACK, 0, payload))
            elif kind == HEADERS:
                self._answer(writer, stream)
            await writer.drain()

    def _answer(self, writer: asyncio.StreamWriter, stream: int) -> None:
        code = self._resets(len(self.spoke))
        self.spoke.append("h2")
        if code is not None:
            writer.write(_frame(RST_STREAM, 0, stream, code.to_bytes(4, "big")))
            return
        writer.write(_frame(HEADERS, END_HEADERS, stream, STATUS_200) + _frame(DATA, END_STREAM, stream, b"two"))


def _frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload
