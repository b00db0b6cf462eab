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

    def __init__(
        self, border: Any, name: str, stats: Stats, unmeasured: frozenset[str], clock: Callable[[], float]
    ) -> None:
        self._border = border
        self._name = name
        self._stats = stats
        self._unmeasured = unmeasured
        self._clock = clock

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._border, name)
        if not iscoroutinefunction(found) or name in self._unmeasured:
            if ismethod(found):
                self.__dict__[name] = found
            return found  # what is no method is looked up anew each time: it may be a value that changes
        timed = _timed(found, (self._name, name), self._stats, self._clock)
        self.__dict__[name] = timed
        return timed


def _timed(
    call: Callable[..., Awaitable[Any]], names: tuple[str, str], stats: Stats, clock: Callable[[], float]
) -> Callable[..., Awaitable[Any]]:
    observe = stats.calls.setdefault(names, Timing()).observe

    async def timed(*args: Any, **kwargs: Any) -> Any:
        begun = clock()
        try:
            return await call(*args, **kwargs)
        except Unavailable as error:
            stats.unavailable[error.service] += 1
            stats.failed_calls[names] += 1
            raise
        finally:
            observe(clock() - begun)

    return timed


def measured(border: B, name: str, stats: Stats, *unmeasured: str, clock: Callable[[], float] = time.perf_counter) -> B:
    """The border as it was, its asynchronous calls counted under ``name``. ``unmeasured`` only wait for news."""
    standing_in: Any = _Measured(border, name, stats, frozenset(unmeasured), clock)
    given: B = standing_in
    return given
