"""Boot scripts, as Terraform renders them, at work: in a container whose AWS, Docker and systemd are stand-ins."""

import base64
import itertools
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from monitoring.servers import JOBS
from tests.deploy.podman import DEBIAN, Podman
from tests.deploy.terraform import Applied
from tests.deploy.tools import ROOT, missing, must, run

PROMTOOL = shutil.which("promtool")
STUB = ROOT / "tests/deploy/machine/stub"
REPLACED = (
    *("aws", "blkid", "curl", "dnf", "docker", "hostname", "ip", "mkfs.xfs", "mount", "mountpoint", "sleep"),
    *("sysctl", "systemctl", "timeout", "udevadm", "xfs_growfs"),
)
"""Commands that the stub stands in for."""


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
def cluster(roots: Callable[[str], Applied]) -> Applied:
    """It has machines of every kind."""
    return roots("cluster")


@pytest.fixture
def boot(podman: Podman, cluster: Applied, containers: list[str], tmp_path: Path) -> Callable[[str], Machine]:
    def booted(kind: str) -> Machine:
        state, stubs = tmp_path / "state", tmp_path / "stubs"
        state.mkdir()
        stubs.mkdir()
        for name in REPLACED:
            shutil.copy(STUB, stubs / name)
        (state / "boot").write_text(script(cluster, kind))
        address = next(
            (
                one["private_ip"]
                for one in cluster.of("aws_network_interface")
                if one["tags"]["Name"].endswith(f"{kind}-1")
            ),
            "",
        )
        ran = podman(
            *("run", "--detach", "--network=none", "--timeout=300", f"--volume={state}:/state"),
            *(f"--volume={stubs}:/stubs:ro", f"--env=ADDRESS={address}", DEBIAN, "sleep", "infinity"),
        )
        identity = must(ran).strip()
        containers.append(identity)
        path = "/stubs:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"

        def execute(*words: str) -> str:
            return must(podman("exec", f"--env=PATH={path}", identity, *words))

        machine = Machine(execute, state)
        machine.fails("dnf")
        # As on a machine: these are there before.
        execute("mkdir", "-p", "/etc/systemd/system", "/etc/sysctl.d", "/usr/local/bin")
        execute("bash", "/state/boot")
        assert machine.calls("dnf") == ["dnf install -y -q docker"] * 2, "it waits for its way out"
        return machine

    return booted


def script(root: Applied, kind: str) -> str:
    """The first boot script of that kind."""
    return base64.b64decode(root.boots(kind)[0]).decode()


def parts(text: str) -> list[str]:
    """A boot script, and the scripts that it writes."""
    return [text, *("#!/bin/bash" + part.partition("\nEND\n")[0] for part in text.split("#!/bin/bash")[2:])]


def first(calls: list[str], *beginnings: str) -> list[int]:
    """Where the first call of each is."""
    return [next(at for at, call in enumerate(calls) if call.startswith(one)) for one in beginnings]


@pytest.mark.parametrize("kind", ["worker", "console", "cassandra", "zookeeper"])
def test_every_script_is_clean(cluster: Applied, kind: str, tmp_path: Path) -> None:
    if not shutil.which("shellcheck"):
        missing("shellcheck")
    for number, one in enumerate(parts(script(cluster, kind))):
        path = tmp_path / f"{number}.sh"
        path.write_text(one)
        must(run("shellcheck", path, timeout=60))


@pytest.mark.parametrize("kind", ["cassandra", "zookeeper"])
def test_a_server_takes_its_address_and_its_disk(boot: Callable[[str], Machine], cluster: Applied, kind: str) -> None:
    machine = boot(kind)
    (volume,) = [one for one in cluster.of("aws_ebs_volume") if one["tags"]["Name"].endswith(f"{kind}-1")]
    (interface,) = [one for one in cluster.of("aws_network_interface") if one["tags"]["Name"].endswith(f"{kind}-1")]

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


