"""The standard library's HTTP/1 response with a head parser that takes what browsers take, and caps."""

import http.client
import socket
import ssl
from collections.abc import Callable
from http.client import HTTPMessage
from typing import Any, NoReturn

from gregor.worker.adapters.transport.framing import Dechunker, Framing, framing, tokens
from gregor.worker.adapters.transport.http1 import Head, parse_head, parse_status_line
from gregor.worker.borders.transport import Limits


class HeadTooLargeError(Exception):
    """More header lines or bytes than the limits allow, interim answers included."""


class TolerantResponse(http.client.HTTPResponse):
    """After `begin`, `head`, `framing` and `raw_head` hold what was received."""

    head: Head
    framing: Framing
    raw_head: bytes

    def __init__(
        self, limits: Limits, on_line: Callable[[], None], sock: socket.socket, *args: Any, **kwargs: Any
    ) -> None:
        """`on_line` is called at each line of a head."""
        super().__init__(sock, *args, **kwargs)
        self._limits = limits
        self._on_line = on_line
        self._socket = sock

    def begin(self) -> None:
        """Read the head of the final answer. MalformedHeadError, HeadTooLargeError, ConnectionError, OSError."""
        if self.headers is not None:
            return
        self.raw_head, self.head = self._read_final_head()
        head = self.head
        self.code = self.status = head.status
        self.reason = head.reason
        self.version = 10 if head.version == "HTTP/1.0" else 11
        self._frame(head)

    def _read_final_head(self) -> tuple[bytes, Head]:
        limits = self._limits
        count = size = 0
        lines: list[bytes] = []
        while True:
            line = self.fp.readline(limits.max_header_bytes - size + 1)
            self._on_line()
            count += 1
            size += len(line)
            if size > limits.max_header_bytes or count > limits.max_header_count:
                raise HeadTooLargeError
            if not line.endswith(b"\n"):
                raise http.client.RemoteDisconnected("the connection ended inside the head")
            blank = not line.strip(b"\r\n")
            if not blank or lines:
                lines.append(line)
            if len(lines) == 1:
                parse_status_line(line.decode("latin-1"))  # what is not HTTP may go on for ever
            elif blank and lines:
                head = parse_head(b"".join(lines))
                if head.status >= 200:
                    return b"".join(lines), head
                lines = []  # an interim answer; its lines stay counted

    def _frame(self, head: Head) -> None:
        """Where the body ends. Only this is told to the layers above, by `headers`."""
        self.headers = self.msg = headers = HTTPMessage()
        self.framing = framing(head)
        self.chunked, self.length, _ = self.framing
        self._chunks = Dechunker()
        if self.chunked:
            headers["Transfer-Encoding"] = "chunked"
        elif self.length is not None:
            headers["Content-Length"] = str(self.length)
        options = tokens(head, "connection")
        persistent = "close" not in options and (self.version == 11 or "keep-alive" in options)
        both = self.chunked and bool(tokens(head, "content-length"))
        self.will_close = both or not persistent or (self.length is None and not self.chunked)

    def _read1_chunked(self, n: int) -> bytes:
        """Data of the chunks that are there; empty at their end.

        The standard library takes whatever `int` takes for a size, any two bytes for the end of a chunk, and long over
        small ones.
        """
        chunks = self._chunks
        while not chunks.done:
            piece = self.fp.peek(1)
            if chunks.broken or not piece:
                self._lose_chunks()
            data = chunks.feed(piece)
            self.fp.read(len(piece) - chunks.trailer)  # what comes after the last chunk is read line by line
            if data:
                return data
        if not self.isclosed():
            self._read_and_discard_trailer()
            self._close_conn()
        return b""

    def _read_and_discard_trailer(self) -> None:
        room = self._limits.max_header_bytes
        while room > 0 and (line := self.fp.readline(room)) not in (b"\r\n", b"\n", b""):
            room -= len(line)

    def _lose_chunks(self) -> NoReturn:
        self.will_close = True
        self._close_conn()
        raise http.client.IncompleteRead(b"")

    def _close_conn(self) -> None:
        # A connection with unread bytes is never used again (RFC 9112 section 9.3.2): they would pass for an answer.
        if not self.will_close and self._has_unread():
            shut_down(self._socket)
        super()._close_conn()  # type: ignore[misc]

    def _has_unread(self) -> bool:
        try:
            self._socket.settimeout(0)
            return bool(self.fp.peek(1))
        except ssl.SSLWantReadError:
            return False
        except (OSError, ValueError):
            return True


def shut_down(connection: socket.socket) -> None:
    """End a connection that another thread may be reading from; it sees the end of the stream."""
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        return  # ended already
