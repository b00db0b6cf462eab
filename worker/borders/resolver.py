"""The border to name resolution."""

from typing import Literal, Protocol

import msgspec

from gregor.worker.borders.transport import SocketAddress


class Resolution(msgspec.Struct, frozen=True):
    """Where to connect, in order of preference. `expires` is a time of the resolver's monotonic clock, in seconds."""

    endpoints: tuple[SocketAddress, ...]
    expires: float


class DnsFailure(msgspec.Struct, frozen=True):
    """No address. NXDOMAIN, also when the name exists but has no address, is told apart from a resolver's failure
    (RFC 2308 section 2): the one is the host's answer, the others say nothing about the host; "local", which nothing
    remembers: this machine had no descriptor or port left to ask with.
    """

    kind: Literal["nxdomain", "timeout", "servfail", "local"]
    detail: str
    expires: float


class Resolver(Protocol):
    """Finds a host's endpoints. Nothing raises; every call bears being repeated."""

    def remembered(self, hostname: str, port: int) -> Resolution | DnsFailure | None:
        """What `resolve` would answer without asking anybody; None where it would ask."""

    async def resolve(self, hostname: str, port: int) -> Resolution | DnsFailure:
        """`hostname` as it stands in a URL: lower-case ASCII or an IP literal, IPv6 in brackets.

        Never raises: what fails is a value, and holds until it `expires` as an answer does. Called again before that it
        answers the same; calls at once for one name ask once. A `Resolution` has one endpoint at least.
        """
