"""The default transport: libcurl on the crawl's event loop, every socket's address checked as it is opened."""

import asyncio
import errno
import os
import re
import tempfile
import time
from pathlib import Path

import certifi
import pycurl

from gregor.worker.adapters.transport.attempts import LEGACY_TLS, AddressGuard, ReadyRequest, Way, attempt_all
from gregor.worker.adapters.transport.curl_exchange import CurlExchange, Setup
from gregor.worker.adapters.transport.curl_loop import CurlLoop
from gregor.worker.adapters.transport.http1 import one_line, request_head
from gregor.worker.adapters.transport.http1_origins import Http1Origins
from gregor.worker.adapters.transport.kept_connections import KeptSockets
from gregor.worker.adapters.transport.watch import Watch
from gregor.worker.base.shortage import LocalShortage, connect_shortage, in_words, shortage
from gregor.worker.borders.transport import (
    Failure,
    FailureKind,
    FetchResult,
    Limits,
    Permit,
    Request,
    Truncation,
)
from gregor.worker.observe.cpu_time import CpuTime

_HTTP2_STREAM = 92
"""CURLE_HTTP2_STREAM: one stream was reset."""
_KINDS: dict[int, FailureKind] = {
    0: "cut",  # a head that ends with the connection is a success to libcurl
    pycurl.E_UNSUPPORTED_PROTOCOL: "request",
    pycurl.E_URL_MALFORMAT: "request",
    pycurl.E_COULDNT_RESOLVE_PROXY: "proxy",
    pycurl.E_COULDNT_RESOLVE_HOST: "connect",
    pycurl.E_COULDNT_CONNECT: "connect",
    pycurl.E_OUT_OF_MEMORY: "local",
    pycurl.E_OPERATION_TIMEDOUT: "timeout",
    pycurl.E_GOT_NOTHING: "cut",
    pycurl.E_PARTIAL_FILE: "cut",
    pycurl.E_SEND_ERROR: "cut",
    pycurl.E_RECV_ERROR: "cut",
    pycurl.E_HTTP2: "cut",
    _HTTP2_STREAM: "cut",
    pycurl.E_SSL_CONNECT_ERROR: "tls",
    pycurl.E_PEER_FAILED_VERIFICATION: "tls",
    pycurl.E_SSL_CACERT_BADFILE: "local",  # a file of our own: no descriptor was left to read it
    pycurl.E_SSL_CIPHER: "tls",
    pycurl.E_SSL_CERTPROBLEM: "tls",
    pycurl.E_SSL_ISSUER_ERROR: "tls",
    pycurl.E_SSL_INVALIDCERTSTATUS: "tls",
    97: "proxy",  # CURLE_PROXY, which pycurl has no name for
}
_UNTOLD = {0: "the connection ended inside the head"}
"""What libcurl has no words for."""
_TOO_LARGE = 100
"""CURLE_TOO_LARGE: a line of a head beyond libcurl's own bound."""

_NO_CLOSE_NOTIFY = re.compile("unexpected eof|close.notify|closing", re.IGNORECASE)

_STALE = Failure("connect", "a kept connection where a new one was asked for")
_ELSEWHERE = Failure("elsewhere", "the connection led elsewhere than to the host's addresses")


class CurlTransport:
    """A `Transport`. `ca_file` adds trusted certificates (PEM) to the usual ones; `http2` offers HTTP/2 by ALPN.

    At most `idle_connections` are kept open for later requests to the same host. `cpu_time` is charged
    with curl's work.
    """

    def __init__(
        self,
        guard: AddressGuard,
        *,
        ca_file: Path | None = None,
        http2: bool = False,
        idle_connections: int = 256,
        cpu_time: CpuTime | None = None,
    ) -> None:
        self._guard = guard
        self._http2 = http2
        self._idle_connections = idle_connections
        self._cpu_time = cpu_time or CpuTime()
        self._bundle = _write_bundle(ca_file)
        self._kept = KeptSockets()
        self._watch = Watch()
        self._curl: CurlLoop | None = None
        self._http1 = Http1Origins()

    async def fetch(self, request: Request, limits: Limits, permit: Permit) -> FetchResult:
        """See `Transport.fetch`."""
        return await attempt_all(request, limits, permit, self._guard, self._attempt)

    async def close(self) -> None:
        """See `Transport.close`."""
        self._watch.close()
        if self._curl is not None:
            self._curl.close()
            self._curl = None
        self._bundle.unlink(missing_ok=True)

    async def _attempt(self, job: ReadyRequest, way: Way) -> FetchResult:
        try:
            result = await self._transfer(job, way, fresh=False)
            # A kept connection was found dead, or to lead elsewhere, before anything was written to it.
            return result if result is not None else await self._transfer(job, way, fresh=True) or _STALE
        except Exception as fault:
            if (lacking := shortage(fault)) is None:
                raise
            return self._lacks(lacking)

    def _lacks(self, lacking: str) -> Failure:
        """Connections that wait for later requests are the first to go."""
        if self._curl is not None:
            self._curl.save_connections()
        return Failure("local", lacking)

    async def _transfer(self, job: ReadyRequest, way: Way, fresh: bool) -> FetchResult | None:
        curl = self._curl = self._curl or self._loop()
        origin = f"{job.target.scheme}://{job.target.authority}"
        http2 = self._http2 and not self._http1.holds(origin, time.monotonic())
        exchange = CurlExchange(job, way, self._guard, self._kept, Setup(str(self._bundle), http2, fresh))
        drop = True
        try:
            number, message = await self._run(curl, exchange)
            if exchange.broken is not None:
                raise exchange.broken
            if exchange.refusal == "stale":
                return None
            result = _result(exchange, way, number, message, request_head(job.target, job.fields))
            drop = isinstance(result, Failure)
        finally:
            exchange.close(drop=drop)
        if http2:
            self._http1.note(origin, result, time.monotonic(), reset=number == _HTTP2_STREAM)
        if isinstance(result, Failure) and result.kind == "local":
            return self._lacks(result.detail)
        return result

    def _loop(self) -> CurlLoop:
        try:
            return CurlLoop(self._idle_connections, self._cpu_time)
        except pycurl.error as fault:  # libcurl gives no number; it needs descriptors and memory, nothing else
            raise LocalShortage(one_line(str(fault))) from fault

    async def _run(self, curl: CurlLoop, exchange: CurlExchange) -> tuple[int, str]:
        """The number and the words with which libcurl ends the transfer."""
        future = curl.start(exchange.handle)

        def end(fault: str) -> None:
            if not future.done():
                curl.abort(exchange.handle)
                future.set_result((pycurl.E_OPERATION_TIMEDOUT, fault))

        self._watch.begin(exchange.pace, end)
        try:
            return await future
        except asyncio.CancelledError:
            curl.abort(exchange.handle)
            raise
        finally:
            self._watch.over(exchange.pace)


