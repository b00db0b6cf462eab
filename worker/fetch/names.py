"""Addresses of names, found without holding up other visits: what takes long is looked up beside them, so many at once.

A visit waits a moment for a name; then its host's turn is over until the look-up ends. So hosts whose names nobody
answers for take no places of visits that could run.
"""

import asyncio
from collections.abc import Callable
from typing import Final, TypeAlias

from gregor.worker.borders.resolver import DnsFailure, Resolution, Resolver
from gregor.worker.fetch.held import NameAwaited
from gregor.worker.observe.timing import Crowd

PATIENCE: Final = 0.25
"""Seconds for which a visit waits for a name."""
_KEPT: Final = 5.0
"""Seconds for which what was found is kept for the turn that waits for it, though the resolver may forget at once."""
AT_LEAST: Final = 64
"""Look-ups at once that there may be in any case."""

LookupTask: TypeAlias = asyncio.Task[Resolution | DnsFailure]
HostPort: TypeAlias = tuple[str, int]
"""A name as it stands in a URL, and a port."""


class NameLookups:
    """Looks names up, ``most`` at once; others wait for their turn among them.

    ``awaited`` counts the hosts whose turns wait for a name.
    """

    def __init__(self, resolver: Resolver, most: int, monotonic: Callable[[], float]) -> None:
        self._resolver = resolver
        self._most = most
        self._places = asyncio.Semaphore(most)
        self._lookups: dict[HostPort, LookupTask] = {}
        self._waited_for: set[HostPort] = set()  # of these, turns wait for the end
        self._ended: dict[HostPort, LookupTask] = {}
        self.awaited = Crowd(monotonic)

    def prefetch(self, hostname: str, port: int) -> None:
        """Look a name up, if there is room, so that a turn need not wait for it. That nothing is found is told then."""
        place = hostname, port
        room = place not in self._lookups and len(self._lookups) < self._most
        if room and self._resolver.remembered(hostname, port) is None:
            self._begin(place)

    async def find(self, hostname: str, port: int) -> Resolution | DnsFailure:
        """What a name leads to. Raises `NameAwaited` when that takes long."""
        remembered = self._resolver.remembered(hostname, port)
        if remembered is not None:
            return remembered
        place = hostname, port
        lookup = self._ended.pop(place, None) or self._lookups.get(place) or self._begin(place)
        if not lookup.done() and len(self._lookups) <= self._most:  # else it has not even begun
            await asyncio.wait((lookup,), timeout=PATIENCE)
        if lookup.done():
            return lookup.result()
        if place not in self._waited_for:
            self._waited_for.add(place)
            self.awaited.changes(1)
        raise NameAwaited(lookup.add_done_callback)

    def _begin(self, place: HostPort) -> LookupTask:
        lookup = self._lookups[place] = asyncio.create_task(self._look_up(place))
        lookup.add_done_callback(lambda _: self._over(place, lookup))
        return lookup

    async def _look_up(self, place: HostPort) -> Resolution | DnsFailure:
        async with self._places:
            return await self._resolver.resolve(*place)

    def _over(self, place: HostPort, lookup: LookupTask) -> None:
        del self._lookups[place]
        if place in self._waited_for:
            self._waited_for.remove(place)
            self.awaited.changes(-1)
            if not lookup.cancelled():
                self._ended[place] = lookup
                lookup.get_loop().call_later(_KEPT, self._ended.pop, place, None)
