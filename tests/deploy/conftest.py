"""What is made once for all of these tests, by the first that needs it."""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from pathlib import Path

import pytest

from tests.deploy import kubernetes
from tests.deploy.podman import IMAGE, Built, Podman
from tests.deploy.terraform import EXAMPLES, Applied, applied, copied, initialised, unguarded
from tests.deploy.tools import ROOT, fetched, missing, must


@pytest.fixture(scope="session")
def terraform(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the folder, which may be written to, and what it makes destroyed: `terraform test` cleans up."""
    return unguarded(copied(tmp_path_factory.mktemp("terraform")))


@pytest.fixture(scope="session")
def examples(terraform: Path) -> Callable[[str], Path]:
    """The folder of an example root by its name, after init."""
    return cache(lambda name: initialised(terraform / "examples" / name))


@pytest.fixture(scope="session")
def roots(examples: Callable[[str], Path]) -> Callable[[str], Applied]:
    """An example root by its name, applied. Nobody changes it: who wants to takes a copy beside it."""
    return cache(lambda name: applied(examples(name), EXAMPLES[name]))


@pytest.fixture(scope="session")
def podman() -> Podman:
    """Podman, ready to build and run without a registry."""
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        missing("podman runs here as root on Debian only")
    prepared = fetched(ROOT / "tests/deploy/podman.sh", timeout=600)
    if prepared.returncode:
        missing(f"podman cannot be had: {prepared.stderr[-800:]}")
    folder, base = prepared.stdout.split()
    return Podman(folder, base)


@pytest.fixture(scope="session")
def built(podman: Podman) -> Built:
    """The image."""
    build = ("build", "--network=host", "--pull=never", "--format=docker", f"--build-arg=PYTHON_IMAGE={podman.base}")
    words = (*build, "-f", "docker/Dockerfile", "-t", IMAGE, ".")
    # Packages are fetched: what is done already is kept when it is tried again.
    if podman(*words, timeout=600).returncode:
        must(podman(*words, timeout=600))
    mine, below = json.loads(must(podman("image", "inspect", IMAGE, podman.base)))
    return Built(mine, mine["Size"] - below["Size"], podman)


@pytest.fixture
def containers(podman: Podman) -> Iterator[list[str]]:
    """Ids of containers that end with the test."""
    made: list[str] = []
    yield made
    for identity in made:
        podman("rm", "--force", "--time=0", identity)


@pytest.fixture(scope="session")
def helm() -> Path:
    """Helm 3."""
    return kubernetes.helm()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that need Kubernetes come last: it is built beside the others."""
    items.sort(key=_needs_kubernetes)


def _needs_kubernetes(test: pytest.Item) -> bool:
    return "kube" in getattr(test, "fixturenames", ())


@pytest.fixture(scope="session", autouse=True)
def _kubernetes(request: pytest.FixtureRequest) -> Iterator[Future[Path] | None]:
    """Where tests need Kubernetes it is built from the beginning on, for that takes longest."""
    if not any(_needs_kubernetes(one) for one in request.session.items):
        yield None
        return
    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(kubernetes.control_plane)


@pytest.fixture(scope="session")
def kube(_kubernetes: Future[Path]) -> Path:
    """The folder of a Kubernetes control plane, helm and kubectl."""
    return _kubernetes.result()
