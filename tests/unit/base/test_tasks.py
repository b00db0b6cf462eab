"""Tasks end when they are cancelled, also when something swallowed the first cancellation."""

import asyncio

from gregor.worker.base import tasks


def test_a_swallowed_cancellation_is_repeated() -> None:
    async def main() -> bool:
        async def stubborn() -> None:
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                await asyncio.sleep(3600)

        task = asyncio.create_task(stubborn())
        await asyncio.sleep(0)
        await asyncio.wait_for(tasks.cancel([task]), 30)
        return task.cancelled()

    assert asyncio.run(main())


def test_until_ends_with_the_event_or_the_time() -> None:
    async def main() -> None:
        event = asyncio.Event()
        await tasks.until(event, 0.001)
        event.clear()
        asyncio.get_running_loop().call_soon(event.set)
        await tasks.until(event, 3600)
        await tasks.until(event, 3600)

    asyncio.run(main())


def test_what_is_done_beside_ends_with_the_block() -> None:
    async def main() -> bool:
        async with tasks.beside(asyncio.sleep(3600)) as task:
            await asyncio.sleep(0)
            assert not task.done()
        return task.cancelled()

    assert asyncio.run(main())
