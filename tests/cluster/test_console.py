"""`gregor console` over real servers and a worker that is a process of its own: what it tells, and that it ends."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import requests

from tests.cluster.conftest import need
from tests.cluster.servers import Servers
from tests.cluster.servers.__main__ import config

GREGOR: Final = (sys.executable, "-m", "gregor.worker.commands.cli")
NAMES: Final = ("kafka", "zookeeper", "redis", "cassandra")
TOKENS: Final = {"VIEW": "viewer-token-0123456789", "OPERATE": "operator-token-0123456789"}
LONGEST: Final = 180.0
SETTINGS: Final = """
crawl = "consoled"
partitions = 4
linger = true
opensearch = ["127.0.0.1:9"]  # nobody is there
viewer_token_env = "VIEW"
operator_token_env = "OPERATE"
"""


@contextmanager
def gregor(environment: dict[str, str], log: Path, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process that runs while the block does."""
    with log.open("wb") as told, subprocess.Popen([*GREGOR, *words], env=environment, stderr=told) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def url_in(log: Path) -> str:
    """Where a process says that it listens."""
    end = time.monotonic() + LONGEST
    while time.monotonic() < end:
        for word in log.read_text().split():
            if word.startswith("url=http"):
                return word.removeprefix("url=")
        time.sleep(0.1)
    raise AssertionError(log.read_text())


def asked(url: str, method: str, path: str, token: str = "VIEW", **more: Any) -> requests.Response:
    headers = {"Authorization": f"Bearer {TOKENS[token]}"}
    return requests.request(method, f"{url}api/v1/{path}", headers=headers, timeout=60, **more)


def test_it_shows_and_steers_a_worker_and_owns_nothing(servers: Servers, tmp_path: Path) -> None:
    addresses = {name: need(servers, name).addresses for name in NAMES}
    file = tmp_path / "gregor.toml"
    file.write_text(config(addresses) + "\n" + SETTINGS)
    environment = {**os.environ, **TOKENS, "GREGOR_CONFIG": str(file)}
    subprocess.run([*GREGOR, "init"], env=environment, check=True, timeout=LONGEST)
    worker_log, console_log = tmp_path / "worker.log", tmp_path / "console.log"
    with (
        gregor(environment, worker_log, "worker", "--console", "127.0.0.1:0") as worker,
        gregor(environment, console_log, "console", "--listen", "127.0.0.1:0") as console,
    ):
        url = url_in(console_log)
        end, told = time.monotonic() + LONGEST, asked(url, "GET", "workers").json()
        while {one["owner"] for one in told["partitions"]} != {one["name"] for one in told["workers"]} or not told[
            "workers"
        ]:
            assert time.monotonic() < end, told
            time.sleep(0.2)
            told = asked(url, "GET", "workers").json()
        (one,) = told["workers"]
        assert one["api"] == url_in(worker_log)
        assert [owner["partition"] for owner in told["partitions"]] == [0, 1, 2, 3]
        assert all(owner["epoch"] >= 1 and owner["since"] > 0 for owner in told["partitions"])
        assert asked(url, "GET", "explain", params={"url": "http://never.example/"}).json()["state"] is None
        assert asked(url, "GET", "deadletters").json() == {"causes": [], "complete": True}
        for what in ("search", "search/logs", "search/hosts"):  # all of them there could be, though not now
            assert asked(url, "GET", what, params={"q": "fox"}).status_code == 503
        assert asked(url, "PUT", "orders/pause", "OPERATE", json={"why": "by test"}).status_code == 200
        while asked(url, "GET", "status").json()["now"]["state"] != "paused":
            assert time.monotonic() < end
            time.sleep(0.2)
        console.send_signal(signal.SIGTERM)
        assert console.wait(LONGEST) == 0
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(LONGEST) == 3
