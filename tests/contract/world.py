"""What a contract case holds: an engine that may be closed and opened again in the middle of the case."""

import asyncio
import functools
import threading
from collections.abc import Awaitable, Callable

from gregor.schemas.messages import Ticket
from gregor.worker.borders.reader import Reader
from gregor.worker.orders.model import By, Order, Orders, give
from tests.contract.engines import Engine, EngineFactory


class Permitted:
    """A `Permit`. ``told_on``: the threads on which it was told that the request is sent."""

    def __init__(self, leased: bool = True) -> None:
        self._leased = leased
        self.told_on: list[int] = []

    def goes_to(self, addresses: tuple[str, ...], delay: float) -> None:
        """Nobody asks for it."""

    def allows(self) -> bool:
        return self._leased

    def sent(self) -> None:
        self.told_on.append(threading.get_ident())


class ManualClock:
    """A clock that stands still until it is told otherwise."""

    def __init__(self, wall: float = 1_800_000_000.0) -> None:
        self.wall_now = wall
        self.monotonic_now = 1000.0

    def monotonic(self) -> float:
        return self.monotonic_now

    def wall(self) -> float:
        return self.wall_now

    def pass_(self, seconds: float) -> None:
        self.wall_now += seconds
        self.monotonic_now += seconds


class World:
    """A crawl's data. With ``reopens``, `again` closes the engine and opens it anew; else it goes on with the same."""

    def __init__(self, factory: EngineFactory, *, reopens: bool) -> None:
        self.clock = ManualClock()
        self._factory = factory
        self._reopens = reopens
        self._engine: Engine | None = None
        self._readers: list[Reader] = []

    async def open(self) -> Engine:
        self._engine = await self._factory.open(self.clock)
        return self._engine

    async def again(self) -> Engine:
        assert self._engine is not None
        return await self.reopen() if self._reopens else self._engine

    async def reopen(self) -> Engine:
        assert self._engine is not None
        await self._engine.close()
        return await self.open()

    async def reader(self) -> Reader:
        self._readers.append(await self._factory.reader())
        return self._readers[-1]

    async def close(self) -> None:
        for reader in self._readers:
            await reader.close()
        if self._engine is not None:
            await self._engine.close()
        await self._factory.close()


def run(case: Callable[[World], Awaitable[None]]) -> Callable[[World], None]:
    """Make an asynchronous case an ordinary one."""

    @functools.wraps(case)
    def test(world: World) -> None:
        async def whole() -> None:
            try:
                async with asyncio.timeout(60):
                    await case(world)
            finally:
                await world.close()

        asyncio.run(whole())

    return test


def ordered(*orders: Order) -> Orders:
    """The orders when these were given to an empty crawl."""
    found = Orders()
    for order in orders:
        found = give(found, order, By("ann", 1.8e9, "why", "here"))
    return found


def ticket(path: str, host: str = "example.org", **fields: object) -> Ticket:
    """A ticket of a URL of a host."""
    url = f"http://{host}/{path}"
    return Ticket(href=url, key=url, host=host, **fields)  # type: ignore[arg-type]
