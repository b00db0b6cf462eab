"""Servers that are not there yet at the start are waited for, as long as configured."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, stop_after_delay, wait_exponential

from gregor.worker.borders import Unavailable
from gregor.worker.errors import BadInput, complain

T = TypeVar("T")
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 5.0


async def when_there(ask: Callable[[], Awaitable[T]], seconds: float) -> T:
    """Ask a service, again while it is away, for so long. Raises `BadInput` when it stays away."""
    attempts = AsyncRetrying(
        retry=retry_if_exception_type(Unavailable),
        wait=wait_exponential(FIRST_PAUSE, LONGEST_PAUSE),
        stop=stop_after_delay(max(0.0, seconds)),
        before_sleep=_tell,
        reraise=True,
    )
    try:
        async for attempt in attempts:
            with attempt:
                return await ask()
    except Unavailable as error:
        raise BadInput(f"{error}; is it up, and is the address right?") from None
    raise AssertionError("the last attempt returns or raises")


async def _tell(state: RetryCallState) -> None:
    if state.attempt_number == 1 and state.outcome is not None:
        complain(f"{state.outcome.exception()}; trying again")
