"""The second transport: requests on threads. Portable, slower, and more tolerant of malformed answers than curl."""

import asyncio
import concurrent.futures
import ssl
import time
from pathlib import Path
from typing import Any

import certifi
import requests
import urllib3
from requests.adapters import HTTPAdapter
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import HTTPError, InsecureRequestWarning, ReadTimeoutError

from gregor.worker.adapters.transport import requests_exchange as served
from gregor.worker.adapters.transport.attempts import (
    LEGACY_TLS,
    AddressGuard,
    ReadyRequest,
    Way,
    attempt_all,
    names_left_to,
)
from gregor.worker.adapters.transport.http1 import MalformedHeadError, one_line
from gregor.worker.adapters.transport.receiver import Receiver
from gregor.worker.adapters.transport.requests_exchange import RequestsExchange, StopFetch
from gregor.worker.adapters.transport.tolerant import HeadTooLargeError, TolerantResponse
from gregor.worker.adapters.transport.watch import Watch
from gregor.worker.base.errors import why
from gregor.worker.base.shortage import shortage
from gregor.worker.borders.transport import Failure, FetchResult, Limits, Permit, Request, Response, Truncation

_PIECE = 65536
_OP_LEGACY_SERVER_CONNECT = 0x4
"""OpenSSL's number; the standard library has a name for it since Python 3.12."""
# An unverified certificate is recorded in the answer; a warning on standard error adds nothing.
urllib3.disable_warnings(InsecureRequestWarning)


class RequestsTransport:
    """A `Transport` of HTTP/1.1 with `threads` fetches at a time; see `CurlTransport` for the other arguments.

    `legacy_tls` speaks with servers whose TLS lacks secure renegotiation (RFC 5746), too.
    """

    def __init__(
        self,
        guard: AddressGuard,
        *,
        ca_file: Path | None = None,
        threads: int = 32,
        idle_connections: int = 256,
        legacy_tls: bool = False,
    ) -> None:
        self._guard = guard
        self._threads = concurrent.futures.ThreadPoolExecutor(threads, thread_name_prefix="fetch")
        self._strict = _Adapter(_context(ca_file, True, legacy_tls), idle_connections)
        self._lax = _Adapter(_context(ca_file, False, legacy_tls), idle_connections)
        self._running: set[RequestsExchange] = set()
        self._watch = Watch()

    async def fetch(self, request: Request, limits: Limits, permit: Permit) -> FetchResult:
        """See `Transport.fetch`."""
        return await attempt_all(request, limits, permit, self._guard, self._attempt)

    async def close(self) -> None:
        """See `Transport.close`."""
        for exchange in self._running:
            exchange.abort("the transport was closed")
        self._watch.close()
        await asyncio.to_thread(self._threads.shutdown, cancel_futures=True)
        self._strict.close()
        self._lax.close()

    async def _attempt(self, job: ReadyRequest, way: Way) -> FetchResult:
        try:
            result = await self._on_a_thread(job, way)
        except Exception as fault:
            if (lacking := shortage(fault)) is None:
                raise
            result = Failure("local", lacking)
        if isinstance(result, Failure) and result.kind == "local":
            self._strict.poolmanager.clear()  # connections that wait for later requests are the first to go
            self._lax.poolmanager.clear()
        return result

    async def _on_a_thread(self, job: ReadyRequest, way: Way) -> FetchResult:
        adapter = self._strict if way.verify else self._lax
        proxy = job.request.proxy
        exchange = RequestsExchange(job, way, self._guard, tuple(adapter.proxy_headers(proxy).items()) if proxy else ())
        future = self._threads.submit(_run, exchange, adapter)
        self._running.add(exchange)
        self._watch.begin(exchange.pace, exchange.abort)
        try:
            return await asyncio.wrap_future(future)
        finally:
            self._watch.over(exchange.pace)
            self._running.discard(exchange)
            if not future.done():
                exchange.abort("cancelled")
                future.add_done_callback(_discard)


class _Adapter(HTTPAdapter):
    """requests' adapter with one TLS context for all connections, and connections that serve an exchange."""

    def __init__(self, context: ssl.SSLContext, idle_connections: int) -> None:
        self._context = context
        super().__init__(pool_connections=idle_connections, pool_maxsize=1)

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = {"http": _HTTPPool, "https": _HTTPSPool}

    def proxy_manager_for(self, proxy: str, **kwargs: Any) -> Any:
        manager = super().proxy_manager_for(proxy, **kwargs)
        socks = proxy.startswith("socks")
        manager.pool_classes_by_scheme = {
            "http": _SOCKSHTTPPool if socks else _HTTPPool,
            "https": _SOCKSHTTPSPool if socks else _HTTPSPool,
        }
        return manager

    def build_connection_pool_key_attributes(
        self, request: requests.PreparedRequest, verify: Any, cert: Any = None
    ) -> tuple[Any, Any]:
        # requests would name CA files, which urllib3 then loads anew for every connection.
        where, _ = super().build_connection_pool_key_attributes(request, verify, cert)
        return where, {"ssl_context": self._context} if where["scheme"] == "https" else {}

    def cert_verify(self, conn: Any, url: str, verify: Any, cert: Any) -> None:
        """The context says it all."""


