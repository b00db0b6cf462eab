"""Looks at a run from outside and says which invariants it broke.

Three witnesses: the web's request log, the journal of the border calls (with the servers' state at its end), and the
description of the web. Nothing here asks the workers.
"""

from collections.abc import Callable
from dataclasses import dataclass

from tests.simulation import check_end, check_idling, check_journal, check_requests
from tests.simulation.crawl import Run


@dataclass(frozen=True)
class Violation:
    """A broken invariant: which, where, when (virtual seconds)."""

    invariant: str
    about: str
    time: float
    seed: int

    def __str__(self) -> str:
        return f"{self.invariant} at {self.time:.3f} s, seed {self.seed}: {self.about}"


Finding = tuple[float, str]
CHECKS: dict[str, Callable[[Run], list[Finding]]] = {
    "I1": check_requests.polite,
    "I2": check_requests.obedient,
    "I3": check_end.complete,
    "I4": lambda run: check_end.settled(run) + check_end.explained(run),
    "I5": check_requests.once,
    "I6": check_journal.watermarks,
    "I7": check_journal.epochs,
    "I8": check_requests.leased,
    "I9": check_journal.bounded,
    "I10": check_idling.busy,
    "I11": check_requests.addresses,
    "I12": check_requests.spaced,
}


def check(run: Run) -> list[Violation]:
    """All violations of a run that has ended."""
    found = [Violation("run", failure, run.ended, run.seed) for failure in run.failures]
    for name, look in CHECKS.items():
        if run.finished or name not in ("I3", "I4", "I10"):
            found += [Violation(name, about, time, run.seed) for time, about in look(run)]
    return found
