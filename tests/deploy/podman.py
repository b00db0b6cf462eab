"""Podman with settings of its own (see podman.sh), and the image that it built."""

import subprocess
from typing import Final, NamedTuple

from tests.deploy.tools import run

DEBIAN: Final = "docker.io/library/debian:bookworm-slim"
IMAGE: Final = "localhost/gregor:test"
CONFINED: Final = ("--read-only", "--tmpfs=/tmp", "--cap-drop=all", "--security-opt=no-new-privileges")
_SETTINGS: Final = {"CONTAINERS_STORAGE_CONF": "storage.conf", "CONTAINERS_CONF": "containers.conf"}


class Podman(NamedTuple):
    """The folder of its settings, and the name of the stand-in for the image's base."""

    folder: str
    base: str

    def __call__(self, *words: str, timeout: float = 120) -> subprocess.CompletedProcess[str]:
        """Run it; ``timeout`` in seconds."""
        env = {name: f"{self.folder}/{file}" for name, file in _SETTINGS.items()}
        return run("podman", *words, timeout=timeout, env=env)


class Built(NamedTuple):
    """The image's description, its size over the base (bytes), and what runs it."""

    config: dict[str, object]
    size: int
    podman: Podman
    name: str = IMAGE

    def once(
        self, *words: str, entrypoint: str = "", options: tuple[str, ...] = ("--network=none",)
    ) -> subprocess.CompletedProcess[str]:
        """Run a container to its end."""
        begin = ("run", "--rm", "--timeout=120", "--no-healthcheck", *CONFINED, *options)
        return self.podman(
            *begin, *(("--entrypoint", entrypoint) if entrypoint else ()), self.name, *words, timeout=180
        )
