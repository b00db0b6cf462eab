"""`gregor status` and the doctor with each server stopped in turn, hung, or full: in seconds, with what is known."""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from redis import Redis

from gregor.schemas.messages import PartitionRecord
from gregor.worker.adapters.cluster import engine as cluster
from gregor.worker.commands import FAILED, FINISHED
from gregor.worker.compose.process import SystemClock
from gregor.worker.config.sources import load
from gregor.worker.links.configured import canonical_rules
from tests.cluster.conftest import stoppable
from tests.cluster.servers import Service
from tests.cluster.test_start import NAMES, PARTITIONS, Crawl

LONGEST = 20.0
"""Seconds; a time-out of the servers' clients is a few, on a machine that may be busy."""
COUNTS = ({"pages": 5, "pages_200": 4, "bytes": 70, "state fetched": 4, "state waiting": -1}, {"pages": 2, "bytes": 7})


@pytest.fixture
def crawl(kafka: Service, zookeeper: Service, redis: Service, cassandra: Service, tmp_path: Path) -> Crawl:
    found = Crawl((kafka, zookeeper, redis, cassandra), tmp_path)
    assert found.run("init") == FINISHED
    asyncio.run(counted(found))
    return found


async def counted(crawl: Crawl) -> None:
    """Two partitions that have counted pages."""
    config = load(str(crawl.file), {}, ()).config
    engine = await cluster.open_engine(config, canonical_rules(config).fingerprint(), "w", SystemClock(), {})
    try:
        for number, counts in enumerate(COUNTS):
            await engine.store.put_partition(PartitionRecord(number, 1, counts=counts), 1)
    finally:
        await engine.close()


def status(crawl: Crawl, capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, Any]]:
    capsys.readouterr()
    began = time.monotonic()
    code = crawl.run("status", "--json")
    assert time.monotonic() - began < LONGEST
    return code, msgspec.json.decode(capsys.readouterr().out, type=dict[str, Any])


def test_all_that_the_servers_know(crawl: Crawl, capsys: pytest.CaptureFixture[str]) -> None:
    code, told = status(crawl, capsys)
    assert (code, told["away"], told["workers"]) == (FINISHED, {}, [])
    assert {name: told["counts"][name] for name in ("pages", "pages_200", "bytes")} == {
        "pages": 7,
        "pages_200": 4,
        "bytes": 77,
    }
    assert [one["lag"] for one in told["partitions"]] == [0] * PARTITIONS


@pytest.mark.parametrize("how", ["stopped", "hung"])
@pytest.mark.parametrize("server", NAMES)
def test_a_server_is_away_and_the_others_are_heard(
    crawl: Crawl, request: pytest.FixtureRequest, server: str, how: str, capsys: pytest.CaptureFixture[str]
) -> None:
    service = stoppable(request.getfixturevalue(server))
    away: Callable[[], None] = service.stop if how == "stopped" else service.nodes[0].pause
    back: Callable[[], None] = service.start if how == "stopped" else service.nodes[0].resume
    away()
    try:
        code, told = status(crawl, capsys)
        capsys.readouterr()
        assert crawl.run("status") == FAILED
        text = capsys.readouterr().out
    finally:
        back()
    assert code == FAILED
    assert list(told["away"]) == [NAMES[server]]
    assert f"{NAMES[server]} is unavailable: " in text
    assert (told["counts"] is None) == (server == "cassandra")
    assert (told["workers"] is None) == (server == "zookeeper")
    lags = {one["lag"] for one in told["partitions"]}
    assert lags == (set() if server == "kafka" else {0})
    assert ("pages        7" in text) == (server != "cassandra")


def test_a_full_redis_is_full_not_away(crawl: Crawl, redis: Service, capsys: pytest.CaptureFixture[str]) -> None:
    host, _, port = redis.addresses[0].rpartition(":")
    with Redis(host, int(port)) as server:
        server.config_set("maxmemory", 1_000_000)
        try:
            code, told = status(crawl, capsys)
            crawl.run("doctor", "--set", "server_timeout=3")
            found = [line for line in capsys.readouterr().out.splitlines() if "Redis" in line]
        finally:
            server.config_set("maxmemory", 0)
    assert code == FAILED
    assert told["away"] == {"Redis": "Redis is full: all of its maxmemory is used; give it more, or a larger node"}
    assert told["counts"]["pages"] == 7
    assert any(line.startswith("fail") and "Redis is full" in line for line in found)
