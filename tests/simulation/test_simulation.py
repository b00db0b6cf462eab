"""Whole crawls with faults: no seed breaks an invariant. GREGOR_TEST_SEEDS says how many are run."""

import asyncio
import os
import subprocess
import sys

import pytest

from gregor.worker.adapters.sorting import Sorted
from gregor.worker.inspect.audit import Findings
from gregor.worker.inspect.audit_crawl import audit
from tests.simulation.checker import check
from tests.simulation.crawl import Run
from tests.simulation.reading import SimulatedReader
from tests.simulation.scenarios import of_seed

SEEDS = int(os.environ.get("GREGOR_TEST_SEEDS", "40"))


@pytest.mark.parametrize("first", range(0, SEEDS, 10))
def test_no_seed_breaks_an_invariant(first: int) -> None:
    for seed in range(first, min(first + 10, SEEDS)):
        run = of_seed(seed)()
        violations = check(run)
        story = "\n".join(map(str, violations[:20]))
        assert not violations, f"{story}\nreplay: python -m tests.simulation --seed {seed}"
        assert not (findings := audited(run)).listed, f"seed {seed}: {findings.listed[:20]}"
        assert not run.finished or findings.requests


def audited(run: Run) -> Findings:
    """What the audit says, which sees the store alone."""
    with Sorted() as sorting:
        return asyncio.run(audit(SimulatedReader(run.world), sorting, run.config.user_agent))


def test_a_seed_is_the_same_crawl_in_every_process() -> None:
    command = [sys.executable, "-m", "tests.simulation", "--seed", "2"]
    told = [subprocess.run(command, capture_output=True, text=True, check=False, timeout=60) for _ in range(2)]
    assert told[0].stdout == told[1].stdout
    assert told[0].stdout.count("\n") > 20
