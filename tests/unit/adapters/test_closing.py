"""How a connection ends changes nothing of what was done by it."""

import asyncio
import logging

import pytest

from gregor.worker.adapters.cluster.closing import ended


def test_a_connection_that_does_not_end_in_order_is_told_of(caplog: pytest.LogCaptureFixture) -> None:
    async def hang() -> None:
        async with asyncio.timeout(0.0):
            await asyncio.Event().wait()

    with caplog.at_level(logging.WARNING, "gregor"):
        asyncio.run(ended("Kafka", hang()))
    assert "a connection did not end in order" in caplog.text


def test_who_is_cancelled_hears_it() -> None:
    async def case() -> None:
        waiting = asyncio.create_task(ended("Kafka", asyncio.Event().wait()))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(case())
