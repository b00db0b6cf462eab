"""What every benchmark needs: processes and what they cost, figures, and where they are kept."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median

import msgspec

ROOT = Path(__file__).parents[1]
WORK = ROOT / "build" / "bench"
RESULTS = ROOT / "build" / "bench.json"
POLL = 0.1
"""Seconds between two looks at a process."""
GREGOR = Path(sys.executable).with_name("gregor")


class Figure(msgspec.Struct, frozen=True, omit_defaults=True):
    """One measured number; ``peer`` is what the one it is compared with showed in the same run, in the same unit."""

    value: float
    unit: str
    peer: float | None = None


Figures = dict[str, Figure]


class Cost(msgspec.Struct, frozen=True):
    """What a process took: seconds of processor (user and system, all threads), seconds of time, its peak resident size
    in MB (VmHWM)."""

    cpu: float
    wall: float
    peak: float


class RunFailed(RuntimeError):
    """A measured process ended with an error; the message says which, and where its output is."""


def run(line: Sequence[object], output: Path, environment: Mapping[str, str] | None = None) -> Cost:
    """Run a process to its end; its output goes to a file. Raises RunFailed.

    Its modules are compiled once and kept, as an installation keeps them, whatever this process was told about that.
    """
    words = list(map(str, line))
    kept = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(WORK / "bytecode")}
    started = time.monotonic()
    with output.open("wb") as file:
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            cwd=ROOT,
            env={**os.environ, **kept, **(environment or {})},
        )
        peak, ended = 0.0, 0
        while not ended:
            time.sleep(POLL)
            peak = _high_water(process.pid) or peak
            ended, status, usage = os.wait4(process.pid, os.WNOHANG)
    process.returncode = os.waitstatus_to_exitcode(status)  # it was waited for here: subprocess need not
    if process.returncode:
        raise RunFailed(f"{' '.join(words)} ended with status {process.returncode}: see {output}")
    return Cost(usage.ru_utime + usage.ru_stime, time.monotonic() - started, peak)


def _high_water(pid: int) -> float | None:
    """The peak resident size of a process so far; None once it has ended."""
    status = Path(f"/proc/{pid}/status").read_text()
    return next((int(line.split()[1]) / 1000 for line in status.splitlines() if line.startswith("VmHWM:")), None)


def middle(values: Iterable[float], digits: int = 3) -> float:
    """The median, rounded."""
    return round(median(values), digits)


def report(figures: Figures) -> None:
    """Print figures, a line each."""
    for name, figure in figures.items():
        peer = "" if figure.peer is None else f"   peer {figure.peer:g} {figure.unit}"
        print(f"{name:32} {figure.value:>10g} {figure.unit}{peer}", flush=True)


def keep(figures: Figures) -> None:
    """Write all figures of a run to build/bench.json."""
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(json.dumps(msgspec.to_builtins(figures), indent=2) + "\n")
