"""Streams in batches: what costs the same for one and for many is done for many."""

from collections.abc import AsyncIterator
from typing import TypeVar

T = TypeVar("T")


async def in_batches(stream: AsyncIterator[T], size: int) -> AsyncIterator[list[T]]:
    """The items of a stream in their order, ``size`` at a time, the last ones fewer; none of nothing. Raises what the
    stream raises: what came before that and fills no batch is not given."""
    batch: list[T] = []
    async for item in stream:
        batch.append(item)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch
