"""Streams in batches."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from gregor.worker.base.batches import in_batches


@pytest.mark.parametrize(
    ("count", "batches"),
    [(0, []), (1, [[0]]), (2, [[0, 1]]), (3, [[0, 1], [2]]), (4, [[0, 1], [2, 3]])],
)
def test_all_come_in_order_and_none_is_empty(count: int, batches: list[list[int]]) -> None:
    async def numbers() -> AsyncIterator[int]:
        for number in range(count):
            yield number

    async def read() -> list[list[int]]:
        return [batch async for batch in in_batches(numbers(), 2)]

    assert asyncio.run(read()) == batches
