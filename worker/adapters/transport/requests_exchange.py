"""One request and its answer on a thread, over urllib3 connections that ask it where to go and what to send."""

import asyncio
import contextlib
import os
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from typing import Any

from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.contrib.socks import SOCKSConnection, SOCKSHTTPSConnection

from gregor.worker.adapters.transport.attempts import AddressGuard, ReadyRequest, Way
from gregor.worker.adapters.transport.http1 import fields, request_head
from gregor.worker.adapters.transport.pace import Pace
from gregor.worker.adapters.transport.tolerant import TolerantResponse, shut_down
from gregor.worker.base.errors import why
from gregor.worker.base.shortage import connect_shortage
from gregor.worker.borders.transport import Failure

FALLBACK_DELAY = 1.0
"""Seconds for an address while others are left; simple in place of RFC 8305's race."""

_here = threading.local()


class StopFetch(Exception):
    """Ends a fetch with `failure`; of no kind that urllib3 would take for an error of its own."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.detail)
        self.failure = failure


class RequestsExchange:
    """What connection and transport share of one attempt. `abort` may be called from any thread.

    It is made on the event loop, where the permit is told that the request is sent.
    """

    def __init__(
        self, job: ReadyRequest, way: Way, guard: AddressGuard, proxy_headers: tuple[tuple[str, str], ...]
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self.job, self.way, self.guard = job, way, guard
        self.proxied = job.request.proxy is not None
        self.head = request_head(job.target, job.fields)
        self.started_at = time.monotonic()
        self.pace = Pace(job.limits, self.started_at)
        self.answer: TolerantResponse | None = None
        self.address = ""
        self.asked = False
        self.sent_at = 0.0
        self.aborted: str | None = None
        self._proxy_headers = proxy_headers
        self._line: socket.socket | None = None

    @contextlib.contextmanager
    def on_this_thread(self) -> Iterator[None]:
        """The connections that this thread uses meanwhile serve this exchange."""
        _here.exchange = self
        try:
            yield
        finally:
            _here.exchange = None
            self.hold(None)

    def abort(self, reason: str) -> None:
        """End the attempt; the thread notices at its next step."""
        self.aborted = reason
        if (line := self._line) is not None:
            shut_down(line)

    def connect(self) -> socket.socket:
        """A connection to one of the way's addresses. StopFetch if there is none."""
        deadline = time.monotonic() + self.way.connect_seconds
        failure = Failure("connect", "no address")
        for number, address in enumerate(self.way.addresses, start=1):
            if not self.guard.allows(address, self.way.port):
                failure = Failure("refused_address", address)
                continue
            seconds = deadline - time.monotonic()
            if number < len(self.way.addresses):
                seconds = min(seconds / 2, FALLBACK_DELAY)
            try:
                connection = socket.create_connection((address, self.way.port), max(0.001, seconds))
            except TimeoutError:
                failure = Failure("timeout", f"no connection within {self.way.connect_seconds:g} s")
            except OSError as fault:
                lacking = connect_shortage(fault.errno or 0, address, self.way.port)
                failure = Failure("connect", why(fault)) if lacking is None else Failure("local", lacking)
            else:
                self.address = address
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                connection.settimeout(max(0.001, deadline - time.monotonic()))
                self.hold(connection)
                return connection
        raise StopFetch(failure)

    def before_request(self, connection: socket.socket) -> None:
        """Last thing before the request is written. StopFetch if it must not be."""
        self.hold(connection)
        assert self._line is not None
        peer = self._line.getpeername()  # a SOCKS connection would say what the proxy was asked for
        self.address = peer[0]
        if not self.leads_right(self._line):
            raise StopFetch(Failure("elsewhere", "the connection led elsewhere than to the host's addresses"))
        if isinstance(connection, ssl.SSLSocket):
            # An end that TLS did not announce is to be seen.
            connection.suppress_ragged_eofs = False  # type: ignore[attr-defined]
        if self.aborted is not None:
            raise StopFetch(Failure("timeout", self.aborted))
        permit = self.job.permit
        if not permit.allows():
            raise StopFetch(Failure("lease", "the lease ended before the request was sent"))
        self._loop.call_soon_threadsafe(permit.sent)  # what the loop hears of this attempt later, it hears after that
        self.asked = True
        self.sent_at = time.monotonic()
        self.pace.sent(self.sent_at)

    def leads_right(self, connection: socket.socket) -> bool:
        """Whether a connection goes where the request may go. A kept one of the host may be older than its address."""
        return self.proxied or self.way.leads_to(*connection.getpeername()[:2])

    def bytes_to_send(self, absolute: bool) -> bytes:
        """The request; a proxy for plain HTTP gets the absolute form (RFC 9112 section 3.2.2) and its own headers."""
        if not absolute:
            return self.head
        return request_head(self.job.target, fields(self.job.request.headers + self._proxy_headers), absolute=True)

    def hold(self, connection: socket.socket | None) -> None:
        """Keep a descriptor of our own to the connection: TLS moves it from one object to another meanwhile."""
        previous, self._line = self._line, socket.socket(fileno=os.dup(connection.fileno())) if connection else None
        if previous is not None:
            previous.close()
        if self.aborted is not None and self._line is not None:
            shut_down(self._line)


class _Served:
    """Mixed into urllib3's connections: the exchange of this thread decides."""

    response_class: Any

    def _new_conn(self) -> socket.socket:
        exchange: RequestsExchange = _here.exchange
        if not exchange.proxied:
            return exchange.connect()
        connection: socket.socket = super()._new_conn()  # type: ignore[misc]
        exchange.hold(connection)
        return connection

    def _send_output(self, message_body: object = None, encode_chunked: bool = False) -> None:
        exchange: RequestsExchange = _here.exchange
        connection: Any = self
        del connection._buffer[:]  # what urllib3 would send; its order and its additions are not ours
        if connection.sock is not None and not exchange.leads_right(connection.sock):
            connection.sock.close()
            connection.sock = None
        if connection.sock is None:
            connection.connect()
        exchange.before_request(connection.sock)
        absolute = exchange.proxied and connection.proxy is not None and not connection._tunnel_host
        connection.send(exchange.bytes_to_send(absolute))

    def getresponse(self) -> Any:
        exchange: RequestsExchange = _here.exchange
        connection: Any = self

        def note_answer() -> None:
            exchange.pace.received(0, time.monotonic())

        def expect(*args: Any, **kwargs: Any) -> TolerantResponse:
            exchange.answer = TolerantResponse(exchange.job.limits, note_answer, *args, **kwargs)
            return exchange.answer

        connection.response_class = expect
        try:
            return super().getresponse()  # type: ignore[misc]
        finally:
            del connection.response_class


class ServedHTTPConnection(_Served, HTTPConnection):
    """Plain HTTP."""


class ServedHTTPSConnection(_Served, HTTPSConnection):
    """HTTP over TLS."""


class ServedSOCKSConnection(_Served, SOCKSConnection):
    """Plain HTTP through a SOCKS proxy."""


class ServedSOCKSHTTPSConnection(_Served, SOCKSHTTPSConnection):
    """HTTP over TLS through a SOCKS proxy."""