@pytest.mark.parametrize(
    ("joined", "data", "peers", "told"),
    [
        ("no", False, False, "CASSANDRA_SEEDS=ADDRESS"),  # the first of all
        ("no", False, True, ""),  # the others are there already: it joins them
        ("no", True, False, ""),  # it was here before it was ready
        ("yes", True, True, "JVM_EXTRA_OPTS=-Dcassandra.replace_address_first_boot=ADDRESS"),  # ignored by Cassandra
        ("yes", False, True, "JVM_EXTRA_OPTS=-Dcassandra.replace_address_first_boot=ADDRESS"),  # its disk is lost
    ],
)
def test_the_first_of_cassandra_begins_alone_once(
    boot: Callable[[str], Machine], cluster: Applied, joined: str, data: bool, peers: bool, told: str
) -> None:
    machine = boot("cassandra")
    (machine.state / "joined").write_text(joined)
    if peers:
        (machine.state / "peers").touch()
    if data:
        machine.execute("mkdir", "-p", "/data/data/system")
    machine.execute("run-server")
    (address,) = [
        one["private_ip"] for one in cluster.of("aws_network_interface") if one["tags"]["Name"].endswith("cassandra-1")
    ]
    assert machine.execute("cat", "/run/server.env").strip() == told.replace("ADDRESS", address)
    environment = dict(line.split("=", 1) for line in machine.execute("cat", "/etc/server.env").splitlines())
    assert "cassandra-1." not in environment["CASSANDRA_SEEDS"]
    (started,) = [call for call in machine.calls("docker run") if "--name server" in call]
    assert started.index("/etc/server.env") < started.index("/run/server.env")


def test_metrics_are_told_by_an_agent_that_is_whole_and_keep_no_server_away(boot: Callable[[str], Machine]) -> None:
    machine = boot("cassandra")
    (machine.state / "joined").write_text("yes")
    machine.execute("run-server")  # it cannot be fetched, or is another one
    fetched, started = [call for call in machine.calls("docker run") if "maven" in call or "--name server" in call]
    assert "-Dartifact=io.prometheus.jmx:jmx_prometheus_javaagent:" in fetched
    assert "/opt/agent" not in started
    assert "javaagent" not in machine.execute("cat", "/run/server.env")

    run_server = machine.execute("cat", "/usr/local/bin/run-server")
    (sha256,) = re.findall(r'echo "(\w{64})  \$jar"', run_server)
    machine.execute("bash", "-c", "echo agent >/opt/agent/jmx_prometheus_javaagent.jar")
    own = machine.execute("sha256sum", "/opt/agent/jmx_prometheus_javaagent.jar").split()[0]
    machine.execute("sed", "-i", f"s/{sha256}/{own}/", "/usr/local/bin/run-server")
    machine.execute("run-server")
    (started,) = machine.calls("docker run")
    assert "--volume /opt/agent:/agent:ro" in started
    *_, options = machine.execute("cat", "/run/server.env").splitlines()
    name, _, words = options.partition("=")
    assert name == "JVM_EXTRA_OPTS"
    replaces, agent = words.split()
    assert replaces.startswith("-Dcassandra.replace_address_first_boot=")
    assert agent == "-javaagent:/agent/jmx_prometheus_javaagent.jar=7070:/agent/config.yml"
    told = machine.execute("cat", "/opt/agent/config.yml")
    assert told == (ROOT / "monitoring/exporters/cassandra.yml").read_text()


def test_a_node_that_is_ready_is_remembered(boot: Callable[[str], Machine]) -> None:
    machine = boot("cassandra")
    assert "systemctl enable --now server joined node-exporter repair.timer" in (machine.state / "boot").read_text()
    machine.execute("note-joined")
    calls = machine.calls()
    asked, noted = first(calls, "docker exec server nodetool netstats", "aws ssm put-parameter --name")
    assert asked < noted
    assert "--value yes --overwrite" in calls[noted]
    timer = machine.execute("cat", "/etc/systemd/system/repair.timer")
    assert "OnCalendar=Mon 05:00" in timer and "Persistent=true" in timer
    assert "nodetool repair" in machine.execute("cat", "/etc/systemd/system/repair.service")
    assert "1048575" in machine.execute("cat", "/etc/sysctl.d/90-server.conf")


def test_a_machine_whose_worker_is_not_well_is_replaced(boot: Callable[[str], Machine]) -> None:
    machine = boot("worker")
    (machine.state / "health").write_text("ok\n" * 3 + "away\n" * 20 + "ill\n" * 5 + "ok\n" + "ill\n" * 10)
    machine.calls()
    machine.execute("heed")
    calls = machine.calls()
    assert len([call for call in calls if "/healthz" in call]) == 39, "while it waits for a server it is left alone"
    (told,) = [call for call in calls if call.startswith("aws")]
    assert told.endswith("autoscaling set-instance-health --instance-id i-0123456789abcdef0 --health-status Unhealthy")


