"""Servers that are not there yet at the start are waited for, as long as configured."""

from collections.abc import Awaitable, Callable
from math import isinf
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from gregor.worker.base.errors import BadInput, complain
from gregor.worker.borders.errors import Unavailable
from gregor.worker.config.servers import SERVERS, Servers

if TYPE_CHECKING:
    from tenacity import RetryCallState

T = TypeVar("T")
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 5.0


def nobody(_: Unavailable) -> None:
    """Hears of what is away, and does nothing."""


async def when_there(
    ask: Callable[[], Awaitable[T]], seconds: float, settings: Servers, away: Callable[[Unavailable], None] = nobody
) -> T:
    """Ask a service, again while it is away, for so long. Raises `BadInput` when it stays away.

    ``settings`` say where it is: both lines that are told of it have its address. ``away`` hears of each try in vain.
    """
    begun = monotonic()
    try:
        return await ask()
    except Unavailable as error:
        return await _again(ask, error, max(0.0, seconds - (monotonic() - begun)), settings, away)


async def _again(
    ask: Callable[[], Awaitable[T]],
    first: Unavailable,
    seconds: float,
    settings: Servers,
    away: Callable[[Unavailable], None],
) -> T:
    """After a ``first`` try in vain."""
    # Heavy, and most servers are there.
    from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_delay, wait_exponential

    failures = [first]

    async def tell(state: "RetryCallState") -> None:
        error = state.outcome.exception() if state.outcome is not None else None
        assert isinstance(error, Unavailable)
        away(error)
        if state.attempt_number == 1:
            how_long = "until it is there" if isinf(seconds) else f"for {seconds:.0f} s"
            complain(f"{error}; trying again{_where(error, settings)} {how_long}")

    attempts = AsyncRetrying(
        retry=retry_if_exception_type(Unavailable),
        wait=wait_exponential(FIRST_PAUSE, LONGEST_PAUSE),
        stop=stop_after_delay(seconds),
        before_sleep=tell,
        reraise=True,
    )
    try:
        async for attempt in attempts:
            with attempt:
                if failures:
                    raise failures.pop()
                return await ask()
    except Unavailable as error:
        name = error.service.lower()
        fit = f"that the settings {name}* fit it (TLS, names and passwords too)"
        raise BadInput(f"{error}; see that it is up{_where(error, settings)}, and {fit}") from None
    raise AssertionError("the last attempt returns or raises")


def _where(error: Unavailable, settings: Servers) -> str:
    name = error.service.lower()
    return f" at {', '.join(getattr(settings, name))}" if name in (*SERVERS, "opensearch") else ""
