"""Calls of the borders that wait while a service is away; an owner's effects, each made only while its lease holds."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Final, Protocol, TypeVar

from gregor.worker.borders.errors import Unavailable

T = TypeVar("T")
FIRST_PAUSE: Final = 0.1
"""Seconds before the second try of a call; each pause is twice as long as the one before."""
LONGEST_PAUSE: Final = 5.0


class LeaseLost(Exception):
    """The lease may have run out: what runs under it stops, without an effect."""


class Holding(Protocol):
    """As much of a lease as an effect asks for."""

    def holds(self) -> bool:
        """Whether nobody else can own the partition now."""


class Watching(Protocol):
    """Who is told of what has to be asked again."""

    def retrying(self, error: Unavailable) -> None:
        """A service is away; the call will be made again."""


class Effects:
    """What one owner of a partition asks of the borders, under its lease."""

    def __init__(self, lease: Holding, watching: Watching, chance: random.Random) -> None:
        """``chance`` spreads the pauses between two tries."""
        self._lease = lease
        self._watching = watching
        self._chance = chance

    async def run(self, call: Callable[[], Awaitable[T]]) -> T:
        """Ask a border: again while its service is away, never once the lease may be over (`LeaseLost`)."""
        pause = FIRST_PAUSE
        while True:
            if not self._lease.holds():
                raise LeaseLost
            try:
                result = await call()
            except Unavailable as error:
                self._watching.retrying(error)
                await asyncio.sleep(pause * (1.0 + self._chance.random()))
                pause = min(2.0 * pause, LONGEST_PAUSE)
            else:
                return result


class _Always:
    """In the place of a lease, where none is needed."""

    def holds(self) -> bool:
        return True


class Retries:
    """A worker's calls that are made again while their service is away."""

    def __init__(self, watching: Watching, chance: random.Random) -> None:
        self._watching = watching
        self._chance = chance
        self._unbound = self.under(_Always())

    def under(self, lease: Holding) -> Effects:
        """The effects of the owner that has a lease."""
        return Effects(lease, self._watching, self._chance)

    def retry_until_available(self, call: Callable[[], Awaitable[T]]) -> Awaitable[T]:
        """Ask a border where no lease is needed."""
        return self._unbound.run(call)