def test_a_worker_waits_for_its_secrets_and_its_servers(boot: Callable[[str], Machine], cluster: Applied) -> None:
    machine = boot("worker")
    assert machine.execute("cat", "/etc/gregor/gregor.toml").strip() == cluster.outputs["gregor_toml"].strip()

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


def test_beside_the_console_its_metrics_are_watched(boot: Callable[[str], Machine], cluster: Applied) -> None:
    machine = boot("console")
    # What the image has of it.
    shutil.copytree(ROOT / "monitoring/dashboards", machine.state / "monitoring/dashboards")
    shutil.copy(ROOT / "monitoring/alerts.yml", machine.state / "monitoring")

    machine.fails("docker")  # the crawler's image is not there yet
    assert "failed" in machine.execute("bash", "-c", "run-monitoring prometheus || echo failed")
    assert not [call for call in machine.calls("docker run") if "prom/prometheus" in call]

    machine.execute("mkdir", "-p", "/run/gregor")
    machine.execute("bash", "-c", "echo of-redis >/run/gregor/redis_password")
    for one in ("prometheus", "alertmanager", "grafana", "redis-exporter"):
        machine.execute("run-monitoring", one)
    calls = [call for call in machine.calls("docker run") if "--network host" in call]
    prometheus, alertmanager, grafana, of_redis = calls
    assert "of-redis" not in of_redis
    assert "-web.listen-address=127.0.0.1:9121" in of_redis
    assert machine.execute("cat", "/run/redis-exporter.env") == "REDIS_PASSWORD=of-redis\n"
    assert "--web.listen-address=127.0.0.1:9090" in prometheus
    assert "--web.listen-address=127.0.0.1:9093 --cluster.listen-address= " in alertmanager
    assert "GF_SERVER_HTTP_ADDR=127.0.0.1" in grafana
    assert all("--read-only" in call and "--cap-drop ALL" in call for call in calls)
    rules = machine.execute("cat", "/etc/monitoring/alerts.yml")
    assert rules == (ROOT / "monitoring/alerts.yml").read_text()
    config = yaml.safe_load(machine.execute("cat", "/etc/monitoring/prometheus.yml"))
    job, *of_servers = config["scrape_configs"]
    assert job["job_name"] == "gregor"
    by_job = {one["job_name"]: one for one in of_servers}
    assert set(by_job) == set(JOBS)
    assert by_job["gregor-cassandra"]["ec2_sd_configs"][0]["port"] == 7070
    machines = by_job["gregor-node"]["ec2_sd_configs"][0]["filters"][0]["values"]
    assert machines == ["gregor-zookeeper", "gregor-cassandra", "gregor-opensearch"]
    brokers = by_job["gregor-kafka"]["static_configs"][0]["targets"]
    assert len(brokers) == 3 and all(broker.endswith(".amazonaws.com:11001") for broker in brokers)
    assert len(by_job["gregor-node"]["static_configs"][0]["targets"]) == 3
    asked = {one["labels"]["instance"]: one["targets"] for one in by_job["gregor-redis"]["static_configs"]}
    assert set(asked) == {"primary", "replica"}
    assert all(target.startswith("rediss://") for (target,) in asked.values())
    assert job["ec2_sd_configs"][0]["filters"][0]["values"] == ["gregor-workers"]
    (told,) = config["alerting"]["alertmanagers"]
    assert told["static_configs"] == [{"targets": ["127.0.0.1:9093"]}]
    routes = yaml.safe_load(machine.execute("cat", "/etc/monitoring/alertmanager.yml"))
    (topic,) = cluster.of("aws_sns_topic")
    (receiver,) = routes["receivers"]
    assert receiver["name"] == routes["route"]["receiver"]
    assert receiver["sns_configs"] == [{"topic_arn": topic["arn"], "sigv4": {"region": "us-east-1"}}]
    (provider,) = yaml.safe_load(machine.execute("cat", "/etc/monitoring/provider.yml"))["providers"]
    shown = machine.execute("ls", provider["options"]["path"]).split()
    assert shown == sorted(path.name for path in (ROOT / "monitoring/dashboards").glob("*.json"))


@pytest.mark.skipif(PROMTOOL is None, reason="promtool is not installed (Debian: prometheus)")
def test_what_prometheus_is_told_is_a_config(cluster: Applied, tmp_path: Path) -> None:
    path = tmp_path / "prometheus.yml"
    told = script(cluster, "console").partition("/prometheus.yml <<'END'\n")[2].partition("END\n")[0]
    path.write_text(told)
    must(run("promtool", "check", "config", "--syntax-only", path, timeout=60))
