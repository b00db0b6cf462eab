"""One request and its answer over a libcurl easy handle of its own.

No handle serves a second request: an option that is not set anew would be the one of the request before, of another
host, and libcurl has options that cannot be unset (an empty CONNECT_TO is none). What hosts may share, connections and
TLS sessions, is libcurl's multi handle's, which finds them by the host's name.
"""

import hashlib
import socket
import time
from collections.abc import Callable
from functools import lru_cache
from typing import Concatenate, Literal, NamedTuple, ParamSpec

import pycurl

from gregor.worker.adapters.transport.attempts import AddressGuard, ReadyRequest, Way, names_left_to, reads_requests
from gregor.worker.adapters.transport.framing import Dechunker, Framing, framing, is_named_oddly
from gregor.worker.adapters.transport.http1 import Head, HeaderFields, MalformedHeadError, parse_head
from gregor.worker.adapters.transport.kept_connections import KeptSockets, Local
from gregor.worker.adapters.transport.pace import Pace
from gregor.worker.adapters.transport.receiver import Receiver
from gregor.worker.base.shortage import shortage

RefusalKind = Literal["lease", "repeat", "stale", "elsewhere"]
Arguments = ParamSpec("Arguments")
_BLANK = (b"\r\n", b"\n")
_STOP = -1  # returned by a callback: libcurl aborts the transfer


class Setup(NamedTuple):
    """What a transfer needs beside its job: the trusted certificates' file, whether HTTP/2 is offered, and whether a
    new connection is made in any case."""

    ca_bundle: str
    http2: bool
    fresh: bool


