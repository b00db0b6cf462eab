"""The contract's cases over a restart: all of them write, the server restarts once, all of them check."""

import asyncio
from collections.abc import Awaitable, Callable
from types import ModuleType
from typing import Final

from gregor.worker.borders.errors import Unavailable
from tests.contract.engines import Engine, EngineFactory
from tests.contract.world import World

Case = Callable[[World], Awaitable[None]]
Ask = Callable[[Engine], Awaitable[object]]

_LONGEST: Final = 300.0
_PAUSE: Final = 0.1


class _Restart:
    """Where the cases meet: the server restarts when each has come here or ended."""

    def __init__(self, cases: int, restart: Callable[[], None]) -> None:
        self._left = cases
        self._restart = restart
        self._task: asyncio.Task[None] | None = None
        self._done = asyncio.Event()

    async def wait(self) -> None:
        self._left -= 1
        if not self._left:
            self._task = asyncio.create_task(self._run())
        await self._done.wait()
        assert self._task is not None
        await asyncio.shield(self._task)

    async def _run(self) -> None:
        try:
            await asyncio.to_thread(self._restart)
        finally:
            self._done.set()


class _World(World):
    """A world whose first middle is the restart."""

    def __init__(self, factory: EngineFactory, restart: _Restart, ask: Ask | None) -> None:
        super().__init__(factory, reopens=False)
        self._restart = restart
        self._ask = ask
        self._came = False

    async def again(self) -> Engine:
        await self._meet()
        engine = await super().again()
        while self._ask is not None:  # a client finds a server that is back in its own time: whoever asks asks again
            try:
                await self._ask(engine)
                break
            except Unavailable:
                await asyncio.sleep(_PAUSE)
        return engine

    async def close(self) -> None:
        await self._meet()  # nobody tidies up while the server restarts
        await super().close()

    async def _meet(self) -> None:
        if not self._came:
            self._came = True
            await self._restart.wait()


def cases_of(module: ModuleType) -> dict[str, Case]:
    """The asynchronous cases of a contract module, by name."""
    return {name: case.__wrapped__ for name, case in vars(module).items() if name.startswith("test_")}


def over_restart(
    cases: dict[str, Case], factory: Callable[[], EngineFactory], restart: Callable[[], None], ask: Ask | None = None
) -> None:
    """Run cases side by side, each over its own data; ``restart`` blocks until the server is back.

    A case goes on when ``ask`` is answered by its engine.
    """

    async def one(name: str, case: Case, meeting: _Restart) -> None:
        world = _World(factory(), meeting, ask)
        try:
            await case(world)
        except Exception as error:
            error.add_note(f"in {name}")
            raise
        finally:
            await world.close()

    async def whole() -> None:
        meeting = _Restart(len(cases), restart)
        async with asyncio.timeout(_LONGEST):
            found = await asyncio.gather(
                *[one(name, case, meeting) for name, case in cases.items()], return_exceptions=True
            )
        failures = [error for error in found if isinstance(error, Exception)]
        if failures:
            raise ExceptionGroup("after the restart", failures)

    asyncio.run(whole())
