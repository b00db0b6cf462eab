"""A log that lost records: people are told where it stays, and the worker goes on."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from gregor.worker.adapters.embedded.log import EmbeddedLog
from gregor.worker.borders.log import FrontierRecord, RecordsLost
from tests.endtoend.operated import ENVIRON, Operated, operated


@pytest.fixture(autouse=True)
def tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ENVIRON.items():
        monkeypatch.setenv(name, value)


async def told(worker: Operated) -> list[tuple[str, str]]:
    return [(letter.cause, letter.detail) async for letter in worker.reader.dead_letters()]


def test_found_while_reading_the_partition_is_taken_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read, gone = EmbeddedLog.read, ["topic 2 0 ends at 3, but was read up to 7"]

    async def losing(self: EmbeddedLog, *where: Any) -> list[FrontierRecord]:
        if gone:
            raise RecordsLost(gone.pop())
        return await read(self, *where)

    async def run() -> None:
        monkeypatch.setattr(EmbeddedLog, "read", losing)
        async with operated(tmp_path) as worker:
            await worker.until(lambda: worker.asked("h0.example") > 3 and worker.asked("h1.example") > 3)
            assert await told(worker) == [("lost", "topic 2 0 ends at 3, but was read up to 7")]
            assert worker.runtime.stats.losses == 1
            assert max(owned.lease.epoch for owned in worker.runtime.owned.values()) == 2

    asyncio.run(run())


def test_found_at_the_take_over_nothing_that_is_there_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    committed = EmbeddedLog.committed

    async def beyond(self: EmbeddedLog, partition: int) -> dict[int, int]:
        found = await committed(self, partition)
        return found | {1: 1000} if partition == 1 and not found[1] else found

    async def run() -> None:
        monkeypatch.setattr(EmbeddedLog, "committed", beyond)
        async with operated(tmp_path) as worker:
            await worker.until(lambda: worker.asked("h0.example") > 3 and worker.asked("h1.example") > 3)
            assert await told(worker) == [("lost", "priority 1 ends at offset 2, but was finished up to 1000")]

    asyncio.run(run())
