"""A day on servers: the commands of docs/operations.md are typed, in their order, beside workers on real servers."""

import socket
import time
import uuid
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import requests

from benchmarks import anyhost
from tests.cluster.conftest import stoppable
from tests.cluster.servers import Service
from tests.cluster.servers.__main__ import config as reaching
from tests.operation.shell import Shell, commands, shell

PAGE = (Path(__file__).parents[2] / "docs" / "operations.md").read_text()
ON_SERVERS = PAGE[PAGE.index("## A day on servers") :]
PORTS = ("9100", "9101", "9102", "9103")
TOKEN = "a-token-of-this-test-0123456789"
SETTINGS = """
partitions = 8
delay = 0.2
delay_factor = 0
session_timeout = 6
scope = "any"
linger = true
viewer_token_file = "token"
operator_token_file = "operator-token"
"""
PATIENCE = 180.0


def test_every_command_does_what_is_told(
    kafka: Service, zookeeper: Service, redis: Service, cassandra: Service, tmp_path: Path
) -> None:
    stoppable(redis)
    servers = {one.name: one.addresses for one in (kafka, zookeeper, redis, cassandra)}
    (tmp_path / "token").write_text(TOKEN)
    (tmp_path / "operator-token").write_text(f"operator-{TOKEN}")
    with anyhost.serving(tmp_path) as table, ExitStack() as stack:
        file = tmp_path / "gregor.toml"
        crawl = f"day-{uuid.uuid4().hex[:8]}"
        file.write_text(f'{reaching(servers)}\ncrawl = "{crawl}"\nhost_table = "{table}"\n{SETTINGS}')
        day = Day(stack.enter_context(shell(tmp_path, {"GREGOR_CONFIG": str(file)})))
        for command in commands(ON_SERVERS):
            if command == "gregor doctor":
                day.lose(redis, command)
            day.type(command)


class Day:
    """Types commands, and waits for what a person would wait for."""

    def __init__(self, typed: Shell) -> None:
        self._typed = typed
        self._name = ""  # of the third worker
        self._addresses = {f"127.0.0.1:{port}": f"127.0.0.1:{_free()}" for port in PORTS}

    def type(self, command: str) -> None:
        """One command of the page, with addresses and names of this test; it must succeed."""
        line = command.replace("https://", "http://")
        if "crawler-3-4711" in line:
            line = line.replace("crawler-3-4711", self._third())
        for told, here in self._addresses.items():
            line = line.replace(told, here)
        said = self._typed.run(line)
        assert said.code == 0, f"{line}: {said.text}\n{self._typed.logs()}"
        assert "Traceback" not in said.text
        address = next((here for here in self._addresses.values() if here in line), "")
        if line.startswith("gregor worker"):
            self._until(lambda: self._status(address).get("partitions", 0) > 0, f"{address} owns nothing")
        elif line.startswith("gregor console"):
            self._until(lambda: bool(self._status(address)), "the console does not answer")
        elif line.startswith("gregor drain"):
            third = self._addresses["127.0.0.1:9103"]
            self._until(lambda: self._status(third).get("partitions") == 0, "it is not drained")
        elif line.startswith("gregor stop"):
            self._until(lambda: not self._status(address), f"{address} does not end")

    def lose(self, server: Service, command: str) -> None:
        """A server dies and comes back; meanwhile it is named."""
        server.kill()
        said = self._typed.run(command)
        assert said.code == 1, said.text
        assert f"fail  {server.name}" in said.text
        server.start()

    def _third(self) -> str:
        """The name of the third worker, as its API tells it; when it has ended, as it told it before."""
        now = self._status(self._addresses["127.0.0.1:9103"])
        self._name = str(now.get("worker", "")) or self._name
        return self._name

    def _status(self, address: str) -> dict[str, Any]:
        """What a worker says of itself; nothing when it does not answer."""
        try:
            answer = requests.get(
                f"http://{address}/api/v1/status", headers={"Authorization": f"Bearer {TOKEN}"}, timeout=20
            )
        except requests.RequestException:
            return {}
        found: dict[str, Any] = answer.json()["now"] if answer.ok else {}
        return found

    def _until(self, holds: Callable[[], bool], otherwise: str) -> None:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if holds():
                return
            time.sleep(0.2)
        pytest.fail(f"{otherwise}: {self._typed.logs()}")


def _free() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port
