"""Feeds generated and damaged inputs to the functions that decide, each within a time and a memory bound.

`python -m tests.web.fuzz --inputs N [--kind robots|url|html|sitemap|headers] [--seed S] [--only NUMBER]` prints the
first failing inputs as base64 with what makes them again, and ends with `N inputs, N failures`; exit code 1 if any.
A hang inside a C library, which no signal interrupts, ends the process with a traceback after HANG_SECONDS.
"""

import argparse
import base64
import faulthandler
import resource
import signal
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import FrameType

from tests.web import fuzz_inputs
from tests.web.fuzz_targets import TARGETS

SECONDS = 2.0
"""Of processor time for one input; most take far less than a millisecond."""

HANG_SECONDS = 60
GROWTH_MB = 128
"""By how much one input may raise the peak of resident memory: inputs have 64 KB at most."""

ROUND = 500
SHOWN = 20


class TooSlow(Exception):
    """An input took longer than SECONDS."""


@dataclass(frozen=True, slots=True)
class Failure:
    """An input that broke a bound or raised, and how it is made again."""

    kind: str
    seed: int
    number: int
    data: bytes
    error: str

    def __str__(self) -> str:
        again = f"python -m tests.web.fuzz --kind {self.kind} --seed {self.seed} --only {self.number}"
        return f"{self.error}\n  input (base64): {base64.b64encode(self.data).decode()}\n  again: {again}"


def fuzz(kind: str, seed: int, numbers: Iterable[int]) -> Iterator[Failure]:
    """Runs the inputs of the given numbers; yields the failures."""
    target = TARGETS[kind]
    with_alarm = signal.signal(signal.SIGPROF, _alarm)
    try:
        for number in numbers:
            if number % ROUND == 0:
                faulthandler.dump_traceback_later(HANG_SECONDS, exit=True)
            data = fuzz_inputs.make(kind, seed, number)
            error = _run(target, data)
            if error:
                yield Failure(kind, seed, number, data, error)
    finally:
        signal.signal(signal.SIGPROF, with_alarm)
        faulthandler.cancel_dump_traceback_later()


def _alarm(_number: int, _frame: FrameType | None) -> None:
    raise TooSlow(f"more than {SECONDS} s")


def _run(target: Callable[[bytes], None], data: bytes) -> str | None:
    """What went wrong with an input, with the place; None if nothing did."""
    before = _peak_mb()
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        target(data)
    except Exception as error:  # noqa: BLE001 - any exception is a finding, and is reported with its place
        place = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {error} at {place.filename}:{place.lineno}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    grown = _peak_mb() - before
    return f"memory grew by {grown:.0f} MiB" if grown > GROWTH_MB else None


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> int:
    parser = argparse.ArgumentParser(description="Fuzz the functions that decide.")
    parser.add_argument("--inputs", type=int, default=10_000, help="inputs a kind")
    parser.add_argument("--kind", choices=sorted(TARGETS))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="only the input of this number")
    options = parser.parse_args()
    numbers = range(options.inputs) if options.only is None else range(options.only, options.only + 1)
    kinds = [options.kind] if options.kind else sorted(TARGETS)
    failures = 0
    for kind in kinds:
        for failure in fuzz(kind, options.seed, numbers):
            failures += 1
            if failures <= SHOWN:
                print(f"{kind}: {failure}", flush=True)
    print(f"{len(numbers) * len(kinds)} inputs, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
