"""Ends fetches that are too slow: one timer of the event loop, for whichever of them can be too slow first."""

import asyncio
import math
import time
from collections.abc import Callable

from gregor.worker.adapters.transport.pace import Pace


class Watch:
    """Calls what a fetch was begun with once, with the fault, unless it is over before."""

    def __init__(self) -> None:
        self._ends: dict[Pace, Callable[[str], None]] = {}
        self._due = math.inf
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, pace: Pace, end: Callable[[str], None]) -> None:
        """Watch a fetch."""
        self._ends[pace] = end
        now = time.monotonic()
        self._look_by(now, pace.next_look(now))

    def over(self, pace: Pace) -> None:
        """No more looks at this one. May be repeated."""
        self._ends.pop(pace, None)

    def close(self) -> None:
        """No more looks at all."""
        self._ends.clear()
        if self._timer is not None:
            self._timer.cancel()

    def _look_by(self, now: float, seconds: float) -> None:
        """A timer that is set for something that is over comes early for the others, and is set anew then."""
        if now + seconds < self._due:
            if self._timer is not None:
                self._timer.cancel()
            self._due = now + seconds
            self._timer = asyncio.get_running_loop().call_later(seconds, self._look)

    def _look(self) -> None:
        now, self._due = time.monotonic(), math.inf
        for pace, end in list(self._ends.items()):
            fault = pace.fault(now)
            if fault is None:
                self._look_by(now, pace.next_look(now))
            else:
                self.over(pace)
                end(fault)
