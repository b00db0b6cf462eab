"""Processes of our own find our modules, and none of the folder that one is in."""

import os
import subprocess
from pathlib import Path

import pytest

from gregor.worker.base import children


def ran(folder: Path, module: str) -> subprocess.CompletedProcess[str]:
    environment = children.environment({"LC_ALL": "C.UTF-8"})
    return subprocess.run(
        children.python(module), cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("named", ["", ".", "relative", os.pathsep])
def test_what_lies_in_the_working_directory_is_not_run(
    named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", named)
    (tmp_path / "relative").mkdir()
    for place in (tmp_path, tmp_path / "relative"):
        (place / "json.py").write_text("raise SystemExit('run')")
    assert ran(tmp_path, "json.tool").stderr.count("run") == 0
    assert ran(tmp_path, "gregor.worker.base.children").returncode == 0


def test_what_pythonpath_names_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "named").mkdir()
    (tmp_path / "named" / "beside.py").write_text("print('found')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "named"))
    assert ran(tmp_path, "beside").stdout == "found\n"
