"""Long work on the event loop in pieces: a generator that yields after each lets others run in between."""

import asyncio
from collections.abc import Generator
from typing import Final, TypeAlias, TypeVar

T = TypeVar("T")
InPieces: TypeAlias = Generator[None, None, T]
"""Work that can be laid aside wherever it yields, and then has a result."""

PIECE: Final = 256
"""Items of a piece where each takes some 20 microseconds: 5 ms, and 25 on a machine that is busy."""


def at_once(work: InPieces[T]) -> T:
    """The result, without a pause."""
    while True:
        try:
            next(work)
        except StopIteration as done:
            result: T = done.value
            return result


async def with_pauses(work: InPieces[T]) -> T:
    """The result; the loop runs other tasks between two pieces."""
    while True:
        try:
            next(work)
        except StopIteration as done:
            result: T = done.value
            return result
        await asyncio.sleep(0)
