"""The chart against a real Kubernetes API server, whose nodes and pods are simulated. Built once (minutes)."""

import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any, NamedTuple

import pytest

from tests.deploy.kubernetes import KUBE
from tests.deploy.tools import ROOT, etcd, fetched, must, run

WAIT = "--timeout=300s"  # under load all of Kubernetes is slow
CHART = ROOT / "helm/gregor"
OURS = "app.kubernetes.io/name in (gregor,gregor-servers)"
RESTRICTED = {"pod-security.kubernetes.io/enforce": "restricted"}


class Cluster(NamedTuple):
    """How it is spoken to."""

    programs: Path
    kubeconfig: Path

    def tried(self, *words: str | Path) -> CompletedProcess[str]:
        """Run helm in the namespace of the crawl."""
        return run(self.programs / "helm", "--kubeconfig", self.kubeconfig, "-n", "web", *words, timeout=330)

    def helm(self, *words: str | Path) -> str:
        """The same, which must succeed."""
        return must(self.tried(*words))

    def kubectl(self, *words: str, text: str | None = None) -> str:
        """Run kubectl."""
        return must(run(self.programs / "kubectl", "--kubeconfig", self.kubeconfig, *words, timeout=330, text=text))

    def get(self, *words: str) -> Any:
        """What there is, as data."""
        return json.loads(self.kubectl("-n", "web", "get", *words, "-o", "json"))

    def ready(self, workers: int) -> None:
        """Wait until so many are; helm is content with one less, which a rolling update may do without."""
        condition = f"--for=jsonpath={{.status.readyReplicas}}={workers}"
        self.kubectl("-n", "web", "wait", condition, WAIT, "deployment/crawl-gregor")


@pytest.fixture(scope="module")
def cluster(kube: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("kube")
    env = {"PATH": f"{etcd()}:{os.environ['PATH']}"}
    try:
        must(run(KUBE, "up", folder, "3", timeout=120, env=env))
        must(fetched(KUBE, "crds", folder, timeout=120))
        one = Cluster(kube, folder / "kubeconfig")
        for name in ("web", "dry"):
            made = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": RESTRICTED}}
            one.kubectl("apply", "-f", "-", text=json.dumps(made))
        one.kubectl("-n", "dry", "create", "serviceaccount", "crawl-gregor")  # pods are refused without
        one.kubectl("create", "priorityclass", "low", "--value=1")  # likewise
        yield one
    finally:
        run(KUBE, "down", folder, timeout=60)


def helm_test(cluster: Cluster, phase: str) -> int:
    """Helm's exit code when the test's pod ends so. No container runs here: this says what a kubelet would say."""
    pod = ("-n", "web", "pod/crawl-gregor-test")
    with ThreadPoolExecutor(1) as pool:
        tried = pool.submit(cluster.tried, "test", "crawl", WAIT)
        for condition in ("create", "jsonpath={.status.phase}=Running"):
            cluster.kubectl("wait", f"--for={condition}", WAIT, *pod)
        cluster.kubectl("patch", *pod, "--subresource=status", "-p", json.dumps({"status": {"phase": phase}}))
        return tried.result().returncode


def test_a_releases_life(cluster: Cluster) -> None:
    cluster.helm("install", "crawl", CHART, "--wait", WAIT)
    assert helm_test(cluster, "Succeeded") == 0
    assert helm_test(cluster, "Failed") == 1
    cluster.kubectl("-n", "web", "delete", "pod", "crawl-gregor-test")  # it stays for its log
    cluster.ready(3)
    assert cluster.get("jobs")["items"] == []  # init is done, and gone
    for replicas in (6, 2):
        cluster.helm("upgrade", "crawl", CHART, "--wait", WAIT, f"--set=workers.replicas={replicas}")
        cluster.ready(replicas)
    cluster.helm("rollback", "crawl", "2", "--wait", WAIT)
    cluster.ready(6)
    # What scales takes over from where the release was: nothing falls to one worker meanwhile.
    cluster.helm("upgrade", "crawl", CHART, "--wait", WAIT, "--set=autoscaling.kind=hpa,autoscaling.minimum=2")
    assert cluster.get("deployment/crawl-gregor")["spec"]["replicas"] == 6
    cluster.kubectl("-n", "web", "scale", "deployment/crawl-gregor", "--replicas=9")
    cluster.helm("upgrade", "crawl", CHART, "--set=autoscaling.kind=hpa,autoscaling.minimum=2,config.delay=3")
    assert cluster.get("deployment/crawl-gregor")["spec"]["replicas"] == 9
    cluster.helm("uninstall", "crawl", "--wait", WAIT)
    assert left(cluster) == []


def left(cluster: Cluster) -> list[Any]:
    """What there is of the chart in the namespace, once the server has collected the pods of what was deleted."""
    cluster.kubectl("-n", "web", "wait", "--for=delete", WAIT, "pods", "-l", OURS)
    found: list[Any] = cluster.get("all,configmaps,serviceaccounts,networkpolicies", "-l", OURS)["items"]
    return found


def test_a_failed_install_leaves_nothing_behind(cluster: Cluster) -> None:
    with ThreadPoolExecutor(1) as pool:
        tried = pool.submit(cluster.tried, "install", "crawl", CHART, WAIT)
        job = ("-n", "web", "job/crawl-gregor-init")
        cluster.kubectl("wait", "--for=create", WAIT, *job)
        # A finished job was begun before, and has no pod that runs.
        cluster.kubectl("wait", "--for=jsonpath={.status.startTime}", WAIT, *job)
        failed = [{"type": kind, "status": "True"} for kind in ("FailureTarget", "Failed")]
        status = {"status": {"active": 0, "ready": 0, "conditions": failed}}
        cluster.kubectl("patch", *job, "--subresource=status", "--type=merge", "-p", json.dumps(status))
        assert tried.result().returncode == 1
    cluster.helm("uninstall", "crawl")  # the record that it failed
    assert left(cluster) == []


def test_an_install_brings_its_own_servers_to_a_bare_cluster(cluster: Cluster) -> None:
    cluster.helm("install", "crawl", CHART, "--wait", WAIT, "--set=servers.enabled=true")
    cluster.ready(3)
    assert {one["metadata"]["name"] for one in cluster.get("statefulsets")["items"]} == {
        f"crawl-gregor-{server}" for server in ("kafka", "zookeeper", "redis", "cassandra")
    }
    cluster.helm("uninstall", "crawl", "--wait", WAIT)
    assert left(cluster) == []


@pytest.mark.parametrize("values", sorted((ROOT / "tests/deploy/values").glob("*.yaml")), ids=lambda path: path.stem)
def test_the_server_takes_every_resource(cluster: Cluster, values: Path) -> None:
    """Strictly: an unknown field of KEDA's or Prometheus's resources is refused too."""
    manifest = cluster.helm("template", "crawl", CHART, "--kube-version=1.33.0", "-f", values)
    cluster.kubectl("-n", "dry", "apply", "--dry-run=server", "--validate=strict", "-f", "-", text=manifest)
