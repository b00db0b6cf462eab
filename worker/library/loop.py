"""An event loop on a thread of its own, so that what waits can be called from anywhere: also where a loop runs, as in a
notebook."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any, Final, TypeVar

from gregor.worker.base.tasks import cancel

T = TypeVar("T")
_AT_ONCE: Final = 64
"""Items that are asked for at once: a change of threads costs as much as reading one."""


class Loop:
    """Runs coroutines for threads that wait for them."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="gregor-library", daemon=True)
        self._thread.start()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """What a coroutine returns; raises what it raises. An interrupt of the caller cancels it."""
        if self._loop.is_closed():
            coroutine.close()
            raise RuntimeError(
                "this crawl is closed: open it again with gregor.open, or read within the `with` statement"
            )
        future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def iterate(self, stream: AsyncIterator[T]) -> Iterator[T]:
        """The items of a stream; one that is left before its end is closed."""
        try:
            while items := self.run(_some(stream)):
                yield from items
        finally:
            if (close := getattr(stream, "aclose", None)) is not None and self._loop.is_running():
                self.run(close())

    def close(self) -> None:
        """End it. May be repeated."""
        if self._loop.is_running():
            self.run(_end_all())
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
        self._loop.close()

    def call(self, function: Callable[[], object]) -> None:
        """Have a function called there, soon."""
        self._loop.call_soon_threadsafe(function)


async def _end_all() -> None:
    """End what still waits, as `asyncio.run` does."""
    await cancel([task for task in asyncio.all_tasks() if task is not asyncio.current_task()])
    await asyncio.get_running_loop().shutdown_asyncgens()


async def _some(stream: AsyncIterator[T]) -> list[T]:
    items: list[T] = []
    async for item in stream:
        items.append(item)
        if len(items) == _AT_ONCE:
            break
    return items
