"""The border between the crawl and the network: one request in, one result out.

A transport never follows a redirect, never repeats a request, never resolves a name and never connects to an
address that the address policy refuses. Everything that a server can do wrong comes back as a value.
"""

from typing import Literal, NamedTuple, Protocol, TypeAlias

import msgspec

from gregor.worker.base.spooled import SpooledBody


class SocketAddress(NamedTuple):
    """Where a connection goes: an IP address (text, IPv6 without brackets) and a port."""

    address: str
    port: int


class Request(msgspec.Struct, frozen=True):
    """One GET. Credentials and cookies are ordinary headers; user info inside `href` is not sent.

    `endpoints` are the checked addresses of the host in order of preference; a transport races the two families
    among them (RFC 8305). They are not used when `proxy` is set: then the proxy resolves the name.
    `proxy` is a URL: http://, socks5:// (we resolve nothing either way), with user info if the proxy wants it.
    `insecure` records a certificate's fault in `Response.tls_fault` instead of failing.
    """

    href: str
    headers: tuple[tuple[str, str], ...] = ()
    endpoints: tuple[SocketAddress, ...] = ()
    proxy: str | None = None
    insecure: bool = False


class Limits(msgspec.Struct, frozen=True):
    """What one fetch may cost. Times in seconds, sizes in bytes, the rate in bytes a second.

    The answer is cut (`Response.truncated`) where its body passes `max_body` decoded or `max_wire` as received.
    `read_timeout` is the longest silence: before the first byte and between two reads. A body that stays slower than
    `minimum_rate` over `rate_window` counts as timed out.
    """

    connect_timeout: float = 10.0
    read_timeout: float = 30.0
    total_timeout: float = 300.0
    max_body: int = 10 * 1024 * 1024
    max_wire: int = 10 * 1024 * 1024
    max_header_count: int = 1000
    max_header_bytes: int = 256 * 1024
    minimum_rate: int = 0
    rate_window: float = 30.0


Truncation: TypeAlias = Literal["size", "time", "cut", "length"]


class Response(msgspec.Struct):
    """An answer whose head arrived whole. The receiver owns the bodies and closes them.

    `headers` are as received: order and repetitions kept, latin-1. `body` has its content codings removed;
    `wire_body` is what was received (transfer codings removed) and None where it is the same.
    `request_head` and `response_head` are what travelled, the former with whatever secrets it held.
    `latency` is the time from the written request to the first byte of the answer, `elapsed` the whole, in seconds;
    `connect` and `tls` are the parts that the connection and its handshake took, 0 where they were there already.
    `truncated` says why the body is not whole: a size cap, a time limit, or an end that came too early, be it of the
    connection or of what can be decoded; "length": nobody knows, because the length that was stated is none, or the
    answer is a part (206) that was not asked for.
    """

    status: int
    reason: str
    headers: list[tuple[str, str]]
    http_version: str
    body: SpooledBody
    wire_body: SpooledBody | None
    request_head: bytes
    response_head: bytes
    address: str
    latency: float
    elapsed: float
    truncated: Truncation | None = None
    tls_fault: str | None = None
    connect: float = 0.0
    tls: float = 0.0

    def header(self, name: str) -> str | None:
        """The first value of a header, by its case-insensitive name."""
        wanted = name.lower()
        return next((value for key, value in self.headers if key.lower() == wanted), None)

    def combined(self, name: str) -> str | None:
        """All values of a list header, joined (RFC 9110 section 5.3); a line that repeats another counts once."""
        wanted = name.lower()
        values = dict.fromkeys([value for key, value in self.headers if key.lower() == wanted])
        return ", ".join(values) if values else None

    def close(self) -> None:
        """Free both bodies."""
        self.body.close()
        if self.wire_body is not None:
            self.wire_body.close()


FailureKind: TypeAlias = Literal[
    "lease",  # the permit did not allow it; nothing was written
    "refused_address",  # the address policy allows none of the endpoints
    "connect",  # no endpoint accepted a connection
    "proxy",  # the proxy cannot be reached or refused
    "tls",  # handshake or certificate
    "timeout",  # connecting, or before the head of the answer was whole
    "cut",  # the connection ended before the head of the answer was whole
    "protocol",  # not HTTP as this transport reads it; a more lenient one may try
    "too_large_headers",
    "decode",  # nothing of the body is what Content-Encoding says
    "request",  # the URL or a header cannot be sent
    "downgrade",  # the server wants HTTP/1.1, which this transport will speak with it at the next try
    "legacy_tls",  # the server's TLS lacks secure renegotiation (RFC 5746); `legacy_tls` allows it
    "elsewhere",  # the connection did not lead where the request may go: nothing was sent, or nothing of it is kept
    "local",  # this machine lacks descriptors, memory, ports or disk: says nothing of the host
]


class Failure(msgspec.Struct, frozen=True):
    """No usable answer. `detail` is for people: one line, no secrets. `address`: the one that took the connection and
    then said nothing in time, where that is known."""

    kind: FailureKind
    detail: str
    address: str = ""


FetchResult: TypeAlias = Response | Failure


class Permit(Protocol):
    """The permission for one request, and where it is noted that it was made."""

    def allows(self) -> bool:
        """Whether the request may be written now. It only reads, and may be asked on any thread."""

    def sent(self) -> None:
        """The request is being written: told on the event loop, after `allows` said yes and before `fetch` returns."""


class Transport(Protocol):
    """What fetches. One instance serves many concurrent fetches on one event loop."""

    async def fetch(self, request: Request, limits: Limits, permit: Permit) -> FetchResult:
        """Send `request` once and read its answer within `limits`.

        `permit.allows` is asked last thing before the request is written, after connect and TLS, on whatever thread
        writes it; False gives Failure("lease") and nothing is sent. `permit.sent` is told on the event loop.
        Never raises: a failure is a value. Not to be repeated on its own account: a second call is a second request.
        Cancelling the call aborts the transfer and closes its connection.
        """

    async def close(self) -> None:
        """Abort what runs and close every connection. Nothing else may be called afterwards, but this again."""
