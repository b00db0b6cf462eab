"""The chart against a real Kubernetes API server, whose nodes and pods are simulated.

Building that server takes many minutes, so it is used where it was built before (`kube up`), and skipped elsewhere.
"""

import hashlib
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.deploy.tools import CACHE, ROOT, SHARED, must, run

KUBE = SHARED / "tools/kube-offline"
PROGRAMS = ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl", "kwok", "helm")
CHART = ROOT / "helm/gregor"
RESTRICTED = {"pod-security.kubernetes.io/enforce": "restricted"}


class Cluster(NamedTuple):
    """How it is spoken to."""

    programs: Path
    kubeconfig: Path

    def helm(self, *words: str | Path) -> str:
        """Run helm in the namespace of the crawl."""
        return must(run(self.programs / "helm", "--kubeconfig", self.kubeconfig, "-n", "web", *words, timeout=120))

    def kubectl(self, *words: str, text: str | None = None) -> str:
        """Run kubectl."""
        return must(run(self.programs / "kubectl", "--kubeconfig", self.kubeconfig, *words, timeout=60, text=text))

    def get(self, *words: str) -> Any:
        """What there is, as data."""
        return json.loads(self.kubectl("-n", "web", "get", *words, "-o", "json"))

    def pods(self) -> int:
        """Workers that are ready."""
        return int(self.get("deployment", "crawl-gregor")["status"].get("readyReplicas", 0))


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    if not KUBE.exists() or not shutil.which("etcd"):
        pytest.skip(f"{KUBE} or etcd (package etcd-server) is not there")
    built = hashlib.sha256((KUBE / "go.sum").read_bytes() + (KUBE / "kube").read_bytes()).hexdigest()[:12]
    programs = CACHE / "kube-offline" / built
    if not all((programs / program).exists() for program in PROGRAMS):
        pytest.skip(f"kube-offline is not built (once, minutes): {KUBE}/kube bin")
    folder = tmp_path_factory.mktemp("kube")
    try:
        must(run(KUBE / "kube", "up", folder, "3", timeout=120))
        must(run(KUBE / "kube", "crds", folder, timeout=120))
        one = Cluster(programs, folder / "kubeconfig")
        for name in ("web", "dry"):
            made = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": RESTRICTED}}
            one.kubectl("apply", "-f", "-", text=json.dumps(made))
        one.kubectl("-n", "dry", "create", "serviceaccount", "crawl-gregor")  # pods are refused without
        yield one
    finally:
        run(KUBE / "kube", "down", folder, timeout=60)


def test_a_releases_life(cluster: Cluster) -> None:
    cluster.helm("install", "crawl", CHART, "--wait", "--timeout=60s")
    assert cluster.pods() == 3
    assert cluster.get("jobs")["items"] == []  # init is done, and gone
    for replicas in (6, 2):
        cluster.helm("upgrade", "crawl", CHART, "--wait", "--timeout=60s", f"--set=workers.replicas={replicas}")
        assert cluster.pods() == replicas
    cluster.helm("rollback", "crawl", "2", "--wait", "--timeout=60s")
    assert cluster.pods() == 6
    cluster.helm("uninstall", "crawl", "--wait", "--timeout=60s")
    assert cluster.get("all,configmaps,networkpolicies", "-l", "app.kubernetes.io/name=gregor")["items"] == []


@pytest.mark.parametrize("values", sorted((ROOT / "tests/deploy/values").glob("*.yaml")), ids=lambda path: path.stem)
def test_the_server_takes_every_resource(cluster: Cluster, values: Path) -> None:
    """Strictly: an unknown field of KEDA's or Prometheus's resources is refused too."""
    manifest = cluster.helm("template", "crawl", CHART, "--kube-version=1.33.0", "-f", values)
    cluster.kubectl("-n", "dry", "apply", "--dry-run=server", "--validate=strict", "-f", "-", text=manifest)
