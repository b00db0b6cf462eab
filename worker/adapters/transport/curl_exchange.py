"""One request and its answer over a libcurl easy handle, which is used again for the next one."""

import socket
import time
from collections.abc import Callable
from functools import lru_cache
from typing import Concatenate, Final, Literal, NamedTuple, ParamSpec

import pycurl

from gregor.worker.adapters.transport.attempts import AddressGuard, Job, Way, names_left_to, reads_requests
from gregor.worker.adapters.transport.framing import Dechunker, framing
from gregor.worker.adapters.transport.http1 import Fields, Head, MalformedHeadError, parse_head
from gregor.worker.adapters.transport.kept_connections import KeptSockets, Local
from gregor.worker.adapters.transport.pace import Pace
from gregor.worker.adapters.transport.receiver import Receiver
from gregor.worker.borders.transport import Permit

Refusal = Literal["lease", "repeat", "stale"]
Arguments = ParamSpec("Arguments")
_BLANK = (b"\r\n", b"\n")
_STOP = -1  # returned by a callback: libcurl aborts the transfer


class _Settings(NamedTuple):
    connect_milliseconds: int
    verify: bool
    proxy: str
    fresh: bool
    fields: Fields


def _raised_later(
    callback: Callable[Concatenate["Exchange", Arguments], int | None],
) -> Callable[Concatenate["Exchange", Arguments], int | None]:
    """libcurl swallows what its callbacks raise (a full disk, say): kept, and raised when the transfer has ended."""

    def call(exchange: "Exchange", /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> int | None:
        try:
            return callback(exchange, *args, **kwargs)
        except Exception as fault:  # noqa: BLE001 - see above
            exchange.broken = fault
            return _STOP

    return call


class Exchange:
    """The handle with its callbacks, and what they learned about the transfer that runs now."""

    def __init__(self, guard: AddressGuard, kept: KeptSockets, ca_bundle: str, http2: bool) -> None:
        self._guard = guard
        self._kept = kept
        self._settings: _Settings | None = None
        self._connect_to: tuple[str, ...] = ()
        self.handle = handle = pycurl.Curl()
        handle.setopt(pycurl.NOSIGNAL, 1)
        handle.setopt(pycurl.FOLLOWLOCATION, 0)
        handle.setopt(pycurl.PATH_AS_IS, 1)
        handle.setopt(pycurl.HTTP09_ALLOWED, 0)
        handle.setopt(pycurl.HTTP_CONTENT_DECODING, 0)
        # libcurl reads "5g" as a chunk of five bytes, and what it takes for the last one may be none.
        handle.setopt(pycurl.HTTP_TRANSFER_DECODING, 0)
        handle.setopt(pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_2TLS if http2 else pycurl.CURL_HTTP_VERSION_1_1)
        handle.setopt(pycurl.NOPROXY, "")
        handle.setopt(pycurl.CAINFO, ca_bundle)
        handle.setopt(pycurl.PROXY_CAINFO, ca_bundle)
        handle.setopt(pycurl.BUFFERSIZE, 65536)
        # A pinned address is used at once or never: the entry need not outlive its fetch, and must not pile up.
        handle.setopt(pycurl.DNS_CACHE_TIMEOUT, 1)
        handle.setopt(pycurl.OPENSOCKETFUNCTION, self._open_socket)
        handle.setopt(pycurl.SOCKOPTFUNCTION, self._socket_opened)
        handle.setopt(pycurl.PREREQFUNCTION, self._before_request)
        handle.setopt(pycurl.HEADERFUNCTION, self._header_line)
        handle.setopt(pycurl.WRITEFUNCTION, self._body_piece)

    def prepare(self, job: Job, way: Way, fresh: bool) -> None:
        """Make the handle ready for a job; `fresh` takes no kept connection."""
        request, limits = job.request, job.limits
        self.pace = Pace(limits, time.monotonic())
        self.head: Head | None = None
        self.receiver: Receiver | None = None
        self.chunks: Dechunker | None = None
        self.raw_head = b""
        self._header_lines: list[bytes] = []
        self.refusal: Refusal | None = None
        self.refused_address: str | None = None
        self.too_large_headers = False
        self.malformed: str | None = None
        self.broken: Exception | None = None
        self.asked = False
        self._opened: list[int] = []
        self._limits = limits
        self._permit: Permit = job.permit
        self.proxied = request.proxy is not None
        self._header_count = 0
        self._header_bytes = 0

        handle = self.handle
        handle.setopt(pycurl.URL, f"{job.target.scheme}://{job.target.authority}/")
        # libcurl would normalise the path of a URL; what is asked for is what was found.
        handle.setopt(pycurl.REQUEST_TARGET, _request_target(job))
        resolve, connect_to = ((), ()) if self.proxied else _pin(job.target.host, job.target.port, way)
        handle.setopt(pycurl.RESOLVE, resolve)
        if connect_to != self._connect_to:
            handle.setopt(pycurl.CONNECT_TO, connect_to)
            self._connect_to = connect_to
        timeout = max(1, int(limits.connect_timeout * 1000))
        self._set(_Settings(timeout, way.verify, request.proxy or "", fresh, job.fields))

    def _set(self, settings: "_Settings") -> None:
        """Options that seldom differ from those of the transfer before."""
        if settings == self._settings:
            return
        self._settings = settings
        handle = self.handle
        handle.setopt(pycurl.CONNECTTIMEOUT_MS, settings.connect_milliseconds)
        handle.setopt(pycurl.SSL_VERIFYPEER, int(settings.verify))
        handle.setopt(pycurl.SSL_VERIFYHOST, 2 if settings.verify else 0)
        handle.setopt(pycurl.PROXY, names_left_to(settings.proxy))
        handle.setopt(pycurl.FRESH_CONNECT, int(settings.fresh))
        handle.setopt(pycurl.HTTPHEADER, _header_lines(settings.fields))

    def release(self) -> None:
        """Forget the transfer, keep the handle."""
        self.receiver = None
        self._permit = _NEVER

    def close(self) -> None:
        """Free the handle and what was received. Not from a callback, nor while the handle runs."""
        if self.receiver is not None:
            self.receiver.close()
        self.handle.close()

    def _open_socket(self, purpose: int, address: tuple[int, int, int, tuple[str, int]]) -> socket.socket | int:
        family, kind, protocol, (ip, port, *_) = address
        # With a proxy these are the proxy's addresses: the operator's choice, not a site's.
        if not self.proxied and not self._guard.allows(ip, port):
            self.refused_address = ip
            return pycurl.SOCKET_BAD
        try:
            self._lent = socket.socket(family, kind, protocol)
        except OSError:  # no descriptor left: a failure to connect
            return pycurl.SOCKET_BAD
        return self._lent

    def _socket_opened(self, descriptor: int, purpose: int) -> int:
        self._lent.close()  # libcurl has a descriptor of its own by now
        self._opened.append(descriptor)
        return pycurl.SOCKOPT_OK

    @_raised_later
    def _before_request(self, there: str, here: str, there_port: int, here_port: int) -> int:
        self.refusal = self._refuse((here, here_port))
        if self.refusal is not None:
            return pycurl.PREREQFUNC_ABORT
        self.asked = True
        self.pace.sent(time.monotonic())
        return pycurl.PREREQFUNC_OK

    def _refuse(self, local: Local) -> Refusal | None:
        if self.asked:
            # The second call: libcurl repeats a request by itself when a reused connection turns out to be dead.
            return "repeat"
        if self._opened:
            self._kept.remember(self._opened, local)
        elif not self._kept.is_quiet(local):
            return "stale"
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
        if head.status >= 200:  # below is an interim answer; its lines stay counted
            self.raw_head = raw
            self.head = head
            self.chunks = Dechunker() if framed.chunked else None
            self.receiver = Receiver(head.headers, self._limits, framed)
        return None

    @_raised_later
    def _body_piece(self, piece: bytes) -> int | None:
        if self.receiver is None:
            return _STOP
        self.pace.received(len(piece), time.monotonic())
        if (chunks := self.chunks) is not None:
            piece = chunks.feed(piece)
            if chunks.broken or chunks.trailer > self._limits.max_header_bytes:
                self.receiver.feed(piece)
                return _STOP
        return None if self.receiver.feed(piece) else _STOP


class _Never:
    """The permit of a handle that serves no request."""

    def allows(self) -> bool:
        return False

    def sent(self) -> None:
        raise AssertionError("no request is allowed")


_NEVER: Final = _Never()


def _request_target(job: Job) -> str:
    """The absolute form where a proxy reads it, else the path."""
    if reads_requests(job):
        return f"http://{job.target.authority}{job.target.path}"
    return job.target.path


@lru_cache(maxsize=256)
def _header_lines(sent: Fields) -> list[bytes]:
    # "Name:" takes away what libcurl would add; "Name;" sends an empty value.
    lines = [f"{name}:" for name in ("Accept", "User-Agent") if name.lower() not in sent.names]
    lines += [f"{line.partition(':')[0]};" if line.endswith(": ") else line for line in sent.lines]
    return [line.encode("latin-1", "replace") for line in lines]


@lru_cache(maxsize=4096)
def _pin(host: str, port: int, way: Way) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """RESOLVE and CONNECT_TO entries that lead to the way's addresses while Host and SNI stay the URL's."""
    literals = [f"[{address}]" if ":" in address else address for address in way.addresses]
    if host.startswith("[") or host.replace(".", "").isdigit():
        # A name table can't rename a literal. With several addresses (a host table's) the first one is taken.
        return (), () if (host, port) == (literals[0], way.port) else (f"::{literals[0]}:{way.port}",)
    resolve = f"+{host}:{way.port}:{','.join(literals)}"
    return (resolve,), () if way.port == port else (f"::{host}:{way.port}",)
