"""Calls that are made as one: who asked gets the answer, however many asked, were cancelled or asked in vain."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gregor.worker.adapters.cluster.coalesce import Coalesced

Ask = Callable[[int], Awaitable[int]]


class Server:
    """Doubles numbers, and remembers what came in one request; `gate` holds its answers up."""

    def __init__(self) -> None:
        self.requests: list[list[int]] = []
        self.asked = asyncio.Event()
        self.gate = asyncio.Event()
        self.gate.set()

    async def __call__(self, numbers: list[int]) -> list[int]:
        self.requests.append(numbers)
        self.asked.set()
        await self.gate.wait()
        if any(number < 0 for number in numbers):
            raise ValueError(f"negative among {numbers}")
        return [2 * number for number in numbers]


@given(counts=st.lists(st.integers(1, 40), min_size=1, max_size=4), most=st.integers(1, 16), at_once=st.integers(1, 3))
def test_everybody_gets_the_own_answer(counts: list[int], most: int, at_once: int) -> None:
    async def case() -> None:
        server = Server()
        together = Coalesced(server, most, at_once)
        for count in counts:
            assert await asyncio.gather(*(together.ask(number) for number in range(count))) == [
                2 * number for number in range(count)
            ]
        assert [number for request in server.requests for number in request] == [
            number for count in counts for number in range(count)
        ]
        assert all(len(request) <= most for request in server.requests)

    asyncio.run(case())


def test_no_more_requests_are_on_their_way_than_may_be_and_those_who_wait_go_together() -> None:
    async def case() -> None:
        server = Server()
        server.gate.clear()
        together = Coalesced(server, most=100, at_once=1)
        first = asyncio.create_task(together.ask(1))
        await server.asked.wait()
        others = [asyncio.create_task(together.ask(number)) for number in range(2, 50)]
        await asyncio.sleep(0.05)
        assert server.requests == [[1]]
        server.gate.set()
        assert [await first, *await asyncio.gather(*others)] == [2 * number for number in range(1, 50)]
        assert server.requests == [[1], list(range(2, 50))]

    asyncio.run(case())


def test_a_failure_is_everybodys_and_the_next_request_is_another() -> None:
    async def case() -> None:
        together = Coalesced(Server(), most=8)
        failed = await asyncio.gather(together.ask(1), together.ask(-1), return_exceptions=True)
        assert [type(error) for error in failed] == [ValueError, ValueError]
        assert await together.ask(2) == 4

    asyncio.run(case())


def test_who_is_cancelled_takes_nothing_from_the_others() -> None:
    async def case() -> None:
        server = Server()
        server.gate.clear()
        together = Coalesced(server, most=8)
        asked = [asyncio.create_task(together.ask(number)) for number in range(3)]
        await server.asked.wait()
        asked[1].cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked[1]
        server.gate.set()
        assert await asked[0] == 0
        assert await asked[2] == 4

    asyncio.run(case())
