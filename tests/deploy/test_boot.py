"""Boot scripts, as Terraform renders them, at work: in a container whose AWS, Docker and systemd are stand-ins."""

import base64
import itertools
import os
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.deploy.terraform import EXAMPLES, Applied, applied, copied
from tests.deploy.tools import ROOT, missing, must, run

STUB = ROOT / "tests/deploy/machine/stub"
REPLACED = (
    *("aws", "blkid", "curl", "dnf", "docker", "hostname", "ip", "mkfs.xfs", "mount", "mountpoint", "sleep"),
    *("systemctl", "udevadm", "xfs_growfs"),
)
"""Commands that the stub stands in for."""
_DEBIAN = "docker.io/library/debian:bookworm-slim"


class Machine(NamedTuple):
    """A container that has run a boot script, and the folder by which its stubs are told what to do."""

    execute: Callable[..., str]
    state: Path

    def calls(self, begin: str = "") -> list[str]:
        """What was called since the last look."""
        path = self.state / "calls"
        lines = path.read_text().splitlines() if path.exists() else []
        path.unlink(missing_ok=True)
        return [line for line in lines if line.startswith(begin)]

    def fails(self, command: str) -> None:
        """The command fails the next time."""
        (self.state / f"fail-{command}").write_text("1")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Applied:
    folder = copied(tmp_path_factory.mktemp("terraform")) / "examples/small"
    return applied(folder, EXAMPLES["small"])


@pytest.fixture(scope="module")
def podman() -> Callable[..., str]:
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        missing("podman runs here as root on Debian only")
    prepared = run(ROOT / "tests/deploy/podman.sh", timeout=300)
    if prepared.returncode:
        missing(f"podman cannot be had: {prepared.stderr[-800:]}")
    folder = prepared.stdout.split()[0]
    env = {"CONTAINERS_STORAGE_CONF": f"{folder}/storage.conf", "CONTAINERS_CONF": f"{folder}/containers.conf"}
    return lambda *words: must(run("podman", *words, timeout=120, env=env))


@pytest.fixture
def boot(podman: Callable[..., str], small: Applied, tmp_path: Path) -> Iterator[Callable[[str], Machine]]:
    made: list[str] = []

    def booted(kind: str) -> Machine:
        state, stubs = tmp_path / "state", tmp_path / "stubs"
        state.mkdir()
        stubs.mkdir()
        for name in REPLACED:
            shutil.copy(STUB, stubs / name)
        (state / "boot").write_text(script(small, kind))
        address = next(
            (one["private_ip"] for one in small.of("aws_network_interface") if kind in one["tags"]["Name"]), ""
        )
        identity = podman(
            *("run", "--detach", "--network=none", "--timeout=300", f"--volume={state}:/state"),
            *(f"--volume={stubs}:/stubs:ro", f"--env=ADDRESS={address}", _DEBIAN, "sleep", "infinity"),
        ).strip()
        made.append(identity)
        path = "/stubs:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
        execute = partial(podman, "exec", f"--env=PATH={path}", identity)
        machine = Machine(execute, state)
        machine.fails("dnf")
        # As on a machine: these are there before.
        execute("mkdir", "-p", "/etc/systemd/system", "/usr/local/bin")
        execute("bash", "/state/boot")
        assert machine.calls("dnf") == ["dnf install -y -q docker"] * 2, "it waits for its way out"
        return machine

    yield booted
    for identity in made:
        podman("rm", "--force", "--time=0", identity)


def script(root: Applied, kind: str) -> str:
    """The first boot script of that kind."""
    return base64.b64decode(root.boots(kind)[0]).decode()


def parts(text: str) -> list[str]:
    """A boot script, and the scripts that it writes."""
    return [text, *("#!/bin/bash" + part.partition("\nEND\n")[0] for part in text.split("#!/bin/bash")[2:])]


def first(calls: list[str], *beginnings: str) -> list[int]:
    """Where the first call of each is."""
    return [next(at for at, call in enumerate(calls) if call.startswith(one)) for one in beginnings]


@pytest.mark.parametrize("kind", ["worker", "cassandra", "zookeeper"])
def test_every_script_is_clean(small: Applied, kind: str, tmp_path: Path) -> None:
    if not shutil.which("shellcheck"):
        missing("shellcheck")
    for number, one in enumerate(parts(script(small, kind))):
        path = tmp_path / f"{number}.sh"
        path.write_text(one)
        must(run("shellcheck", path, timeout=60))


