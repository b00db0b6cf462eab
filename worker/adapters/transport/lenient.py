"""Two transports in one: a host that the first cannot speak with is asked by the second from then on."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable

from gregor.worker.borders.transport import Failure, FetchResult, Limits, Permit, Request, Transport

REMEMBERED = 10_000
"""Hosts whose need of the second transport is kept in mind."""


class LenientTransport:
    """A `Transport`. Failure("protocol") of the first is handed on, not repeated: whether and when there is one more
    try is the crawl's to say, since it would be a second request to the host. That try then goes by the second.

    ``second`` makes it: it is asked once, when a host needs it. ``legacy_tls``: the second has a handshake with hosts
    that lack secure renegotiation; the first one's ended before anything was sent, so it begins at once.
    """

    def __init__(self, first: Transport, second: Callable[[], Transport], *, legacy_tls: bool = False) -> None:
        self._first, self._make_second = first, second
        self._second: Transport | None = None
        self._legacy_tls = legacy_tls
        self._by_second: OrderedDict[str, None] = OrderedDict()

    async def fetch(self, request: Request, limits: Limits, permit: Permit) -> FetchResult:
        """See `Transport.fetch`."""
        origin = "/".join(request.href.split("/", 3)[:3])
        if origin in self._by_second:
            self._by_second.move_to_end(origin)
            return await self._by_the_second(request, limits, permit)
        result = await self._first.fetch(request, limits, permit)
        kind = result.kind if isinstance(result, Failure) else ""
        legacy = kind == "legacy_tls" and self._legacy_tls
        if kind == "protocol" or legacy:
            self._by_second[origin] = None
            if len(self._by_second) > REMEMBERED:
                self._by_second.popitem(last=False)
        return await self._by_the_second(request, limits, permit) if legacy else result

    async def _by_the_second(self, request: Request, limits: Limits, permit: Permit) -> FetchResult:
        second = self._second = self._second or self._make_second()
        return await second.fetch(request, limits, permit)

    async def close(self) -> None:
        """See `Transport.close`."""
        await asyncio.gather(*(one.close() for one in (self._first, self._second) if one is not None))
