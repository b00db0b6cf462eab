"""Checkov finds nothing in Terraform's files but what is allowed in place, with its reason."""

import json
from pathlib import Path

import pytest

from tests.deploy.tools import ROOT, python_tool, run

VERSION = "3.3.30"
"""Its rules grow with its versions: a new one is taken on purpose."""


@pytest.fixture(scope="module")
def checkov() -> Path:
    return python_tool("checkov", "checkov", VERSION)


def test_nothing_is_found(checkov: Path) -> None:
    words = (
        "-d",
        ROOT / "terraform",
        "--framework",
        "terraform",
        "--skip-download",
        "--quiet",
        "--compact",
        "-o",
        "json",
    )
    report = json.loads(run(checkov, *words, timeout=400).stdout)
    failed = {(one["check_id"], one["resource"], one["file_path"]) for one in report["results"]["failed_checks"]}
    assert failed == set()
    assert report["summary"]["passed"] > 200
    assert report["summary"]["parsing_errors"] == 0


def test_every_exception_has_a_reason() -> None:
    for path in (ROOT / "terraform").rglob("*.tf"):
        for line in path.read_text().splitlines():
            if "checkov:skip" in line:
                rule, _, reason = line.partition("checkov:skip=")[2].partition(":")
                assert rule.startswith("CKV") and len(reason) > 10, f"{path}: {line}"
