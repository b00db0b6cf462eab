"""Servers that do not answer when leases are over, or when the worker is to stop."""

import asyncio
from pathlib import Path

import pytest

from gregor.worker.adapters.embedded.coordinator import EmbeddedCoordinator
from gregor.worker.adapters.embedded.log import EmbeddedLog
from gregor.worker.borders.coordinator import Lease
from gregor.worker.borders.errors import Unavailable
from gregor.worker.inspect.worker_state import unhealthy
from tests.contract.operated import ENVIRON, operated


@pytest.fixture(autouse=True)
def tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ENVIRON.items():
        monkeypatch.setenv(name, value)


def test_partitions_whose_leases_are_over_are_let_go_at_once_not_in_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = EmbeddedCoordinator.release
    asked: set[int] = set()
    back = asyncio.Event()

    async def late(self: EmbeddedCoordinator, lease: Lease) -> None:
        asked.add(lease.partition)
        await back.wait()
        await release(self, lease)
        raise Unavailable("ZooKeeper", "no answer")

    async def run() -> None:
        async with operated(tmp_path) as worker:
            owned = worker.runtime.owned
            await worker.until(lambda: len(owned) > 1 and worker.asked("h0.example") > 1)
            monkeypatch.setattr(EmbeddedCoordinator, "release", late)
            every = set(owned)
            for one in owned.values():
                one.lost = True
            await worker.until(lambda: asked == every)
            assert not owned
            assert unhealthy(worker.runtime, asyncio.get_running_loop().time()) == ""
            back.set()
            before = worker.asked("h0.example")
            await worker.until(lambda: set(owned) == every and worker.asked("h0.example") > before)
            assert worker.runtime.stats.unavailable["ZooKeeper"] == len(every)
            monkeypatch.undo()

    asyncio.run(run())


def test_a_log_that_is_away_holds_up_a_stop_for_one_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def away(*_: object) -> None:
        raise Unavailable("Kafka", "no answer")

    async def run() -> None:
        async with operated(tmp_path, server_timeout=0.2) as worker:
            await worker.until(lambda: len(worker.runtime.owned) > 1 and worker.asked("h0.example") > 1)
            monkeypatch.setattr(EmbeddedLog, "commit", away)
            async with asyncio.timeout(20):
                worker.runtime.stop()
                await worker.until(lambda: not worker.runtime.owned)
        monkeypatch.undo()
        async with operated(tmp_path) as worker:
            before = worker.asked("h0.example")
            await worker.until(lambda: worker.asked("h0.example") > before + 1)

    asyncio.run(run())
    assert "stopped before all was committed" in caplog.messages
