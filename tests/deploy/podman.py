"""Podman with settings of its own: see podman.sh."""

import subprocess
from typing import NamedTuple

from tests.deploy.tools import run

DEBIAN = "docker.io/library/debian:bookworm-slim"
_SETTINGS = {"CONTAINERS_STORAGE_CONF": "storage.conf", "CONTAINERS_CONF": "containers.conf"}


class Podman(NamedTuple):
    """The folder of its settings, and the name of the stand-in for the image's base."""

    folder: str
    base: str

    def __call__(self, *words: str, timeout: float = 120) -> subprocess.CompletedProcess[str]:
        """Run it; ``timeout`` in seconds."""
        env = {name: f"{self.folder}/{file}" for name, file in _SETTINGS.items()}
        return run("podman", *words, timeout=timeout, env=env)
