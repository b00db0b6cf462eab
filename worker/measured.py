"""The borders of a worker with every call counted and timed, whichever engine is behind them."""

import time
from collections.abc import Awaitable, Callable
from inspect import iscoroutinefunction, ismethod
from typing import Any, TypeVar

from gregor.worker.borders import Unavailable
from gregor.worker.stats import Stats
from gregor.worker.timing import Timing

B = TypeVar("B")


class _Measured:
    """Stands in for a border. Each method is wrapped at its first use and found as an attribute from then on."""

    def __init__(self, border: Any, name: str, stats: Stats, unmeasured: frozenset[str]) -> None:
        self._border = border
        self._name = name
        self._stats = stats
        self._unmeasured = unmeasured

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._border, name)
        if not iscoroutinefunction(found) or name in self._unmeasured:
            if ismethod(found):
                self.__dict__[name] = found
            return found  # what is no method is looked up anew each time: it may be a value that changes
        timed = _timed(found, self._stats.calls.setdefault((self._name, name), Timing()), self._stats)
        self.__dict__[name] = timed
        return timed


def _timed(call: Callable[..., Awaitable[Any]], timing: Timing, stats: Stats) -> Callable[..., Awaitable[Any]]:
    clock, observe = time.perf_counter, timing.observe

    async def timed(*args: Any, **kwargs: Any) -> Any:
        begun = clock()
        try:
            return await call(*args, **kwargs)
        except Unavailable as error:
            stats.unavailable[error.service] += 1
            raise
        finally:
            observe(clock() - begun)

    return timed


def measured(border: B, name: str, stats: Stats, *unmeasured: str) -> B:
    """The border as it was, its asynchronous calls counted under ``name``. ``unmeasured`` only wait for news."""
    standing_in: Any = _Measured(border, name, stats, frozenset(unmeasured))
    given: B = standing_in
    return given
