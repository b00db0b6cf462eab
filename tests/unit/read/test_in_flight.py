"""However many large documents come at once, few are in memory, and each has its turn."""

import asyncio

import pytest

from gregor.worker.read.read import CAPACITY, MIB, MOST, SMALL, Room


def test_large_documents_are_few_at_once_and_come_in_order() -> None:
    async def run() -> None:
        room, inside, most, order = Room(), 0, 0, list[int]()

        async def document(number: int) -> None:
            nonlocal inside, most
            async with room.of(16 * MIB):
                order.append(number)
                inside += 1
                most = max(most, inside)
                await asyncio.sleep(0)
                inside -= 1

        await asyncio.wait_for(asyncio.gather(*map(document, range(50))), 10)
        assert (most, order) == (CAPACITY // MOST, list(range(50)))

    asyncio.run(run())


def test_small_ones_never_wait_and_a_large_one_is_not_overtaken_for_ever() -> None:
    async def run() -> None:
        room, order = Room(MOST), list[str]()

        async def document(name: str, size: int) -> None:
            async with room.of(size):
                order.append(name)
                await asyncio.sleep(0)

        async with room.of(SMALL + 1):
            waiting = [
                asyncio.create_task(document(name, size)) for name, size in (("large", MOST), ("next", SMALL + 1))
            ]
            await document("small", SMALL)
            await asyncio.sleep(0)
            assert order == ["small"]
        await asyncio.gather(*waiting)
        assert order == ["small", "large", "next"]

    asyncio.run(run())


def test_who_is_cancelled_while_waiting_or_fails_inside_leaves_the_room() -> None:
    async def run() -> None:
        room = Room(MOST)

        async def document() -> None:
            async with room.of(MOST):
                return

        async with room.of(MOST):
            waiting = asyncio.create_task(document())
            await asyncio.sleep(0)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
        with pytest.raises(ValueError, match="inside"):
            async with room.of(MOST):
                raise ValueError("inside")
        await asyncio.wait_for(document(), 1)

    asyncio.run(run())
