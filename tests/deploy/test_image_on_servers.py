"""The image at work as compose.yaml runs it, on real servers: two workers share a crawl, one gives way on SIGTERM."""

import json
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from gregor.worker.commands import FINISHED, INTERRUPTED
from gregor.worker.demo.server import serving
from tests.cluster.conftest import need
from tests.cluster.servers import Servers
from tests.cluster.servers.process import free_ports
from tests.cluster.servers.redis import MASTER
from tests.deploy.podman import CONFINED, Built
from tests.deploy.test_compose import COMPOSE, substituted
from tests.deploy.tools import must

PARTITIONS = 16
PATIENCE = 240.0


@pytest.fixture
def settings(tmp_path: Path) -> Iterator[dict[str, str]]:
    """The worker's environment of compose.yaml, with servers of this machine, and the bundled web for a world."""
    with Servers() as servers, serving() as web:
        compose = yaml.safe_load(COMPOSE.read_text())["services"]["worker"]["environment"]
        addresses = {name: need(servers, name).addresses for name in ("kafka", "zookeeper", "sentinel", "cassandra")}
        tmp_path.chmod(0o755)  # it is mounted, and read by another user
        (tmp_path / "hosts").write_text("\n".join(web.host_table_lines) + "\n")
        for token in ("viewer-token", "operator-token"):
            (tmp_path / token).write_text(f"{token}-of-this-test-0123456789")
        compose.pop("GREGOR_LISTEN")  # one that the others of this machine do not take
        yield {name: substituted(value) for name, value in compose.items()} | {
            "GREGOR_KAFKA": ",".join(addresses["kafka"]),
            "GREGOR_ZOOKEEPER": ",".join(addresses["zookeeper"]),
            "GREGOR_REDIS": addresses["sentinel"][-1],
            "GREGOR_REDIS_SENTINEL": MASTER,
            "GREGOR_CASSANDRA": ",".join(addresses["cassandra"]),
            "GREGOR_CRAWL": f"image-{uuid.uuid4().hex[:8]}",
            "GREGOR_PARTITIONS": str(PARTITIONS),
            "GREGOR_DELAY": "0.2",
            "GREGOR_DELAY_FACTOR": "0",
            "GREGOR_HOST_TABLE": "/run/secrets/hosts",
            "seeds": " ".join(web.seeds),
        }


def test_two_workers_share_a_crawl_and_one_gives_way(
    built: Built, settings: dict[str, str], tmp_path: Path, containers: list[str]
) -> None:
    seeds = settings.pop("seeds").split()
    options = (
        "--network=host",
        "--memory=1g",
        f"--volume={tmp_path}:/run/secrets:ro",
        *(f"--env={name}={value}" for name, value in settings.items()),
    )

    def once(*words: str) -> str:
        return must(built.once(*words, options=options))

    def status() -> dict[str, int]:
        """Partitions by the workers' names."""
        told = json.loads(once("status", "--json"))
        return {worker["name"]: worker["partitions"] for worker in told["workers"]}

    def until(holds: Callable[[], bool]) -> None:
        end = time.monotonic() + PATIENCE
        while not holds():
            assert time.monotonic() < end, [built.podman("logs", one).stderr[-3000:] for one in containers]
            time.sleep(0.5)

    once("init")
    for name, port in zip(("first", "second"), free_ports(2), strict=True):
        own = (f"--hostname={name}", f"--env=GREGOR_LISTEN=127.0.0.1:{port}")
        begun = built.podman("run", "--detach", *CONFINED, *options, *own, built.name, "worker")
        containers.append(must(begun).strip())
    once("seed", *seeds)
    until(lambda: sorted(status().values()) == [PARTITIONS // 2] * 2)
    until(lambda: len(once("pages", "--state", "fetched").splitlines()) >= len(seeds))

    first, second = containers
    must(built.podman("stop", "--time=45", first))
    assert exit_code(built, first) in (FINISHED, INTERRUPTED)
    until(lambda: list(status().values()) == [PARTITIONS])
    must(built.podman("stop", "--time=45", second))
    assert exit_code(built, second) in (FINISHED, INTERRUPTED)


def exit_code(built: Built, container: str) -> Any:
    (found,) = json.loads(must(built.podman("inspect", container)))
    return found["State"]["ExitCode"]
