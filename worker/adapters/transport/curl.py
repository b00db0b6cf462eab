"""The default transport: libcurl on the crawl's event loop, every socket's address checked as it is opened."""

import asyncio
import os
import tempfile
from pathlib import Path

import certifi
import pycurl

from gregor.worker.adapters.transport.attempts import AddressGuard, Job, Way, attempt_all
from gregor.worker.adapters.transport.curl_exchange import Exchange
from gregor.worker.adapters.transport.curl_loop import CurlLoop
from gregor.worker.adapters.transport.http1 import one_line, request_head
from gregor.worker.adapters.transport.kept_connections import KeptSockets
from gregor.worker.adapters.transport.watch import Watch
from gregor.worker.borders.transport import (
    Failure,
    FailureKind,
    FetchResult,
    Limits,
    Permit,
    Request,
    Response,
    Truncation,
)
from gregor.worker.observe.cpu_time import CpuTime

_KINDS: dict[int, FailureKind] = {
    0: "cut",  # a head that ends with the connection is a success to libcurl
    pycurl.E_UNSUPPORTED_PROTOCOL: "request",
    pycurl.E_URL_MALFORMAT: "request",
    pycurl.E_COULDNT_RESOLVE_PROXY: "proxy",
    pycurl.E_COULDNT_RESOLVE_HOST: "connect",
    pycurl.E_COULDNT_CONNECT: "connect",
    pycurl.E_OPERATION_TIMEDOUT: "timeout",
    pycurl.E_GOT_NOTHING: "cut",
    pycurl.E_PARTIAL_FILE: "cut",
    pycurl.E_SEND_ERROR: "cut",
    pycurl.E_RECV_ERROR: "cut",
    pycurl.E_SSL_CONNECT_ERROR: "tls",
    pycurl.E_PEER_FAILED_VERIFICATION: "tls",
    pycurl.E_SSL_CACERT_BADFILE: "tls",
    pycurl.E_SSL_CIPHER: "tls",
    pycurl.E_SSL_CERTPROBLEM: "tls",
    pycurl.E_SSL_ISSUER_ERROR: "tls",
    pycurl.E_SSL_INVALIDCERTSTATUS: "tls",
    97: "proxy",  # CURLE_PROXY, which pycurl has no name for
}
_TOO_LARGE = 100
"""CURLE_TOO_LARGE: a line of a head beyond libcurl's own bound."""

_STALE = Failure("connect", "a kept connection where a new one was asked for")


class CurlTransport:
    """A `Transport`. `ca_file` adds trusted certificates (PEM) to the usual ones; `http2` offers HTTP/2 by ALPN.

    At most `idle_connections` are kept open for later requests to the same host. `spending` is charged
    with curl's work.
    """

    def __init__(
        self,
        guard: AddressGuard,
        *,
        ca_file: Path | None = None,
        http2: bool = False,
        idle_connections: int = 256,
        spending: CpuTime | None = None,
    ) -> None:
        self._guard = guard
        self._http2 = http2
        self._idle_connections = idle_connections
        self._spending = spending or CpuTime()
        self._bundle = _write_bundle(ca_file)
        self._kept = KeptSockets()
        self._watch = Watch()
        self._curl: CurlLoop | None = None
        self._spare: list[Exchange] = []

    async def fetch(self, request: Request, limits: Limits, permit: Permit) -> FetchResult:
        """See `Transport.fetch`."""
        return await attempt_all(request, limits, permit, self._guard, self._attempt)

    async def close(self) -> None:
        """See `Transport.close`."""
        self._watch.close()
        if self._curl is not None:
            self._curl.close()
            self._curl = None
        for exchange in self._spare:
            exchange.close()
        self._spare.clear()
        self._bundle.unlink(missing_ok=True)

    def _new_exchange(self) -> Exchange:
        return Exchange(self._guard, self._kept, str(self._bundle), self._http2)

    async def _attempt(self, job: Job, way: Way) -> FetchResult:
        result = await self._transfer(job, way, fresh=False)
        # A kept connection was found dead before anything was written to it.
        return result if result is not None else await self._transfer(job, way, fresh=True) or _STALE

    async def _transfer(self, job: Job, way: Way, fresh: bool) -> FetchResult | None:
        curl = self._curl = self._curl or CurlLoop(self._idle_connections, self._spending)
        exchange = self._spare.pop() if self._spare else self._new_exchange()
        exchange.prepare(job, way, fresh)
        future = curl.start(exchange.handle)

        def end(fault: str) -> None:
            if not future.done():
                curl.abort(exchange.handle)
                future.set_result((pycurl.E_OPERATION_TIMEDOUT, fault))

        self._watch.begin(exchange.pace, end)
        try:
            number, message = await future
        except asyncio.CancelledError:
            curl.abort(exchange.handle)
            exchange.close()
            raise
        finally:
            self._watch.over(exchange.pace)
        if exchange.broken is not None:
            exchange.close()
            raise exchange.broken
        stale = exchange.refusal == "stale"
        result = None if stale else _result(exchange, number, message, request_head(job.target, job.fields))
        exchange.release()
        self._spare.append(exchange)
        return result


def _result(exchange: Exchange, number: int, message: str, head_sent: bytes) -> FetchResult:
    """What became of the transfer that ended with curl's `number`."""
    head, receiver = exchange.head, exchange.receiver
    if head is None or receiver is None:
        return _failure(exchange, number, one_line(message))
    receiver.finish(_ended_early(exchange, number))
    if receiver.corrupt is not None:
        receiver.close()
        return Failure("decode", one_line(receiver.corrupt))
    info = exchange.handle.getinfo
    connected, secured = info(pycurl.CONNECT_TIME), info(pycurl.APPCONNECT_TIME)
    return Response(
        status=head.status,
        reason=head.reason,
        headers=head.headers,
        http_version=head.version,
        body=receiver.body,
        wire_body=None if receiver.wire is receiver.body else receiver.wire,
        request_head=head_sent,
        response_head=exchange.raw_head,
        address=info(pycurl.PRIMARY_IP),
        latency=max(0.0, info(pycurl.STARTTRANSFER_TIME) - info(pycurl.PRETRANSFER_TIME)),
        elapsed=info(pycurl.TOTAL_TIME),
        truncated=receiver.truncated,
        connect=connected,
        tls=max(0.0, secured - connected),
    )


def _ended_early(exchange: Exchange, number: int) -> Truncation | None:
    """Why the body is not whole; the receiver may know better: it ends a transfer by an error, too."""
    chunks = exchange.chunks
    if chunks is not None and chunks.done:
        return None  # what comes after the last chunk is no part of the body
    if number == pycurl.E_OPERATION_TIMEDOUT:
        return "time"
    return "cut" if number != 0 or chunks is not None else None


def _failure(exchange: Exchange, number: int, message: str) -> Failure:
    if exchange.refusal == "lease":
        return Failure("lease", "the lease ended before the request was sent")
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
    if not exchange.asked and exchange.proxied and kind in ("connect", "cut", "protocol"):
        kind = "proxy"
    return Failure(kind, message or f"curl error {number}")


def _write_bundle(ca_file: Path | None) -> Path:
    """One PEM file with all trusted certificates: libcurl keeps a parsed file, but parses a blob at each connection."""
    descriptor, name = tempfile.mkstemp(prefix="gregor-ca-", suffix=".pem")
    with os.fdopen(descriptor, "wb") as bundle:
        bundle.write(Path(certifi.where()).read_bytes())
        if ca_file is not None:
            bundle.write(b"\n" + ca_file.read_bytes())
    return Path(name)