def _raised_later(
    callback: Callable[Concatenate["CurlExchange", Arguments], int | None],
) -> Callable[Concatenate["CurlExchange", Arguments], int | None]:
    """libcurl swallows what its callbacks raise (a full disk, say): kept, and raised when the transfer has ended."""

    def call(exchange: "CurlExchange", /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> int | None:
        try:
            return callback(exchange, *args, **kwargs)
        except Exception as fault:  # noqa: BLE001 - see above
            exchange.broken = fault
            return _STOP

    return call


class CurlExchange:
    """The handle with its callbacks, and what they learned about the transfer."""

    def __init__(self, job: ReadyRequest, way: Way, guard: AddressGuard, kept: KeptSockets, setup: Setup) -> None:
        self._guard = guard
        self._kept = kept
        self._way = way
        self._limits = job.limits
        self._permit = job.permit
        self.proxied = job.request.proxy is not None
        self.pace = Pace(job.limits, time.monotonic())
        self.head: Head | None = None
        self.receiver: Receiver | None = None
        self.chunks: Dechunker | None = None
        self.framing: Framing | None = None
        self.raw_head = b""
        self.refusal: RefusalKind | None = None
        self.refused_address: str | None = None
        self.lacking: str | None = None
        self.too_large_headers = False
        self.malformed: str | None = None
        self.broken: Exception | None = None
        self.asked = False
        self.wants_http1 = False
        self._ends_here = False
        self._header_lines: list[bytes] = []
        self._header_count = 0
        self._header_bytes = 0
        self._opened: list[int] = []
        self._lent: socket.socket | None = None
        self.handle = pycurl.Curl()
        _set_options(self.handle, job, way, setup)
        self._set_callbacks(setup.http2)

    def _set_callbacks(self, http2: bool) -> None:
        handle = self.handle
        handle.setopt(pycurl.OPENSOCKETFUNCTION, self._open_socket)
        handle.setopt(pycurl.SOCKOPTFUNCTION, self._socket_opened)
        handle.setopt(pycurl.PREREQFUNCTION, self._before_request)
        handle.setopt(pycurl.HEADERFUNCTION, self._header_line)
        handle.setopt(pycurl.WRITEFUNCTION, self._body_piece)
        if http2:  # nothing else tells that a server wants HTTP/1.1: libcurl would ask again by itself
            handle.setopt(pycurl.VERBOSE, 1)
            handle.setopt(pycurl.DEBUGFUNCTION, self._look_at_text)

    def close(self, *, drop: bool = False) -> None:
        """Free the handle, and with `drop` what was received. Not from a callback, nor while the handle runs."""
        if drop and self.receiver is not None:
            self.receiver.close()
        if self._lent is not None:
            self._lent.close()
        self.handle.close()

    @property
    def lacks_descriptor(self) -> bool:
        """A socket was opened here and never came to be libcurl's: there was no descriptor for its copy."""
        return self._lent is not None

    @property
    def ends_with_connection(self) -> bool:
        """The end of the connection is the only one that the body has."""
        return self.framing is not None and not self.framing.chunked and self.framing.length is None

    def _open_socket(self, purpose: int, address: tuple[int, int, int, tuple[str, int]]) -> socket.socket | int:
        family, kind, protocol, (ip, port, *_) = address
        # With a proxy these are the proxy's addresses: the operator's choice, not a site's.
        if not self.proxied and not self._guard.allows(ip, port):
            self.refused_address = ip
            return pycurl.SOCKET_BAD
        try:
            self._lent = socket.socket(family, kind, protocol)
        except OSError as fault:
            self.lacking = shortage(fault)  # else a family that this machine does not have: a failure to connect
            return pycurl.SOCKET_BAD
        return self._lent

    def _socket_opened(self, descriptor: int, purpose: int) -> int:
        if self._lent is not None:
            self._lent.close()  # libcurl has a descriptor of its own by now
            self._lent = None
        self._opened.append(descriptor)
        return pycurl.SOCKOPT_OK

    def _look_at_text(self, kind: int, text: bytes) -> None:
        if kind == pycurl.INFOTYPE_TEXT and b"HTTP/1.1" in text and b"owngrade" in text:
            self.wants_http1 = True

    @_raised_later
    def _before_request(self, there: str, here: str, there_port: int, here_port: int) -> int:
        self.refusal = self._refuse((there, there_port), (here, here_port))
        if self.refusal is not None:
            return pycurl.PREREQFUNC_ABORT
        self.asked = True
        self.pace.sent(time.monotonic())
        return pycurl.PREREQFUNC_OK

    def _refuse(self, peer: tuple[str, int], local: Local) -> RefusalKind | None:
        if self.asked:
            # The second call: libcurl repeats a request by itself when a reused connection turns out to be dead.
            return "repeat"
        right = self.proxied or self._way.leads_to(*peer)
        if self._opened:
            self._kept.remember(self._opened, local)
        elif not right or not self._kept.is_quiet(local):
            return "stale"
        if not right:
            return "elsewhere"
        if not self._permit.allows():
            return "lease"
        self._permit.sent()
        return None

    def _header_line(self, line: bytes) -> int | None:
        if self.head is not None:
            return None  # a trailer field
        self._header_count += 1
        self._header_bytes += len(line)
        if self._header_count > self._limits.max_header_count or self._header_bytes > self._limits.max_header_bytes:
            self.too_large_headers = True
            return _STOP
        self._header_lines.append(line)
        self.pace.received(0, time.monotonic())
        return self._head_ends() if line in _BLANK else None

    @_raised_later
    def _head_ends(self) -> int | None:
        raw = b"".join(self._header_lines)
        self._header_lines.clear()
        if not self.asked:
            return None  # a proxy's answer to CONNECT
        try:
            head = parse_head(raw)
            framed = framing(head)
        except MalformedHeadError as fault:
            self.malformed = str(fault)
            return _STOP
        if head.status < 200:
            return None  # an interim answer; its lines stay counted
        self.raw_head = raw
        self.head = head
        self.framing = framed
        self._ends_here = is_named_oddly(raw)
        self.chunks = Dechunker() if framed.chunked else None
        self.receiver = Receiver(head.headers, self._limits, framed)
        return _STOP if self._ends_here and framed.length == 0 else None

    @_raised_later
    def _body_piece(self, piece: bytes) -> int | None:
        if self.receiver is None:
            return _STOP
        self.pace.received(len(piece), time.monotonic())
        if (chunks := self.chunks) is not None:
            piece = chunks.feed(piece)
            if chunks.broken or chunks.trailer > self._limits.max_header_bytes or (chunks.done and self._ends_here):
                self.receiver.feed(piece)
                return _STOP
        goes_on = self.receiver.feed(piece)
        return None if goes_on and not (self._ends_here and self.receiver.complete) else _STOP


def _set_options(handle: pycurl.Curl, job: ReadyRequest, way: Way, setup: Setup) -> None:
    request, target = job.request, job.target
    options: dict[int, object] = {
        pycurl.NOSIGNAL: 1,
        pycurl.FOLLOWLOCATION: 0,
        pycurl.HTTP09_ALLOWED: 0,
        pycurl.HTTP_CONTENT_DECODING: 0,
        # libcurl reads "5g" as a chunk of five bytes, and what it takes for the last one may be none.
        pycurl.HTTP_TRANSFER_DECODING: 0,
        pycurl.HTTP_VERSION: pycurl.CURL_HTTP_VERSION_2TLS if setup.http2 else pycurl.CURL_HTTP_VERSION_1_1,
        pycurl.BUFFERSIZE: 65536,
        # A pinned address is used at once or never: the entry need not outlive its fetch, and must not pile up.
        pycurl.DNS_CACHE_TIMEOUT: 1,
        pycurl.CONNECTTIMEOUT_MS: max(1, int(way.connect_seconds * 1000)),
        pycurl.SSL_VERIFYPEER: int(way.verify),
        pycurl.SSL_VERIFYHOST: 2 if way.verify else 0,
        pycurl.CAINFO: setup.ca_bundle,
        pycurl.PROXY_CAINFO: setup.ca_bundle,
        pycurl.PROXY: names_left_to(request.proxy or ""),
        pycurl.NOPROXY: "",
        pycurl.FRESH_CONNECT: int(setup.fresh),
        pycurl.URL: f"{target.scheme}://{target.authority}/",
        # libcurl would normalise the path of a URL; what is asked for is what was found.
        pycurl.PATH_AS_IS: 1,
        pycurl.REQUEST_TARGET: _request_target(job),
        pycurl.HTTPHEADER: _header_lines(job.fields),
    }
    resolve, connect_to = ((), ()) if request.proxy else _pin(target.host, target.port, way.addresses, way.port)
    options |= {pycurl.RESOLVE: resolve} if resolve else {}
    options |= {pycurl.CONNECT_TO: connect_to} if connect_to else {}
    for option, value in options.items():
        handle.setopt(option, value)


def _request_target(job: ReadyRequest) -> str:
    """The absolute form where a proxy reads it, else the path."""
    if reads_requests(job):
        return f"http://{job.target.authority}{job.target.path}"
    return job.target.path


@lru_cache(maxsize=256)
def _header_lines(sent: HeaderFields) -> list[bytes]:
    # "Name:" takes away what libcurl would add; "Name;" sends an empty value.
    lines = [f"{name}:" for name in ("Accept", "User-Agent") if name.lower() not in sent.names]
    lines += [f"{line.partition(':')[0]};" if line.endswith(": ") else line for line in sent.lines]
    return [line.encode("latin-1", "replace") for line in lines]


@lru_cache(maxsize=4096)
def _pin(host: str, port: int, addresses: tuple[str, ...], at: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """RESOLVE and CONNECT_TO entries that lead to addresses at a port while Host and SNI stay the URL's."""
    literals = [f"[{address}]" if ":" in address else address for address in addresses]
    name = host
    if host.startswith("[") or host.replace(".", "").isdigit():  # a literal can't be renamed by a table of names
        if (host, port) == (literals[0], at) and len(literals) == 1:
            return (), ()
        name = f"{hashlib.blake2b(' '.join(addresses).encode(), digest_size=16).hexdigest()}.pinned.invalid"
    resolve = f"+{name}:{at}:{','.join(literals)}"
    return (resolve,), () if (name, at) == (host, port) else (f"::{name}:{at}",)
