"""Names to endpoints: host table, literals, the hosts file, then DNS by dnspython on the event loop.

getaddrinfo is not used: it gives no time to live, and a slow name would hold a thread.
"""

import asyncio
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from gregor.worker.base.shortage import shortage
from gregor.worker.borders.resolver import DnsFailure, Resolution
from gregor.worker.borders.transport import SocketAddress
from gregor.worker.fetch.dns import DnsCache, Lookup, NotFound, ResolvedName, interleave, literal_address, parse_hosts
from gregor.worker.fetch.host_table import HostTable

if TYPE_CHECKING:
    from gregor.worker.adapters.dns_client import DnsClient  # heavy: only who asks for a name loads it

RESOLUTION_DELAY = 0.05
"""Seconds to wait for one family's addresses when the other's are there (RFC 8305 section 3)."""

_LOCALHOST = ("::1", "127.0.0.1")


class DnsResolver:
    """A `Resolver`. Concurrent look-ups of one name are one; every result goes through the cache.

    `server` asks that one resolver instead of those of resolv.conf; `timeout` is the whole time of one look-up in
    seconds. `clock` is the monotonic clock that `Resolution.expires` belongs to.
    """

    def __init__(
        self,
        *,
        cache: DnsCache | None = None,
        host_table: HostTable | None = None,
        server: SocketAddress | None = None,
        timeout: float = 10.0,
        hosts_file: Path = Path("/etc/hosts"),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._cache = cache if cache is not None else DnsCache()
        self._host_table = host_table if host_table is not None else HostTable()
        self._hosts = parse_hosts(hosts_file.read_text("utf-8", "replace")) if hosts_file.is_file() else {}
        self._clock = clock
        self._timeout = timeout
        self._server = server
        self._client: DnsClient | None = None
        self._running: dict[str, asyncio.Task[tuple[Lookup, float]]] = {}

    def remembered(self, hostname: str, port: int) -> Resolution | DnsFailure | None:
        """See `Resolver.remembered`. Names in the host table, literals and the hosts file never expire."""
        if listed := self._host_table.lookup(hostname, port):
            return Resolution(listed, math.inf)
        if addresses := self._local(hostname):
            return Resolution(tuple(SocketAddress(address, port) for address in addresses), math.inf)
        kept = self._cache.get(hostname.removesuffix("."), self._clock())
        return None if kept is None else _answer(*kept, port)

    async def resolve(self, hostname: str, port: int) -> Resolution | DnsFailure:
        """See `Resolver.resolve`."""
        if (answer := self.remembered(hostname, port)) is not None:
            return answer
        return _answer(*await self._shared(hostname.removesuffix(".")), port)

    def _local(self, hostname: str) -> tuple[str, ...]:
        if literal := literal_address(hostname):
            return (literal,)
        name = hostname.removesuffix(".")
        if name == "localhost" or name.endswith(".localhost"):  # RFC 6761 section 6.3
            return _LOCALHOST
        return self._hosts.get(name, ())

    async def _shared(self, name: str) -> tuple[Lookup, float]:
        task = self._running.get(name)
        if task is None:
            task = self._running[name] = asyncio.create_task(self._look_up(name))
            task.add_done_callback(lambda _: self._running.pop(name, None))
        # One caller's cancellation must not take the answer away from the others.
        return await asyncio.shield(task)

    async def _look_up(self, name: str) -> tuple[Lookup, float]:
        try:
            client = self._dns
        except OSError as fault:  # its modules are files, too
            if (lacking := shortage(fault)) is None:
                raise
            return NotFound("local", lacking), self._clock()
        lookup = await _both_families(client, name)
        if isinstance(lookup, NotFound) and lookup.kind == "local":
            return lookup, self._clock()  # it says nothing of the name
        return lookup, self._cache.put(name, lookup, self._clock())

    @property
    def _dns(self) -> "DnsClient":
        """Made when the first name is asked for: it costs some 50 ms."""
        if self._client is None:
            from gregor.worker.adapters.dns_client import DnsClient

            self._client = DnsClient(self._server, self._timeout)
        return self._client


def _answer(lookup: Lookup, expires: float, port: int) -> Resolution | DnsFailure:
    if isinstance(lookup, NotFound):
        return DnsFailure(lookup.kind, lookup.detail, expires)
    return Resolution(tuple(SocketAddress(address, port) for address in lookup.addresses), expires)


async def _both_families(client: "DnsClient", name: str) -> Lookup:
    six = asyncio.create_task(client.query(name, "AAAA"))
    four = asyncio.create_task(client.query(name, "A"))
    try:
        done, waiting = await asyncio.wait((six, four), return_when=asyncio.FIRST_COMPLETED)
        settled = any(isinstance(task.result(), ResolvedName) for task in done)
        await asyncio.wait(waiting or done, timeout=RESOLUTION_DELAY if settled else None)
        return _merge(*(task.result() if task.done() else NotFound("timeout", "late") for task in (six, four)))
    finally:
        six.cancel()
        four.cancel()


def _merge(six: Lookup, four: Lookup) -> Lookup:
    answered = [lookup for lookup in (six, four) if isinstance(lookup, ResolvedName)]
    if answered:
        addresses = [lookup.addresses if isinstance(lookup, ResolvedName) else () for lookup in (six, four)]
        return ResolvedName(interleave(*addresses), min(lookup.ttl for lookup in answered))
    # A family that could not be asked leaves the question open; what the other one says is then not final.
    failures = [lookup for lookup in (four, six) if isinstance(lookup, NotFound)]
    failures.sort(key=lambda failure: failure.kind != "local")
    return next((failure for failure in failures if failure.kind != "nxdomain"), failures[0])
