"""The servers themselves: they keep port and data over SIGKILL, and end with the test run, however that ends."""

import os
import select
import subprocess
import sys
from pathlib import Path

from redis import Redis

from tests.cluster.conftest import stoppable
from tests.cluster.servers import Service

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
