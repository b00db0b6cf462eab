"""What both transports do around one attempt: check the request, choose the ways to the host, tell TLS faults apart."""

from collections.abc import Awaitable, Callable
from typing import Protocol

import msgspec

from gregor.worker.adapters.transport.http1 import Fields, Target, fields, one_line, split_href
from gregor.worker.transport import Failure, FetchResult, Limits, Request, Response

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
    may_send: Callable[[], bool]


class Way(msgspec.Struct, frozen=True):
    """Where and how to connect: addresses in order of preference, all at one port. Unused behind a proxy."""

    addresses: tuple[str, ...]
    port: int
    verify: bool = True


Attempt = Callable[[Job, Way], Awaitable[FetchResult]]


async def attempt_all(
    request: Request, limits: Limits, may_send: Callable[[], bool], guard: AddressGuard, attempt: Attempt
) -> FetchResult:
    """Fetch by `attempt`, which is made again only where the one before it ended before anything was sent."""
    try:
        job = Job(request, split_href(request.href), fields(request.headers), limits, may_send)
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
    return result


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
