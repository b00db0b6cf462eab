"""The image, built by podman from the very Dockerfile on a stand-in for its base, and run as a cluster runs it."""

import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gregor import __version__
from tests.deploy.podman import Built
from tests.deploy.tools import ROOT, must

MOST_MEGABYTES = 180
"""Over the base: some more than there are, for the next versions of the packages."""


def test_it_is_described(built: Built) -> None:
    config = built.config["Config"]
    assert isinstance(config, dict)
    assert config["User"].split(":")[0] not in ("", "0", "root")
    assert config["StopSignal"] in ("SIGTERM", "15")
    assert {
        f"org.opencontainers.image.{name}" for name in ("title", "version", "revision", "licenses", "created")
    } <= set(config["Labels"])
    assert config["Labels"]["org.opencontainers.image.version"] == __version__
    assert config["Labels"]["org.opencontainers.image.base.name"] == built.podman.base
    assert built.config["Healthcheck"]


def test_it_is_small(built: Built) -> None:
    assert built.size <= MOST_MEGABYTES * 1_000_000, f"{built.size / 1e6:.0f} MB over the base"


@pytest.mark.parametrize("user", ["10001:0", "54321:0"])
def test_it_runs_confined_as_any_user(built: Built, user: str) -> None:
    assert must(built.once("--version", options=("--network=none", f"--user={user}"))).startswith("gregor ")
    must(built.once("config", "show", options=("--network=none", f"--user={user}")))


@pytest.mark.parametrize("script", ["command -v gcc cc make", "touch /opt/venv/x", "touch /data/x", "command -v pip"])
def test_it_has_no_compiler_and_nothing_to_write_to(built: Built, script: str) -> None:
    found = built.once("-c", script.replace("command -v pip", "test -e /opt/venv/bin/pip"), entrypoint="sh")
    assert found.returncode, found.stdout


def test_a_wrong_setting_ends_it_with_one_line(built: Built) -> None:
    ended = built.once("worker", options=("--network=none", "--env=GREGOR_NO_SUCH=1"))
    assert ended.returncode == 2
    assert "GREGOR_NO_SUCH" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_what_servers_are_spoken_to_with_is_there(built: Built) -> None:
    clients = "confluent_kafka, kazoo.client, redis, cassandra.cluster, cassandra.io.libevreactor, pycurl"
    must(
        built.once(
            "-c", f"import {clients}, aws_msk_iam_sasl_signer, gregor.worker.compose.worker", entrypoint="python"
        )
    )


def test_pages_are_read_natively(built: Built) -> None:
    must(built.once("-c", "from gregor.worker.read import native; assert native.core()", entrypoint="python"))


def test_what_a_pod_calls_before_it_ends_is_there(built: Built) -> None:
    hook = (ROOT / "helm/gregor/templates/_helpers.tpl").read_text().partition("preStop: {exec: {command: [")[2]
    program = hook.partition(",")[0]
    must(built.once("0", entrypoint=program))


def test_every_file_of_the_project_is_there(built: Built) -> None:
    listing = "import gregor, pathlib; f = pathlib.Path(gregor.__file__).parent; print(*f.rglob('*'), sep='\\n')"
    there = {path.rpartition("/gregor/")[2] for path in must(built.once("-c", listing, entrypoint="python")).split()}
    ours = {
        str(path.relative_to(ROOT))
        for folder in ("worker", "search", "partitioner", "schemas")
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    assert ours - there == set()


def test_its_rules_and_dashboards_are_there(built: Built) -> None:
    paths = [ROOT / "monitoring/alerts.yml", *sorted((ROOT / "monitoring/dashboards").glob("*.json"))]
    there = [f"/opt/gregor/{path.relative_to(ROOT)}" for path in paths]
    assert must(built.once(*there, entrypoint="cat")) == "".join(path.read_text() for path in paths)
    assert len(must(built.once("/opt/gregor/monitoring/dashboards", entrypoint="ls")).split()) == len(paths) - 1


@pytest.fixture
def worker(built: Built, tmp_path: Path) -> Iterator[str]:
    """A container that crawls nothing for as long as it is let, on a loopback port of ours; its id."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ("--network=host", "--memory=512m", "--read-only", "--tmpfs=/data:mode=0777", "--cap-drop=all")
    settings = {"LISTEN": f"127.0.0.1:{port}", "LINGER": "yes", "ANONYMOUS_READ": "yes"}
    environment = [f"--env=GREGOR_{name}={value}" for name, value in settings.items()]
    seeds = tmp_path / "seeds"
    seeds.write_text("http://127.0.0.1:9/\n")  # not global: refused without a request
    mount = f"--volume={seeds}:/seeds:ro"
    begun = built.podman("run", "-d", *options, *environment, mount, built.name, "crawl", "--seeds", "/seeds")
    container = must(begun).strip()
    yield container
    built.podman("rm", "-f", "-t", "0", container)


def test_its_health_is_the_workers_and_sigterm_is_a_clean_stop(built: Built, worker: str) -> None:
    until = time.monotonic() + 40
    while built.podman("healthcheck", "run", worker).returncode:
        assert time.monotonic() < until, built.podman("logs", worker).stderr[-3000:]
        time.sleep(0.2)
    must(built.podman("exec", worker, "gregor", "status", "--json"))
    must(built.podman("stop", "-t", "20", worker))
    (state,) = json.loads(must(built.podman("inspect", worker)))
    assert state["State"]["ExitCode"] in (0, 3), built.podman("logs", worker).stderr[-3000:]
