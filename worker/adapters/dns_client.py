"""Questions to DNS servers, by dnspython on the event loop."""

import errno
import time
from typing import Literal

import dns.asyncresolver
import dns.exception
import dns.message
import dns.name
import dns.rdatatype
import dns.resolver

from gregor.worker.base.shortage import in_words, shortage
from gregor.worker.borders.transport import SocketAddress
from gregor.worker.fetch.dns import Lookup, NotFound, ResolvedName


class DnsClient:
    """Asks one server, or those of resolv.conf; ``timeout``: the whole time of one question in seconds."""

    def __init__(self, server: SocketAddress | None, timeout: float) -> None:
        self._timeout = timeout
        self._dns = _client(server)
        # dnspython stops listening when it asks again; half the time suits both slow servers and lost packets.
        self._dns.timeout = max(2.0, timeout / 2)

    async def query(self, name: str, kind: Literal["A", "AAAA"]) -> Lookup:
        """One family's addresses, or why there are none."""
        try:
            absolute = dns.name.from_text(name, dns.name.root, idna_codec=None)
        except dns.exception.DNSException as fault:
            return NotFound("nxdomain", f"not a DNS name: {fault}")
        try:
            answer = await self._dns.resolve(
                absolute, kind, raise_on_no_answer=False, lifetime=self._timeout, search=False
            )
        except dns.resolver.NXDOMAIN as fault:
            return NotFound("nxdomain", "the name does not exist", _negative_ttl(fault))
        except (dns.exception.DNSException, OSError) as fault:
            if (lacking := _lacking(fault)) is not None:
                return NotFound("local", lacking)
            if isinstance(fault, dns.resolver.LifetimeTimeout):
                return NotFound("timeout", f"no answer within {self._timeout:g} s")
            return NotFound("servfail", f"{type(fault).__name__}: the resolver gave no usable answer")
        now = time.time()  # dnspython's expiration is a wall-clock time; only the difference is used
        ttl = max(0.0, answer.expiration - now)
        if answer.rrset is None:
            return NotFound("nxdomain", "the name has no address", ttl)
        return ResolvedName(tuple(record.address for record in answer.rrset), ttl)


def _client(server: SocketAddress | None) -> dns.asyncresolver.Resolver:
    if server is not None:
        client = dns.asyncresolver.Resolver(configure=False)
        client.nameservers = [server.address]
        client.port = server.port
        return client
    try:
        return dns.asyncresolver.Resolver()
    except dns.resolver.NoResolverConfiguration:
        # A machine without resolv.conf can still crawl what the host table and the hosts file name.
        return dns.asyncresolver.Resolver(configure=False)


def _lacking(fault: dns.exception.DNSException | OSError) -> str | None:
    """What this machine lacks, if that is why a query came to nothing: dnspython keeps what each server's met."""
    kept = getattr(fault, "kwargs", {}).get("errors") or ()
    causes = [fault, *(part for error in kept for part in error if isinstance(part, BaseException))]
    for cause in causes:
        if (lacking := shortage(cause)) is not None:
            return lacking
        if isinstance(cause, OSError) and cause.errno == errno.EADDRNOTAVAIL:
            return in_words(cause.errno)  # no port is left to ask from
    return None


def _negative_ttl(fault: dns.resolver.NXDOMAIN) -> float | None:
    """The SOA's minimum and its own time to live, whichever is less (RFC 2308 section 5)."""
    responses: dict[dns.name.Name, dns.message.QueryMessage] = fault.responses()  # type: ignore[no-untyped-call]
    for response in responses.values():
        for records in response.authority:
            if records.rdtype == dns.rdatatype.SOA:
                return float(min(records.ttl, records[0].minimum))
    return None
