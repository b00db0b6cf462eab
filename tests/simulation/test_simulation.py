"""Whole crawls with faults: no seed breaks an invariant. GREGOR_TEST_SEEDS says how many are run."""

import os
import subprocess
import sys

import pytest

from tests.simulation.checker import check
from tests.simulation.scenarios import of_seed

SEEDS = int(os.environ.get("GREGOR_TEST_SEEDS", "40"))


@pytest.mark.parametrize("first", range(0, SEEDS, 10))
def test_no_seed_breaks_an_invariant(first: int) -> None:
    for seed in range(first, min(first + 10, SEEDS)):
        violations = check(of_seed(seed)())
        story = "\n".join(map(str, violations[:20]))
        assert not violations, f"{story}\nreplay: python -m tests.simulation --seed {seed}"


def test_a_seed_is_the_same_crawl_in_every_process() -> None:
    command = [sys.executable, "-m", "tests.simulation", "--seed", "2"]
    told = [subprocess.run(command, capture_output=True, text=True, check=False, timeout=60) for _ in range(2)]
    assert told[0].stdout == told[1].stdout
    assert told[0].stdout.count("\n") > 20
