"""Servers that do not answer when leases are over, or when the worker is to stop."""

import asyncio
from pathlib import Path

import pytest

from gregor.worker.adapters.embedded.coordinator import EmbeddedCoordinator
from gregor.worker.adapters.embedded.log import EmbeddedLog
from gregor.worker.adapters.embedded.seen import EmbeddedSeen
from gregor.worker.adapters.embedded.store import EmbeddedStore
from gregor.worker.borders.coordinator import Lease
from gregor.worker.borders.errors import Unavailable
from gregor.worker.inspect.worker_state import unhealthy
from tests.endtoend.operated import ENVIRON, operated


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


@pytest.mark.parametrize(
    ("border", "method", "error", "text"),
    [
        (EmbeddedSeen, "mark", Unavailable("Redis", "no memory", "full"), "Redis is full"),
        (EmbeddedStore, "put_rows", Unavailable("Cassandra", "no answer"), "Cassandra is away"),
        (EmbeddedLog, "commit", Unavailable("Kafka", "no answer"), "Kafka is away"),
    ],
)
def test_a_service_is_away_until_it_itself_does_again_what_it_could_not(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    border: type,
    method: str,
    error: Unavailable,
    text: str,
) -> None:
    """All the others answer meanwhile, and so does it where only its reads are asked for."""
    caplog.set_level("INFO")
    does, failing = getattr(border, method), asyncio.Event()

    async def fails(self: object, *arguments: object) -> object:
        if failing.is_set():
            raise error
        return await does(self, *arguments)

    monkeypatch.setattr(border, method, fails)

    async def run() -> None:
        async with operated(tmp_path) as worker:
            await worker.until(lambda: worker.asked("h0.example") > 1)
            failing.set()
            await worker.until(lambda: worker.runtime.stats.health.wrong)
            for _ in range(20):
                assert worker.runtime.stats.health.text() == text
                await asyncio.sleep(0.05)
            assert (await worker.ask("GET", "/readyz")).json()["detail"] == text
            await worker.until(lambda: worker.runtime.stats.limiting == text)
            failing.clear()
            await worker.until(lambda: not worker.runtime.stats.health.wrong)

    asyncio.run(run())
    assert [one for one in caplog.messages if one.startswith("service")] == ["service away", "service back"]
