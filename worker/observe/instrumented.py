"""The borders of a worker with every call counted and timed, whichever engine is behind them."""

import time
from collections.abc import Awaitable, Callable
from inspect import iscoroutinefunction, ismethod
from typing import Any, TypeVar

from gregor.worker.borders.errors import Unavailable
from gregor.worker.borders.services import Services
from gregor.worker.borders.transport import Failure, FetchResult, Limits, Permit, Request, Transport
from gregor.worker.observe.stats import Stats
from gregor.worker.observe.timing import Timing

B = TypeVar("B")


class MeasuredTransport:
    """A `Transport` whose failed requests are counted by the time they took: nothing else tells of it."""

    def __init__(self, transport: Transport, stats: Stats, clock: Callable[[], float]) -> None:
        self._transport = transport
        self._lost = stats.lost
        self._clock = clock

    async def fetch(self, request: Request, limits: Limits, permit: Permit) -> FetchResult:
        """See `Transport.fetch`."""
        begun = self._clock()
        result = await self._transport.fetch(request, limits, permit)
        if isinstance(result, Failure):
            self._lost[f"lost {result.kind}"] += self._clock() - begun
        return result

    async def close(self) -> None:
        """See `Transport.close`."""
        await self._transport.close()


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
        attribute = getattr(self._border, name)
        if not iscoroutinefunction(attribute) or name in self._unmeasured:
            if ismethod(attribute):
                self.__dict__[name] = attribute
            return attribute  # what is no method is looked up anew each time: it may be a value that changes
        timed = _timed(attribute, (self._name, name), self._stats, self._clock)
        self.__dict__[name] = timed
        return timed


def _timed(
    call: Callable[..., Awaitable[Any]], names: tuple[str, str], stats: Stats, clock: Callable[[], float]
) -> Callable[..., Awaitable[Any]]:
    observe, health = stats.calls.setdefault(names, Timing()).observe, stats.health

    async def timed(*args: Any, **kwargs: Any) -> Any:
        begun = clock()
        try:
            answer = await call(*args, **kwargs)
        except Unavailable as error:
            stats.call_failed(names, error, clock())
            raise
        else:
            if health.wrong:
                stats.call_succeeded(names, begun)
            return answer
        finally:
            observe(clock() - begun)

    return timed


def instrumented(
    border: B, name: str, stats: Stats, *unmeasured: str, clock: Callable[[], float] = time.perf_counter
) -> B:
    """The border as it was, its asynchronous calls counted under ``name``. ``unmeasured`` only wait for news."""
    standing_in: Any = _Measured(border, name, stats, frozenset(unmeasured), clock)
    measured: B = standing_in
    return measured


def all_measured(services: Services, stats: Stats, clock: Callable[[], float]) -> Services:
    """The services of a worker, each measured. ``clock``: monotonic seconds."""
    stats.calls["resolver", "resolve"] = stats.stages["dns"]
    return Services(
        instrumented(services.log, "log", stats, clock=clock),
        instrumented(services.seen, "seen", stats, clock=clock),
        instrumented(services.store, "store", stats, clock=clock),
        instrumented(services.coordinator, "coordinator", stats, "changed", clock=clock),
        MeasuredTransport(services.transport, stats, clock),
        instrumented(services.resolver, "resolver", stats, clock=clock),
        services.addresses and instrumented(services.addresses, "addresses", stats, clock=clock),
        None if services.settler is None else instrumented(services.settler, "store", stats, clock=clock),
        services.counters,
    )
