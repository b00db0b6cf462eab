"""Every reported case against the whole crawler: the chosen ones run side by side, then each is a test of its own."""

import json

import pytest

from tests.web import reported
from tests.web.shared import SHARED, needs

FILE = SHARED / "cases" / "reported.jsonl"
CHECKED = [case["id"] for case in reported.read(FILE) if "check" in case] if FILE.is_file() else []


@pytest.fixture(scope="module")
def judged(request: pytest.FixtureRequest) -> dict[str, reported.Judged]:
    """All cases that this session was asked for: one by one they would take the sum of their times."""
    names = {item.name for item in request.session.items}
    chosen = [case for case in CHECKED if f"{test_reported_case.__name__}[{case}]" in names]
    return {one.id: one for one in reported.run(FILE, chosen)}


@needs("cases/reported.jsonl")
@pytest.mark.parametrize("case", CHECKED)
def test_reported_case(case: str, judged: dict[str, reported.Judged]) -> None:
    assert judged[case].result == "passed", json.dumps(judged[case].failures, indent=1)