class _HTTPPool(HTTPConnectionPool):
    ConnectionCls = served.ServedHTTPConnection


class _HTTPSPool(HTTPSConnectionPool):
    ConnectionCls = served.ServedHTTPSConnection


class _SOCKSHTTPPool(HTTPConnectionPool):
    ConnectionCls = served.ServedSOCKSConnection


class _SOCKSHTTPSPool(HTTPSConnectionPool):
    ConnectionCls = served.ServedSOCKSHTTPSConnection


def _context(ca_file: Path | None, verify: bool, legacy_tls: bool) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=certifi.where())
    if legacy_tls:
        context.options |= _OP_LEGACY_SERVER_CONNECT
    # Python asks more of certificates than browsers do since 3.13.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if ca_file is not None:
        context.load_verify_locations(ca_file)
    if not verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _discard(future: concurrent.futures.Future[FetchResult]) -> None:
    if not future.cancelled() and future.exception() is None and isinstance(result := future.result(), Response):
        result.close()


def _run(exchange: RequestsExchange, adapter: HTTPAdapter) -> FetchResult:
    """The whole attempt, on a thread of the pool."""
    job = exchange.job
    prepared = requests.PreparedRequest()
    prepared.method = "GET"
    prepared.url = f"{job.target.scheme}://{job.target.authority}/"
    prepared.headers = requests.structures.CaseInsensitiveDict()
    proxy = names_left_to(job.request.proxy) if job.request.proxy else None
    with exchange.on_this_thread():
        try:
            answer = adapter.send(
                prepared,
                stream=True,
                timeout=(exchange.way.connect_seconds, job.limits.read_timeout),
                proxies={job.target.scheme: proxy} if proxy else {},
            )
        except StopFetch as stop:
            return stop.failure
        except HeadTooLargeError:
            return Failure("too_large_headers", "more header lines or bytes than allowed")
        except MalformedHeadError as fault:
            return Failure("protocol", str(fault))
        except (requests.RequestException, HTTPError, OSError, ValueError) as fault:
            return _failure(exchange, fault)
        return _receive(exchange, answer)


def _receive(exchange: RequestsExchange, answer: requests.Response) -> FetchResult:
    latency = time.monotonic() - exchange.sent_at
    head_read = exchange.answer
    assert isinstance(head_read, TolerantResponse)
    receiver = Receiver(head_read.head.headers, exchange.job.limits, head_read.framing)
    try:
        ended_early = _read_body(exchange, answer, receiver)
    except BaseException:
        receiver.close()
        raise
    finally:
        answer.raw.close()
    receiver.finish("time" if exchange.aborted is not None else ended_early)
    if receiver.corrupt is not None:
        receiver.close()
        return Failure("decode", one_line(receiver.corrupt))
    return receiver.response(
        head_read.head,
        request_head=exchange.head,
        response_head=head_read.raw_head,
        address=exchange.address,
        latency=latency,
        elapsed=time.monotonic() - exchange.started_at,
    )


def _read_body(exchange: RequestsExchange, answer: requests.Response, receiver: Receiver) -> Truncation | None:
    """Feed the receiver to the end of the body or of its wishes; why it ended too early. OSError of a full disk."""
    while True:
        try:
            piece = answer.raw.read1(_PIECE, decode_content=False)
        except (ReadTimeoutError, TimeoutError):
            return "time"
        except (HTTPError, OSError, ValueError) as fault:
            return "length" if _ends_unannounced(exchange, fault) else "cut"
        if not piece:
            return None
        exchange.pace.received(len(piece), time.monotonic())
        if not receiver.feed(piece):
            return None


def _ends_unannounced(exchange: RequestsExchange, fault: Exception) -> bool:
    """A body whose only end is that of the connection came to it, but TLS did not say so (close_notify)."""
    head = exchange.answer
    unframed = head is not None and not head.framing.chunked and head.framing.length is None
    return unframed and isinstance(_root(fault), ssl.SSLEOFError)


def _root(fault: BaseException) -> BaseException:
    """The error that urllib3 and requests wrapped, for its plainer words."""
    while (inner := fault.__cause__ or fault.__context__) is not None:
        fault = inner
    return fault


def _failure(exchange: RequestsExchange, fault: Exception) -> Failure:
    """The kind of an error that came before the head of the answer was whole."""
    if exchange.aborted is not None:
        return Failure("timeout", exchange.aborted, "" if exchange.proxied else exchange.address)
    if (lacking := shortage(fault)) is not None:
        return Failure("local", lacking)
    detail = why(_root(fault))
    if isinstance(fault, requests.exceptions.SSLError) and not exchange.asked:
        return Failure("legacy_tls" if LEGACY_TLS in detail.lower() else "tls", detail)
    if isinstance(fault, requests.Timeout | TimeoutError):
        return Failure("timeout", detail, "" if exchange.proxied else exchange.address)
    if exchange.asked:  # also where urllib3 blames the proxy: what became of the request is the URL's affair
        return Failure("cut", detail)
    if exchange.proxied:
        return Failure("proxy", detail)
    return Failure("tls" if exchange.job.target.scheme == "https" else "connect", detail)
