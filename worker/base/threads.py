"""Calls that block, on threads beside an event loop, which so goes on meanwhile."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

T = TypeVar("T")


class Crowded(Exception):
    """All threads are busy, and as many calls wait as may."""


class Threads:
    """So many threads, and so many calls that wait for one; they begin with the first call."""

    def __init__(self, threads: int, waiting: int) -> None:
        self._pool: Final = ThreadPoolExecutor(threads, "gregor-beside")
        self._most: Final = threads + waiting
        self._calls = 0

    async def run(self, call: Callable[[], T], seconds: float | None = None) -> T:
        """What the call gives. Raises `TimeoutError` after so many seconds, waiting included, and `Crowded` at once.

        A call that is late, or is given up by who asked, goes on to its end, and counts until then: it cannot be
        ended from outside.
        """
        if self._calls >= self._most:
            raise Crowded
        self._calls += 1
        loop = asyncio.get_running_loop()
        future = loop.run_in_executor(self._pool, call)
        future.add_done_callback(self._ended)
        done, _ = await asyncio.wait([future], timeout=seconds)
        if not done:
            raise TimeoutError
        return future.result()

    def _ended(self, future: "asyncio.Future[T]") -> None:
        self._calls -= 1
        if not future.cancelled():
            future.exception()  # seen, also where nobody waits for it any more