@pytest.mark.parametrize("kind", ["cassandra", "zookeeper"])
def test_a_server_takes_its_address_and_its_disk(boot: Callable[[str], Machine], small: Applied, kind: str) -> None:
    machine = boot(kind)
    (volume,) = [one for one in small.of("aws_ebs_volume") if kind in one["tags"]["Name"]]
    (interface,) = [one for one in small.of("aws_network_interface") if kind in one["tags"]["Name"]]

    machine.fails("aws")  # the machine before this one holds them still
    assert "failed" in machine.execute("bash", "-c", "run-server || echo failed")
    assert machine.calls("docker") == []

    machine.execute("run-server")
    calls = machine.calls()
    order = first(
        calls,
        f"aws ec2 attach-network-interface --network-interface-id {interface['id']} --instance-id i-0123456789abcdef0",
        f"aws ec2 attach-volume --volume-id {volume['id']} --instance-id i-0123456789abcdef0",
        "udevadm wait",
        "mkfs.xfs",
        "mount -o noatime /dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_vol",
        "docker run --rm --name server --network host",
    )
    assert order == sorted(order)
    environment = machine.execute("cat", "/etc/server.env")
    assert (interface["private_ip"] in environment) == (kind == "cassandra")

    (machine.state / "formatted").touch()  # started again: nothing is formatted or attached twice
    machine.execute("run-server")
    again = machine.calls()
    assert not [call for call in again if call.startswith(("mkfs", "aws ec2 attach-network-interface"))]
    assert first(again, "docker run --rm --name server")


def test_a_worker_waits_for_its_secrets_and_its_servers(boot: Callable[[str], Machine], small: Applied) -> None:
    machine = boot("worker")
    assert machine.execute("cat", "/etc/gregor/gregor.toml").strip() == small.outputs["gregor_toml"].strip()

    machine.fails("aws")
    assert "failed" in machine.execute("bash", "-c", "run-worker || echo failed")
    assert not [call for call in machine.calls("docker") if call.startswith("docker run")]

    machine.fails("docker")  # gregor init finds no server
    assert "failed" in machine.execute("bash", "-c", "run-worker || echo failed")
    assert not [call for call in machine.calls("docker run") if call.endswith(" worker")]

    machine.execute("run-worker")
    runs = [call for call in machine.calls("docker run") if "gregor:0.1.0" in call]
    assert [call.rpartition(" ")[2] for call in runs] == ["init", "worker"]
    assert all("--read-only" in call and "--cap-drop ALL" in call and "of-redis" not in call for call in runs)
    assert machine.execute("cat", "/run/gregor/redis_password") == "of-redis\n"
    told = machine.execute("stat", "--format=%a %u", "/run/gregor/redis_password", "/run/gregor/viewer_token")
    assert told.splitlines() == ["400 10001"] * 2


def test_an_operators_words_reach_the_crawler(boot: Callable[[str], Machine]) -> None:
    machine = boot("worker")
    machine.execute("gregor", "export", "jsonl", "-o", "my file")
    (call,) = machine.calls("docker run")
    assert call.endswith("gregor:0.1.0 export jsonl -o my file")
    assert "--log-driver none" in call


@pytest.mark.parametrize("by", ["the group", "the spot market"])
def test_a_worker_lets_go_before_its_machine_is_taken(boot: Callable[[str], Machine], by: str) -> None:
    machine = boot("worker")
    if by == "the spot market":
        (machine.state / "spot").touch()
    machine.calls()
    machine.execute("drain")
    calls = machine.calls()
    assert [call for call, _ in itertools.groupby(calls) if call.startswith("systemctl")] == ["systemctl stop worker"]
    stopped, told = first(
        calls, "systemctl stop worker", "aws --region us-east-1 autoscaling complete-lifecycle-action"
    )
    assert stopped < told
    assert "--lifecycle-action-result CONTINUE --instance-id i-0123456789abcdef0" in calls[told]
    looks = len((machine.state / "looks").read_text().splitlines())
    assert looks == (1 if by == "the spot market" else 3)
