"""What both transports do around one attempt: check the request, choose the ways to the host, tell TLS faults apart."""

import time
from collections import deque
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from ipaddress import ip_address
from typing import Protocol

import msgspec

from gregor.worker.adapters.transport.http1 import HeaderFields, RequestTarget, fields, one_line, split_href
from gregor.worker.borders.transport import Failure, FetchResult, Limits, Permit, Request, Response

LEGACY_TLS = "unsafe legacy renegotiation disabled"
"""OpenSSL's words for a server without secure renegotiation."""
_LEAST = 0.05
"""Seconds that every way has at least."""
_REMOTE_NAMES = {"socks5": "socks5h", "socks4": "socks4a"}


class AddressGuard(Protocol):
    """Which endpoints may be connected to."""

    def allows(self, ip: str, port: int) -> bool: ...


class ReadyRequest(msgspec.Struct, frozen=True):
    """A request that can be sent, with its parts at hand."""

    request: Request
    target: RequestTarget
    fields: HeaderFields
    limits: Limits
    permit: Permit


class Way(msgspec.Struct, frozen=True):
    """Where and how to connect: addresses in order of preference, all at one port, unused behind a proxy; and how many
    seconds that may take."""

    addresses: tuple[str, ...]
    port: int
    connect_seconds: float
    verify: bool = True

    def leads_to(self, address: str, port: int) -> bool:
        """Whether a connection to this endpoint is one that the request may go over."""
        return port == self.port and (address in self.addresses or _same_as_any(address, self.addresses))


def _same_as_any(address: str, others: tuple[str, ...]) -> bool:
    """Whether two texts mean one address; the system writes some of IPv6 in another way than Python."""
    try:
        return ip_address(address) in {ip_address(other) for other in others}
    except ValueError:
        return False


AttemptFetch = Callable[[ReadyRequest, Way], Awaitable[FetchResult]]


async def attempt_all(
    request: Request, limits: Limits, permit: Permit, guard: AddressGuard, attempt: AttemptFetch
) -> FetchResult:
    """Fetch by `attempt`, which is made again only where the one before it ended before anything was sent."""
    sending = _Sending(permit)
    try:
        job = ReadyRequest(request, split_href(request.href), fields(request.headers), limits, sending)
    except ValueError as fault:
        return Failure("request", one_line(str(fault)))
    ways = _ways(request, limits, guard)
    if not ways:
        refused = ", ".join(endpoint.address for endpoint in request.endpoints)
        return Failure("refused_address", refused) if refused else Failure("connect", "the host has no address")
    deadline = time.monotonic() + limits.connect_timeout
    while True:
        way = ways.popleft()
        left = deadline - time.monotonic()
        if ways:  # an address that does not answer must leave time for the next one
            left /= 2
        result = await _attempt_tls(job, msgspec.structs.replace(way, connect_seconds=max(_LEAST, left)), attempt)
        if sending.begun or not isinstance(result, Failure) or result.kind not in ("connect", "timeout"):
            return _proxys(job, result)
        if rest := _without(way, result.address):
            ways.appendleft(rest)
            deadline = max(deadline, time.monotonic() + limits.connect_timeout / 2)
        if not ways:
            return result


class _Sending:
    """A `Permit` that knows whether a request may have been written: after that nothing is tried again."""

    def __init__(self, permit: Permit) -> None:
        self._permit = permit
        self.begun = False

    def allows(self) -> bool:
        allowed = self._permit.allows()
        self.begun = self.begun or allowed
        return allowed

    def sent(self) -> None:
        self._permit.sent()


def _without(way: Way, address: str) -> Way | None:
    """What is left of a way when the connection to one of its addresses came to nothing. The transport has tried the
    others, too, unless that one took the connection and then said nothing."""
    if not address or address not in way.addresses or len(way.addresses) == 1:
        return None
    rest = tuple(other for other in way.addresses if other != address)
    return msgspec.structs.replace(way, addresses=rest)


def _proxys(job: ReadyRequest, result: FetchResult) -> FetchResult:
    """An answer to plain HTTP that is the proxy's own is no page, and no robots.txt, of the host."""
    if isinstance(result, Failure) or result.status != HTTPStatus.PROXY_AUTHENTICATION_REQUIRED:
        return result
    if not reads_requests(job):
        return result
    result.close()
    return Failure("proxy", "the proxy wants a user name and a password, or others (407)")


def reads_requests(job: ReadyRequest) -> bool:
    """Whether the proxy is sent the request itself, in its absolute form (RFC 9112 section 3.2.2), not a tunnel."""
    proxy = (job.request.proxy or "").partition(":")[0]
    return job.target.scheme == "http" and proxy in ("http", "https")


async def _attempt_tls(job: ReadyRequest, way: Way, attempt: AttemptFetch) -> FetchResult:
    result = await attempt(job, way)
    if not (job.request.insecure and isinstance(result, Failure) and result.kind == "tls"):
        return result
    # The handshake failed; once more without verification, and the fault goes on record.
    fault = result.detail
    result = await attempt(job, msgspec.structs.replace(way, verify=False))
    if isinstance(result, Response):
        result.tls_fault = fault
    return result


def _ways(request: Request, limits: Limits, guard: AddressGuard) -> deque[Way]:
    if request.proxy is not None:
        return deque([Way((), 0, limits.connect_timeout)])
    by_port: dict[int, list[str]] = {}
    for address, port in request.endpoints:
        if guard.allows(address, port):
            by_port.setdefault(port, []).append(address)
    return deque(Way(tuple(addresses), port, limits.connect_timeout) for port, addresses in by_port.items())


def names_left_to(proxy: str) -> str:
    """The proxy's URL with the scheme that leaves names to it."""
    scheme, separator, rest = proxy.partition("://")
    return _REMOTE_NAMES.get(scheme, scheme) + separator + rest if separator else proxy
