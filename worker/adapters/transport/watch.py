"""Ends a fetch that is too slow: a timer of the event loop that looks when its pace can have become wrong."""

import asyncio
import time
from collections.abc import Callable

from gregor.worker.adapters.transport.pace import Pace


class Watch:
    """Calls `end` once, with the fault, unless stopped before."""

    def __init__(self, pace: Pace, end: Callable[[str], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._pace, self._end = pace, end
        self._look_later(time.monotonic())

    def stop(self) -> None:
        """No more looks."""
        self._timer.cancel()

    def _look_later(self, now: float) -> None:
        self._timer = self._loop.call_later(self._pace.next_look(now), self._look)

    def _look(self) -> None:
        now = time.monotonic()
        fault = self._pace.fault(now)
        if fault is None:
            self._look_later(now)
        else:
            self._end(fault)
