"""The standard library's HTTP/1 response with a head parser that takes what browsers take, and caps."""

import http.client
import socket
import ssl
from http.client import HTTPMessage
from typing import Any

from gregor.worker.adapters.transport.http1 import Head, MalformedHeadError, parse_head, parse_status_line
from gregor.worker.transport import Limits


class HeadTooLargeError(Exception):
    """More header lines or bytes than the limits allow, interim answers included."""


class TolerantResponse(http.client.HTTPResponse):
    """After `begin`, `head` and `raw_head` hold what was received."""

    head: Head
    raw_head: bytes

    def __init__(self, limits: Limits, sock: socket.socket, *args: Any, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        self._limits = limits
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
        """Where the body ends (RFC 9112 section 6.3). Only this is told to the layers above, by `headers`."""
        self.headers = self.msg = framing = HTTPMessage()
        codings = _tokens(head, "transfer-encoding")
        lengths = set(_tokens(head, "content-length"))
        options = _tokens(head, "connection")
        self.chunked = codings[-1:] == ["chunked"]
        self.chunk_left = None
        self.length = None
        if len(codings) > 1 or (codings and not self.chunked):
            raise MalformedHeadError("unknown transfer coding")
        if self.chunked:
            framing["Transfer-Encoding"] = "chunked"
        elif head.status in (204, 304):
            self.length = 0
        elif len(lengths) > 1:
            raise MalformedHeadError("Content-Length lines that contradict each other")
        elif lengths and (text := lengths.pop()).isascii() and text.isdigit() and len(text) < 19:
            # A length that is no number is ignored, as browsers do: the body then ends with the connection.
            self.length = int(text)
            framing["Content-Length"] = text
        persistent = "close" not in options and (self.version == 11 or "keep-alive" in options)
        both = self.chunked and bool(lengths)
        self.will_close = both or not persistent or (self.length is None and not self.chunked)

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


def _tokens(head: Head, name: str) -> list[str]:
    """The lower-case items of a list header."""
    values = (value for key, value in head.headers if key.lower() == name)
    return [item.strip().lower() for value in values for item in value.split(",") if item.strip()]
