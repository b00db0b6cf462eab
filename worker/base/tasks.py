"""Small helpers for asyncio's tasks and events."""

import asyncio
from collections.abc import Iterable, Sequence
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
