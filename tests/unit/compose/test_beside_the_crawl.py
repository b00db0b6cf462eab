"""What a worker on servers does beside the crawl: it ends with the crawl, and the crawl with it if it fails."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from gregor.worker.compose import cluster
from gregor.worker.config.settings import Config


class Worker:
    """A runtime that can be stopped."""

    def __init__(self) -> None:
        self.owned: dict[int, object] = {}
        self.stopped = asyncio.Event()

    def stop(self, detail: str) -> None:
        """It ends."""
        self.stopped.set()


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> cluster.OpenServers:
    async def nothing(*_: Any) -> None:
        """The counts are known."""

    monkeypatch.setattr(cluster, "recount", nothing)
    engine: Any = SimpleNamespace(
        log=None, seen=SimpleNamespace(addresses=None), store=None, coordinator=None, close=None, reader=None
    )
    return cluster.OpenServers(Config(), engine)


def housekeeping(opened: cluster.OpenServers, worker: Worker) -> Any:
    runtime: Any = worker
    return opened.housekeeping(runtime, "", lambda hosts: None)


def test_it_has_ended_when_the_crawl_has(opened: cluster.OpenServers, monkeypatch: pytest.MonkeyPatch) -> None:
    """Connections are closed next: nobody may ask them for something any more."""
    ended: list[str] = []

    async def keep(*_: Any) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.append("kept")

    monkeypatch.setattr(cluster, "keep_house", keep)

    async def case() -> None:
        async with housekeeping(opened, Worker()):
            await asyncio.sleep(0)
        assert ended == ["kept"]

    asyncio.run(case())


def test_its_failure_ends_the_worker_and_is_told(opened: cluster.OpenServers, monkeypatch: pytest.MonkeyPatch) -> None:
    async def keep(*_: Any) -> None:
        raise ValueError("a fault")

    monkeypatch.setattr(cluster, "keep_house", keep)

    async def case() -> None:
        worker = Worker()
        async with asyncio.timeout(10), housekeeping(opened, worker):
            await worker.stopped.wait()

    with pytest.raises(ValueError, match="a fault"):
        asyncio.run(case())
