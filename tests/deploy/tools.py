"""The tools that these tests need: found, or made once in the cache folder, or told to be missing."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

import pytest

ROOT = Path(__file__).parents[2]
SHARED = Path(os.environ.get("GREGOR_SHARED", ROOT.parent / "shared"))
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
BIN = CACHE / "gregor-tools"


def run(
    *command: str | Path,
    timeout: float,
    cwd: Path = ROOT,
    env: Mapping[str, str] | None = None,
    text: str | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run to the end; ``timeout`` in seconds. A failure is the caller's to judge."""
    return subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        input=text,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def must(result: subprocess.CompletedProcess[str]) -> str:
    """Its standard output; what it says fails the test if it failed."""
    assert result.returncode == 0, f"{' '.join(result.args)}\n{result.stdout[-4000:]}\n{result.stderr[-6000:]}"
    return result.stdout


def missing(what: str) -> NoReturn:
    """Skip; but with CI set, as root, nothing may be missing."""
    if os.environ.get("CI") and os.geteuid() == 0:
        pytest.fail(f"missing in CI: {what}")
    pytest.skip(what)


def fetched(
    *command: str | Path, timeout: float, cwd: Path = ROOT, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run what fetches from the network and may run again, three times at most."""
    for _ in range(2):
        result = run(*command, timeout=timeout, cwd=cwd, env=env)
        if not result.returncode:
            return result
        time.sleep(5)
    return run(*command, timeout=timeout, cwd=cwd, env=env)


def go_tool(name: str, package: str) -> Path:
    """A program in Go, built once (a minute or three)."""
    path = BIN / name
    if not path.exists():
        if not shutil.which("go"):
            missing(f"{name}, and go to build it")
        built = fetched("go", "install", package, timeout=600, env={"GOBIN": str(BIN), "GOFLAGS": "-trimpath"})
        if built.returncode:
            missing(f"{name}: go install {package} failed: {built.stderr[-500:]}")
    return path


def python_tool(name: str, package: str, version: str) -> Path:
    """A program that comes as a Python package, installed once beside the project's packages (a minute or two)."""
    folder = BIN / f"{name}-{version}"
    program = folder / "bin" / name
    if not program.exists():
        shutil.rmtree(folder, ignore_errors=True)
        made = run(sys.executable, "-m", "venv", folder, timeout=120)
        if not made.returncode:
            made = fetched(folder / "bin/pip", "install", "-q", "--no-compile", f"{package}=={version}", timeout=600)
        if made.returncode:
            shutil.rmtree(folder, ignore_errors=True)
            missing(f"{name}: pip install {package}=={version} failed: {made.stderr[-800:]}")
    return program


def etcd() -> Path:
    """The folder of etcd: that of the machine, or Debian's package unpacked: installed, it would start."""
    if found := shutil.which("etcd"):
        return Path(found).parent
    folder = BIN / "etcd"
    if not (folder / "usr/bin/etcd").exists():
        if not shutil.which("apt-get"):
            missing("etcd (Debian: etcd-server)")
        folder.mkdir(parents=True, exist_ok=True)
        download = "apt-get download -qq etcd-server"
        script = f"({download} || apt-get update -qq && {download}) && dpkg -x etcd-server_*.deb ."
        got = fetched("bash", "-c", script, timeout=300, cwd=folder)
        if got.returncode:
            missing(f"etcd: {got.stderr[-500:]}")
    return folder / "usr/bin"
