"""The tools that these tests need: found, or made once in the cache folder, or told to be missing."""

import os
import shutil
import subprocess
import sys
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


def go_tool(name: str, package: str, variable: str) -> Path:
    """A program in Go: the one that an environment variable names, or in PATH, or built once (a minute or two)."""
    found = os.environ.get(variable) or shutil.which(name)
    if found:
        return Path(found)
    path = BIN / name
    if not path.exists():
        if not shutil.which("go"):
            missing(f"{name} (set {variable}), and go to build it")
        built = run("go", "install", package, timeout=400, env={"GOBIN": str(BIN), "GOFLAGS": "-trimpath"})
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
            made = run(folder / "bin/pip", "install", "-q", f"{package}=={version}", timeout=400)
        if made.returncode:
            shutil.rmtree(folder, ignore_errors=True)
            missing(f"{name}: pip install {package}=={version} failed: {made.stderr[-800:]}")
    return program
