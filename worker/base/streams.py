"""Streams of answers that are asked for ahead: what one awaits is not waited for by the next.

A call over a network takes a moment, however little work it is; calls in a row take the sum of their moments.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import Final, TypeVar

from gregor.worker.base.tasks import cancel

A = TypeVar("A")
T = TypeVar("T")

AT_ONCE: Final = 32
"""Calls on their way for one stream: enough to hide a network, few enough to hold their answers."""


async def in_order(
    stream: AsyncIterator[T], ask: Callable[[T], Awaitable[A]], at_once: int = AT_ONCE
) -> AsyncIterator[A]:
    """What ``ask`` answers to each item, in their order; so many are asked at a time. Raises what ``ask`` raises."""
    asked: deque[asyncio.Task[A]] = deque()

    async def task(item: T) -> A:
        return await ask(item)

    try:
        async for item in stream:
            asked.append(asyncio.create_task(task(item)))
            if len(asked) == at_once:
                yield await asked.popleft()
        while asked:
            yield await asked.popleft()
    finally:
        await cancel(list(asked))


async def merged(streams: Iterable[AsyncIterator[T]], at_once: int) -> AsyncIterator[T]:
    """What streams give, as it comes: so many are read at a time, and a few items ahead. Raises what they raise."""
    items: asyncio.Queue[tuple[T] | BaseException | None] = asyncio.Queue(at_once)
    waiting = iter(streams)

    async def read() -> None:
        try:
            for stream in waiting:
                async for item in stream:
                    await items.put((item,))
        except Exception as error:  # noqa: BLE001 - it is raised where the stream is read
            await items.put(error)
        else:
            await items.put(None)

    reading = [asyncio.create_task(read()) for _ in range(at_once)]
    try:
        left = len(reading)
        while left:
            item = await items.get()
            if item is None:
                left -= 1
            elif isinstance(item, BaseException):
                raise item
            else:
                yield item[0]
    finally:
        await cancel(reading)
