"""Small helpers for asyncio's tasks and events."""

import asyncio
from collections.abc import Sequence
from typing import Any


async def until(event: asyncio.Event, seconds: float) -> None:
    """Until the event is set, at most so long."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return


async def cancel(tasks: Sequence[asyncio.Future[Any]]) -> None:
    """Cancel tasks and await their end."""
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks)
