"""What both transports do around one attempt: check the request, choose the ways to the host, tell TLS faults apart."""

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Protocol

import msgspec

from gregor.worker.adapters.transport.http1 import Fields, Target, fields, one_line, split_href
from gregor.worker.borders.transport import Failure, FetchResult, Limits, Permit, Request, Response

_REMOTE_NAMES = {"socks5": "socks5h", "socks4": "socks4a"}


class AddressGuard(Protocol):
    """Which endpoints may be connected to."""

    def allows(self, ip: str, port: int) -> bool: ...


class Job(msgspec.Struct, frozen=True):
    """A request that can be sent, with its parts at hand."""

    request: Request
    target: Target
    fields: Fields
    limits: Limits
    permit: Permit


class Way(msgspec.Struct, frozen=True):
    """Where and how to connect: addresses in order of preference, all at one port. Unused behind a proxy."""

    addresses: tuple[str, ...]
    port: int
    verify: bool = True


Attempt = Callable[[Job, Way], Awaitable[FetchResult]]


async def attempt_all(
    request: Request, limits: Limits, permit: Permit, guard: AddressGuard, attempt: Attempt
) -> FetchResult:
    """Fetch by `attempt`, which is made again only where the one before it ended before anything was sent."""
    try:
        job = Job(request, split_href(request.href), fields(request.headers), limits, permit)
    except ValueError as fault:
        return Failure("request", one_line(str(fault)))
    ways = _ways(request, guard)
    if not ways:
        refused = ", ".join(endpoint.address for endpoint in request.endpoints)
        return Failure("refused_address", refused) if refused else Failure("connect", "the host has no address")
    for way in ways:
        result = await _attempt_tls(job, way, attempt)
        if not (isinstance(result, Failure) and result.kind == "connect"):
            break
    return _proxys(job, result)


def _proxys(job: Job, result: FetchResult) -> FetchResult:
    """An answer to plain HTTP that is the proxy's own is no page, and no robots.txt, of the host."""
    if isinstance(result, Failure) or result.status != HTTPStatus.PROXY_AUTHENTICATION_REQUIRED:
        return result
    if not reads_requests(job):
        return result
    result.close()
    return Failure("proxy", "the proxy wants a user name and a password, or others (407)")


def reads_requests(job: Job) -> bool:
    """Whether the proxy is sent the request itself, in its absolute form (RFC 9112 section 3.2.2), not a tunnel."""
    proxy = (job.request.proxy or "").partition(":")[0]
    return job.target.scheme == "http" and proxy in ("http", "https")


async def _attempt_tls(job: Job, way: Way, attempt: Attempt) -> FetchResult:
    result = await attempt(job, way)
    if not (job.request.insecure and isinstance(result, Failure) and result.kind == "tls"):
        return result
    # The handshake failed; once more without verification, and the fault goes on record.
    fault = result.detail
    result = await attempt(job, Way(way.addresses, way.port, verify=False))
    if isinstance(result, Response):
        result.tls_fault = fault
    return result


def _ways(request: Request, guard: AddressGuard) -> list[Way]:
    if request.proxy is not None:
        return [Way((), 0)]
    by_port: dict[int, list[str]] = {}
    for address, port in request.endpoints:
        if guard.allows(address, port):
            by_port.setdefault(port, []).append(address)
    return [Way(tuple(addresses), port) for port, addresses in by_port.items()]


def names_left_to(proxy: str) -> str:
    """The proxy's URL with the scheme that leaves names to it."""
    scheme, separator, rest = proxy.partition("://")
    return _REMOTE_NAMES.get(scheme, scheme) + separator + rest if separator else proxy
