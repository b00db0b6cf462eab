"""Servers from packages: jars from Maven Central, kept in ~/.cache/gregor-servers; redis-server from Debian."""

import fcntl
import hashlib
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final
from xml.sax.saxutils import escape

from tests.cluster.servers.service import Missing

_TIMEOUT: Final = 600
_POM: Final = """<project xmlns="http://maven.apache.org/POM/4.0.0">
<modelVersion>4.0.0</modelVersion><groupId>test</groupId><artifactId>servers</artifactId><version>1</version>
<dependencies>{}</dependencies></project>
"""


def jars(name: str, artifacts: Sequence[str]) -> Path:
    """The folder with the artifacts ("group:artifact:version") and all they need at run time; raises `Missing`."""
    if shutil.which("java") is None:
        raise Missing(f"{name}: no java here")
    digest = hashlib.sha256("\n".join(artifacts).encode()).hexdigest()[:12]
    folder = _cache() / f"{name}-{digest}"
    with (_cache() / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            _fetch(name, artifacts, folder)
    return folder


def program(name: str, package: str) -> str:
    """The path of a program, installed from Debian's package if need be and possible; raises `Missing`."""
    if (found := shutil.which(name)) is not None:
        return found
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        raise Missing(f"{name} is not installed")
    with (_cache() / "apt.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if shutil.which(name) is None:
            settings = {"DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
            _run(name, ["apt-get", "update", "-q"], settings)
            _run(name, ["apt-get", "install", "-q", "-y", "--no-install-recommends", package], settings)
    found = shutil.which(name)
    if found is None:
        raise Missing(f"{name} is not in the package {package}")
    return found


def _cache() -> Path:
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gregor-servers"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _fetch(name: str, artifacts: Sequence[str], folder: Path) -> None:
    maven = shutil.which("mvn")
    if maven is None:
        raise Missing(f"{name}: no Maven here to fetch it with")
    part = folder.with_suffix(".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    pom = part / "pom.xml"
    pom.write_text(_POM.format("".join(_dependency(artifact) for artifact in artifacts)))
    goal = ["dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={part}"]
    _run(name, [maven, "-q", "-B", "-f", str(pom), *goal])
    part.rename(folder)


def _dependency(artifact: str) -> str:
    group, name, version = map(escape, artifact.split(":"))
    names = f"<groupId>{group}</groupId><artifactId>{name}</artifactId><version>{version}</version>"
    return f"<dependency>{names}</dependency>"


def _run(name: str, command: Sequence[str], settings: Mapping[str, str] | None = None) -> None:
    environ = {**os.environ, **(settings or {})}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=_TIMEOUT, check=False)
    if done.returncode != 0:
        output = (done.stdout + done.stderr).strip()[-2000:]
        raise Missing(f"{name} can't be fetched ({' '.join(command[:2])}):\n{output}")
