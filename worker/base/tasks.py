"""Small helpers for asyncio's tasks and events."""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any

PATIENCE = 0.5  # seconds until a task that did not end is cancelled again


async def until(event: asyncio.Event, seconds: float) -> None:
    """Until the event is set; after so long it is set here. The loops of a worker wait so, several times a page."""
    if not event.is_set():
        timer = asyncio.get_running_loop().call_later(seconds, event.set)
        try:
            await event.wait()
        finally:
            timer.cancel()


async def first_of(events: Iterable[asyncio.Event], seconds: float) -> None:
    """Until one of them is set, or for so long; none of them is set here."""
    waiting = [asyncio.ensure_future(event.wait()) for event in events]
    await asyncio.wait(waiting, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    await cancel(waiting)


class Stirred:
    """What wakes a loop, and tells others when the loop has nothing left to do."""

    def __init__(self) -> None:
        self.woken, self._rests = asyncio.Event(), asyncio.Event()

    def stir(self) -> None:
        """There is something to do."""
        self.woken.set()
        self._rests.clear()

    def rest(self) -> None:
        """The loop found nothing to do in a round that began with `woken` cleared."""
        if not self.woken.is_set():
            self._rests.set()

    async def rested(self, seconds: float) -> None:
        """Until the loop found nothing to do, or for so long."""
        await until(self._rests, seconds)


async def cancel(tasks: Sequence[asyncio.Future[Any]]) -> None:
    """Cancel tasks and await their end.

    Again after a while: a cancellation can be swallowed, as by `asyncio.wait_for` when what it waits for ends at the
    same moment (before Python 3.12), and the task would go on for ever.
    """
    pending = set(tasks)
    while pending:
        for task in pending:
            task.cancel()
        _, pending = await asyncio.wait(pending, timeout=PATIENCE)


@asynccontextmanager
async def beside(work: Coroutine[Any, Any, None]) -> AsyncIterator[asyncio.Task[None]]:
    """Do it while the block runs, and no longer."""
    task = asyncio.create_task(work)
    try:
        yield task
    finally:
        await cancel([task])
