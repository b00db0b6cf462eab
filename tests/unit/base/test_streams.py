"""Streams that ask ahead: the order, the bound, what is raised, and nothing that goes on behind them."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gregor.worker.base.streams import in_order, merged


async def numbers(count: int, first: int = 0) -> AsyncIterator[int]:
    for number in range(first, first + count):
        await asyncio.sleep(0)
        yield number


@given(st.lists(st.integers(0, 5)), st.integers(1, 8))
def test_answers_are_in_the_order_of_the_questions(delays: list[int], at_once: int) -> None:
    running = most = 0

    async def ask(number: int) -> int:
        nonlocal running, most
        running += 1
        most = max(most, running)
        for _ in range(delays[number]):
            await asyncio.sleep(0)
        running -= 1
        return number

    async def run() -> list[int]:
        return [answer async for answer in in_order(numbers(len(delays)), ask, at_once)]

    assert asyncio.run(run()) == list(range(len(delays)))
    assert most <= at_once


@given(st.lists(st.integers(0, 5)), st.integers(1, 8))
def test_streams_are_merged_whole(counts: list[int], at_once: int) -> None:
    async def run() -> list[int]:
        streams = (numbers(count, 10 * at) for at, count in enumerate(counts))
        return [number async for number in merged(streams, at_once)]

    assert sorted(asyncio.run(run())) == [10 * at + one for at, count in enumerate(counts) for one in range(count)]


def test_what_fails_is_raised_and_the_rest_ends() -> None:
    ended = asyncio.Event()

    async def ask(number: int) -> int:
        if number == 3:
            raise ValueError("three")
        try:
            await asyncio.sleep(0 if number < 3 else 60)
        except asyncio.CancelledError:
            ended.set()
            raise
        return number

    async def failing() -> AsyncIterator[int]:
        yield 1
        raise ValueError("a stream")

    async def run() -> None:
        with pytest.raises(ValueError, match="three"):
            _ = [answer async for answer in in_order(numbers(9), ask, 4)]
        assert ended.is_set()
        with pytest.raises(ValueError, match="a stream"):
            _ = [number async for number in merged([numbers(3), failing(), numbers(1000)], 2)]
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(run())
