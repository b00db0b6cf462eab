"""Every reported case against the whole crawler: all are run side by side once, then each is a test of its own."""

import json

import pytest

from tests.web import reported
from tests.web.shared import SHARED, needs

FILE = SHARED / "cases" / "reported.jsonl"
CHECKED = [case["id"] for case in reported.read(FILE) if "check" in case] if FILE.is_file() else []


@pytest.fixture(scope="module")
def judged() -> dict[str, reported.Judged]:
    return {one.id: one for one in reported.run(FILE, CHECKED)}


@needs("cases/reported.jsonl")
@pytest.mark.parametrize("case", CHECKED)
def test_reported_case(case: str, judged: dict[str, reported.Judged]) -> None:
    assert judged[case].result == "passed", json.dumps(judged[case].failures, indent=1)
