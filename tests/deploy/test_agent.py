"""The agent by which Kafka and Cassandra tell their metrics: all deployments take the same, and none waits for it."""

import re
import subprocess
from hashlib import sha256
from pathlib import Path

import pytest
import yaml

from tests.deploy.tools import ROOT, must, run

COMPOSE, TERRAFORM = ROOT / "docker/compose.exporters.yaml", ROOT / "terraform/modules/nodes/main.tf"
VALUES = ROOT / "helm/gregor/values.yaml"
TOLD = {"compose": "/etc/exporter.yml", "chart": "/etc/exporter/kafka.yml"}


def test_all_name_the_same_one() -> None:
    texts = [file.read_text() for file in (COMPOSE, TERRAFORM, VALUES)]
    named = [set(re.findall(r"io\.prometheus\.jmx:jmx_prometheus_javaagent:[\d.]+", text)) for text in texts]
    held_against = [set(re.findall(r"\b[0-9a-f]{64}\b", text)) for text in texts]
    assert all(len(names) == 1 and names == named[0] for names in named)
    assert all(len(sums) == 1 and sums == held_against[0] for sums in held_against)


@pytest.fixture(params=TOLD)
def fetching(request: pytest.FixtureRequest, helm: Path, tmp_path: Path) -> tuple[str, str]:
    """What fetches the agent into a folder, and the file of rules that the agent is to have."""
    if request.param == "compose":
        script: str = yaml.safe_load(COMPOSE.read_text())["services"]["jmx-exporter"]["command"][2].replace("$$", "$")
    else:
        words = ("servers.enabled=true", "monitoring.enabled=true", "files.viewer_token_file.secret=gregor")
        given = [f"--set={word}" for word in (*words, "files.viewer_token_file.key=token")]
        made = must(run(helm, "template", "crawl", ROOT / "helm/gregor", "--kube-version=1.33.0", *given, timeout=30))
        (kafka,) = (
            one
            for one in yaml.safe_load_all(made)
            if one and one["kind"] == "StatefulSet" and one["metadata"]["name"].endswith("-kafka")
        )
        pod = kafka["spec"]["template"]["spec"]
        script = pod["initContainers"][0]["args"][0]
        assert {"name": "KAFKA_OPTS", "value": "@/agent/options"} in pod["containers"][0]["env"]
    return script.replace("/agent", str(tmp_path)), TOLD[request.param]


@pytest.mark.parametrize("gives", ["echo agent >AGENT", "echo other >AGENT", "exit 1"])
def test_servers_start_without_it_where_it_cannot_be_had(fetching: tuple[str, str], gives: str, tmp_path: Path) -> None:
    script, rules = fetching
    agent = tmp_path / "jmx_prometheus_javaagent.jar"
    maven = tmp_path / "bin" / "mvn"
    maven.parent.mkdir()
    maven.write_text(f"#!/bin/sh\n{gives.replace('AGENT', str(agent))}\n")
    maven.chmod(0o755)
    script = re.sub(r"\b[0-9a-f]{64}\b", sha256(b"agent\n").hexdigest(), script)
    path = {"PATH": f"{maven.parent}:/usr/bin:/bin"}
    fetched = subprocess.run(["sh", "-c", script], env=path, capture_output=True, text=True, timeout=30, check=False)
    assert fetched.returncode == 0
    options = (tmp_path / "options").read_text()
    if gives.startswith("echo agent"):
        assert options == f"-javaagent:{agent}=7070:{rules}\n"
    else:
        assert options == ""
        assert "cannot be had" in fetched.stderr and "without it" in fetched.stderr
