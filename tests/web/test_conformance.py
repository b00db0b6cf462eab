"""Every published case that concerns a crawler passes."""

import os
from pathlib import Path

import pytest

from tests.web.conformance import all_suites
from tests.web.suites import Suite, run

SHARED = Path(os.environ.get("GREGOR_SHARED", Path(__file__).parents[3] / "shared"))


@pytest.mark.parametrize("suite", all_suites(), ids=lambda suite: suite.name)
def test_every_case_passes(suite: Suite) -> None:
    folder = SHARED / "conformance"
    if not (folder / suite.file).is_file():
        pytest.skip(f"{folder / suite.file} is missing; GREGOR_SHARED names the folder that has it")
    cases = run(suite, folder)
    failures = [f"{case.id}: {case.detail}" for case in cases if not case.passed]
    assert cases, "a suite that judges no case proves nothing"
    assert not failures, "\n".join([f"{len(failures)} of {len(cases)} failed", *failures[:20]])
