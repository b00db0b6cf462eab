"""A small HTTP/1.1 server protocol: GET and HEAD, keep-alive, pipelining, bounded heads; cheap per request."""

import asyncio
from collections.abc import Callable
from typing import cast

MAX_HEAD = 65536
"""Bytes of a request head; a longer one is answered with 431 and the connection closed."""

WireAnswer = tuple[bytes, bytes]
"""Head (with its blank line) and body of one response."""

Site = Callable[[str, str], WireAnswer]
"""(authority in lower case, raw request target) → what is sent."""


def plain(status: str, text: str) -> WireAnswer:
    """A short text answer, e.g. `plain("404 Not Found", "not here\\n")`."""
    body = text.encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode(), body


class HttpProtocol(asyncio.Protocol):
    """One connection. Answers wait while the client doesn't read, so a connection holds one answer at most."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._pending = b""
        self._writable = True
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's own classes don't derive from it

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None

    def pause_writing(self) -> None:
        self._writable = False
        if self._transport is not None:
            self._transport.pause_reading()

    def resume_writing(self) -> None:
        self._writable = True
        self._serve()
        if self._transport is not None and self._writable:
            self._transport.resume_reading()

    def data_received(self, data: bytes) -> None:
        self._pending += data
        self._serve()

    def _serve(self) -> None:
        while self._transport is not None and self._writable:
            head, blank, rest = self._pending.partition(b"\r\n\r\n")
            if len(head) > MAX_HEAD:
                self._end(plain("431 Request Header Fields Too Large", "head too large\n"))
            elif blank:
                self._pending = rest
                self._answer(head)
            else:
                return

    def _answer(self, head: bytes) -> None:
        assert self._transport is not None
        lines = head.decode("latin-1").split("\r\n")
        parts = lines[0].split(" ")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        if len(parts) != 3 or parts[0] not in ("GET", "HEAD") or headers.get("content-length", "0") != "0":
            self._end(plain("400 Bad Request", "GET and HEAD only\n"))
            return
        answer_head, body = self._site(headers.get("host", "").lower(), parts[1])
        self._transport.write(answer_head if parts[0] == "HEAD" else answer_head + body)
        if headers.get("connection", "").lower() == "close" or parts[2] == "HTTP/1.0":
            self._transport.close()
            self._transport = None

    def _end(self, answer: WireAnswer) -> None:
        assert self._transport is not None
        self._transport.write(b"".join(answer))
        self._transport.close()
        self._transport = None
