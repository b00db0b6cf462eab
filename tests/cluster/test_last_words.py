"""A crawl is over, and a server hangs from then on: its workers end as the crawl did, and say what they cannot."""

import asyncio
import time
from pathlib import Path

import pytest

from gregor.worker.adapters.cluster.engine import ClusterEngine
from gregor.worker.commands import FINISHED
from tests.cluster.conftest import stoppable
from tests.cluster.servers import Service
from tests.cluster.test_start import NAMES, Crawl

LONGEST = 60.0
"""Seconds; of the connections some end by their time-out alone."""


@pytest.fixture
def crawl(kafka: Service, zookeeper: Service, redis: Service, cassandra: Service, tmp_path: Path) -> Crawl:
    return Crawl((kafka, zookeeper, redis, cassandra), tmp_path)


@pytest.mark.parametrize("server", ["kafka", "cassandra"])
def test_a_server_that_hangs_after_the_end_changes_nothing_of_it(
    crawl: Crawl,
    request: pytest.FixtureRequest,
    server: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (node, *_) = stoppable(request.getfixturevalue(server)).nodes
    close = ClusterEngine.close

    async def hung(engine: ClusterEngine) -> None:
        await asyncio.to_thread(node.pause)
        await close(engine)

    assert crawl.run("init") == FINISHED
    monkeypatch.setattr(ClusterEngine, "close", hung)
    capsys.readouterr()
    began = time.monotonic()
    try:
        code = crawl.run("worker", "--set", "server_timeout=2", "--set", "session_timeout=3")
    finally:
        node.resume()
    said = capsys.readouterr()
    assert code == FINISHED, said.err
    assert "finished" in said.out
    assert time.monotonic() - began < LONGEST
    assert f"the crawl is over; what rules find no more cannot be read: {NAMES[server]} is unavailable: " in said.err
