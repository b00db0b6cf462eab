"""The fixture itself: servers that come up, keep port and data over SIGKILL, and end with the test run."""

import os
import signal
import subprocess
import sys
import time

import pytest
from redis import Redis

from tests.cluster.conftest import need
from tests.cluster.servers import Servers, Service
from tests.cluster.servers.process import listens


def test_a_server_keeps_its_port_and_its_data(redis: Service) -> None:
    if not redis.nodes:
        pytest.skip("given by the environment")
    host, _, port = redis.addresses[0].rpartition(":")
    with Redis(host, int(port)) as client:
        client.set("kept", "yes")
        client.waitaof(1, 0, 10_000) if client.info("server")["redis_version"] >= "7.2" else client.save()
    redis.restart(kill=True)
    with Redis(host, int(port)) as client:
        assert client.get("kept") == b"yes"
