"""``python -m tests.simulation --seeds 0:300``: whole crawls with faults; ``--seed N`` replays one and tells it."""

import argparse
import os
import sys
import time

from tests.simulation.checker import check
from tests.simulation.crawl import Run
from tests.simulation.scenarios import of_seed


def main() -> int:
    """Run the seeds; 1 when any of them broke an invariant."""
    if os.environ.get("PYTHONHASHSEED") != "0":
        # A set of strings has another order in every process: a seed must mean the same run in each.
        os.execve(sys.executable, [sys.executable, "-m", "tests.simulation", *sys.argv[1:]],
                  {**os.environ, "PYTHONHASHSEED": "0"})  # fmt: skip
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seeds", default="0:40", help="FROM:TO, TO excluded")
    parser.add_argument("--seed", type=int, help="one seed, with its faults and requests")
    arguments = parser.parse_args()
    if arguments.seed is not None:
        return _replay(arguments.seed)
    first, last = map(int, arguments.seeds.split(":"))
    began, failed = time.process_time(), 0
    for seed in range(first, last):
        violations = check(of_seed(seed)())
        failed += bool(violations)
        for violation in violations[:5]:
            print(violation)
        if violations:
            print(f"  {len(violations)} in all; replay: python -m tests.simulation --seed {seed}", flush=True)
    seconds = (time.process_time() - began) / max(1, last - first)
    print(f"{last - first} crawls, {failed} with violations, {seconds:.3f} s of CPU each")
    return 1 if failed else 0


def _replay(seed: int) -> int:
    run = of_seed(seed)()
    _tell(run)
    violations = check(run)
    for violation in violations:
        print(violation)
    return 1 if violations else 0


def _tell(run: Run) -> None:
    faults = run.world.faults
    events = [(e.start, f"{e.client} {e.url} {e.status or '-'} until {e.end:.2f}") for e in run.web.log]
    events += [(time, f"{worker} FAULT {fault}") for time, worker, fault in faults.happened]
    events += [(one.time, f"{one.client} {one.what}") for one in run.world.incidents]
    for time_, event in sorted(events):
        print(f"{time_:10.3f} {event}")
    print(f"{len(run.web.log)} requests, {len(run.world.journal)} calls, ended at {run.ended:.1f} s")


if __name__ == "__main__":
    sys.exit(main())
