"""The servers themselves: they keep port and data over SIGKILL, and end with the test run, however that ends."""

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from redis import Redis

from tests.cluster.chaos.faults import promote
from tests.cluster.conftest import need, stoppable
from tests.cluster.servers import Missing, Servers, Service, session
from tests.cluster.servers.redis import MASTER

_ROOT = Path(__file__).parents[2]
_RUN = """
import sys
from tests.cluster.servers import Servers
with Servers() as servers:
    print(*[node.group for node in servers.get("redis").nodes], flush=True)
    sys.stdin.read()
"""


def test_a_server_keeps_its_port_and_its_data(redis: Service) -> None:
    stoppable(redis)
    host, _, port = redis.addresses[0].rpartition(":")
    with Redis(host, int(port)) as client:
        client.set("kept", "yes")
        redis.restart(kill=True)
        assert client.get("kept") == b"yes"


def test_a_node_that_was_promoted_comes_back_as_the_primary(sentinel: Service) -> None:
    """Also before the Sentinel has missed it: it must not follow whom it followed when it was first started."""
    stoppable(sentinel)
    host, _, port = sentinel.addresses[-1].rpartition(":")
    with Redis(host, int(port), decode_responses=True) as asked:
        for _ in range(2):  # each of the two is the promoted one once
            promote(sentinel)
            primary = asked.sentinel_get_master_addr_by_name(MASTER)
            node = sentinel.nodes[sentinel.addresses.index(f"{primary[0]}:{primary[1]}")]
            node.kill()
            sentinel.start()
            with Redis(primary[0], int(primary[1])) as client:
                assert client.info("replication")["role"] == "master"


def test_no_way_to_a_server_is_a_skip_here_and_a_failure_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str, folder: Path, guard: object) -> Service:
        raise Missing(f"no {name} here")

    monkeypatch.setattr(session, "find", missing)
    with Servers() as none:
        monkeypatch.delenv("CI", raising=False)
        with pytest.raises(pytest.skip.Exception, match="no kafka here"):
            need(none, "kafka")
        monkeypatch.setenv("CI", "1")
        with pytest.raises(pytest.fail.Exception, match="no kafka here"):
            need(none, "kafka")


def test_what_was_left_stopped_runs_for_the_next_test(servers: Servers, redis: Service) -> None:
    stoppable(redis).kill()
    servers.mend()
    assert redis.answers()


def test_servers_end_with_a_killed_test_run(redis: Service) -> None:
    stoppable(redis)
    command = [sys.executable, "-c", _RUN]
    with subprocess.Popen(command, cwd=_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        groups = [int(word) for word in run.stdout.readline().split()]
        handles = [os.pidfd_open(group) for group in groups]
        run.kill()
    assert len(groups) == 2
    for handle in handles:
        # Readable when the process has ended.
        assert select.select([handle], [], [], 60)[0]
        os.close(handle)


def test_up_starts_what_has_died_with_its_port_and_its_data(redis: Service, tmp_path: Path) -> None:
    stoppable(redis)  # there is a program to start
    environ = {**os.environ, "PYTHONPATH": str(_ROOT)}

    def servers(*words: str) -> str:
        command = [sys.executable, "-m", "tests.cluster.servers", *words]
        return subprocess.run(command, cwd=tmp_path, env=environ, check=True, capture_output=True, text=True).stdout

    try:
        config = servers("up", "redis")
        host, _, port = config.partition('redis = ["')[2].partition('"')[0].rpartition(":")
        with Redis(host, int(port)) as client:
            pid = client.info("server")["process_id"]
        os.kill(pid, signal.SIGKILL)
        assert servers("up", "redis") == config
        with Redis(host, int(port)) as client:
            assert client.info("server")["process_id"] != pid
    finally:
        servers("down")
