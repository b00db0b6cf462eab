"""Two transports in one: a host whose answers the first calls malformed is asked by the second from then on."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable

from gregor.worker.borders.transport import Failure, FetchResult, Limits, Permit, Request, Transport

REMEMBERED = 10_000
"""Hosts whose need of the second transport is kept in mind."""


class LenientTransport:
    """A `Transport`. Failure("protocol") of the first is handed on, not repeated: whether and when there is one more
    try is the crawl's to say, since it would be a second request to the host. That try then goes by the second.

    ``second`` makes it: it is asked once, when a host needs it.
    """

    def __init__(self, first: Transport, second: Callable[[], Transport]) -> None:
        self._first, self._make_second = first, second
        self._second: Transport | None = None
        self._malformed: OrderedDict[str, None] = OrderedDict()

    async def fetch(self, request: Request, limits: Limits, permit: Permit) -> FetchResult:
        """See `Transport.fetch`."""
        origin = "/".join(request.href.split("/", 3)[:3])
        if origin in self._malformed:
            self._malformed.move_to_end(origin)
            second = self._second = self._second or self._make_second()
            return await second.fetch(request, limits, permit)
        result = await self._first.fetch(request, limits, permit)
        if isinstance(result, Failure) and result.kind == "protocol":
            self._malformed[origin] = None
            if len(self._malformed) > REMEMBERED:
                self._malformed.popitem(last=False)
        return result

    async def close(self) -> None:
        """See `Transport.close`."""
        await asyncio.gather(*(one.close() for one in (self._first, self._second) if one is not None))