def _result(exchange: CurlExchange, way: Way, number: int, message: str, head_sent: bytes) -> FetchResult:
    """What became of the transfer that ended with curl's `number`."""
    head, receiver, info = exchange.head, exchange.receiver, exchange.handle.getinfo
    if head is None or receiver is None:
        return _failure(exchange, way, number, one_line(message))
    if not exchange.proxied and not way.leads_to(info(pycurl.PRIMARY_IP), info(pycurl.PRIMARY_PORT)):
        return _ELSEWHERE
    receiver.finish(_ended_early(exchange, number, message))
    if receiver.corrupt is not None:
        return Failure("decode", one_line(receiver.corrupt))
    connected, secured = info(pycurl.CONNECT_TIME), info(pycurl.APPCONNECT_TIME)
    return receiver.response(
        head,
        request_head=head_sent,
        response_head=exchange.raw_head,
        address=info(pycurl.PRIMARY_IP),
        latency=max(0.0, info(pycurl.STARTTRANSFER_TIME) - info(pycurl.PRETRANSFER_TIME)),
        elapsed=info(pycurl.TOTAL_TIME),
        connect=connected,
        tls=max(0.0, secured - connected),
    )


def _ended_early(exchange: CurlExchange, number: int, message: str) -> Truncation | None:
    """Why the body is not whole; the receiver may know better: it ends a transfer by an error, too."""
    chunks, receiver = exchange.chunks, exchange.receiver
    if (chunks is not None and chunks.done) or (receiver is not None and receiver.complete):
        return None  # what comes after the last chunk, or after so many octets, is no part of the body
    if number == pycurl.E_OPERATION_TIMEDOUT:
        return "time"
    if number == pycurl.E_RECV_ERROR and exchange.ends_with_connection and _NO_CLOSE_NOTIFY.search(message):
        return "length"
    return "cut" if number != 0 or chunks is not None else None


def _failure(exchange: CurlExchange, way: Way, number: int, message: str) -> Failure:
    if exchange.refusal == "lease":
        return Failure("lease", "the lease ended before the request was sent")
    if exchange.refusal == "elsewhere":
        return _ELSEWHERE
    if exchange.wants_http1:
        return Failure("downgrade", "the server wants HTTP/1.1 (HTTP_1_1_REQUIRED)")
    if exchange.refusal == "repeat":
        return Failure("cut", "the kept connection was closed before an answer came")
    if exchange.too_large_headers or number == _TOO_LARGE:
        return Failure("too_large_headers", "more header lines or bytes than allowed")
    if exchange.malformed is not None:
        return Failure("protocol", exchange.malformed)
    kind = _KINDS.get(number, "protocol")
    if kind == "request" and exchange.asked:
        kind = "protocol"  # libcurl has one number for URLs it cannot request and for versions it cannot read
    if kind == "connect" and exchange.refused_address is not None:
        return Failure("refused_address", exchange.refused_address)
    if kind == "connect" and (lacking := _lacking(exchange, way)) is not None:
        return Failure("local", lacking)
    if not exchange.asked and exchange.proxied and kind in ("connect", "cut", "protocol"):
        kind = "proxy"
    if kind == "tls" and LEGACY_TLS in message:
        kind = "legacy_tls"
    address = exchange.handle.getinfo(pycurl.PRIMARY_IP) if kind == "timeout" and not exchange.proxied else ""
    return Failure(kind, message or _UNTOLD.get(number) or f"curl error {number}", address)


def _lacking(exchange: CurlExchange, way: Way) -> str | None:
    """What of this machine's is used up, if that is why no connection came about."""
    if exchange.lacking is not None:
        return exchange.lacking
    if exchange.lacks_descriptor:
        return in_words(errno.EMFILE)
    number, address = exchange.handle.getinfo(pycurl.OS_ERRNO), next(iter(way.addresses), "127.0.0.1")
    return connect_shortage(number, address, way.port or 9)


def _write_bundle(ca_file: Path | None) -> Path:
    """One PEM file with all trusted certificates: libcurl keeps a parsed file, but parses a blob at each connection."""
    descriptor, name = tempfile.mkstemp(prefix="gregor-ca-", suffix=".pem")
    with os.fdopen(descriptor, "wb") as bundle:
        bundle.write(Path(certifi.where()).read_bytes())
        if ca_file is not None:
            bundle.write(b"\n" + ca_file.read_bytes())
    return Path(name)
