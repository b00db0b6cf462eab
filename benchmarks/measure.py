"""What every benchmark needs: processes and what they cost, figures, and where they are kept."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import msgspec

ROOT = Path(__file__).parents[1]
WORK = ROOT / "build" / "bench"
RESULTS = ROOT / "build" / "bench.json"
POLL = 0.1
"""Seconds between two looks at a process."""
GREGOR = Path(sys.executable).with_name("gregor")
COMPILED = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(WORK / "bytecode")}
"""The environment of a process that is measured: its modules are compiled once and kept, as an installation keeps them,
whatever this process was told about that."""


class Figure(msgspec.Struct, frozen=True, omit_defaults=True):
    """One measured number; ``peer`` is what the one it is compared with showed in the same run, in the same unit."""

    value: float
    unit: str
    peer: float | None = None


Figures = dict[str, Figure]


class Cost(msgspec.Struct, frozen=True):
    """What a process took: seconds of processor (user and system, all threads), seconds of time, its peak resident size
    in MB (VmHWM); and ``alone``, seconds of processor without those of the processes that it began."""

    cpu: float
    wall: float
    peak: float
    alone: float


class RunFailed(RuntimeError):
    """A measured process ended with an error; the message says which, and where its output is."""


def run(
    line: Sequence[object],
    output: Path,
    environment: Mapping[str, str] | None = None,
    *,
    codes: Collection[int] = (0,),
) -> Cost:
    """Run a process to its end; its output goes to a file. Raises RunFailed where it ends with none of these codes.

    Its environment is `COMPILED` besides.
    """
    words = list(map(str, line))
    started = time.monotonic()
    with output.open("wb") as file:
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            cwd=ROOT,
            env={**os.environ, **COMPILED, **(environment or {})},
        )
        peak = 0.0
        while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            time.sleep(POLL)
            peak = _high_water(process.pid) or peak
        alone = processor_seconds(process.pid)  # known until it was waited for
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)  # it was waited for here: subprocess need not
    if process.returncode not in codes:
        raise RunFailed(f"{' '.join(words)} ended with status {process.returncode}: see {output}")
    return Cost(usage.ru_utime + usage.ru_stime, time.monotonic() - started, peak, alone)


@contextmanager
def begun(line: Sequence[object], output: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that is killed with the end of the block; its output goes to a file, its environment is `COMPILED`
    besides."""
    with (
        output.open("wb") as file,
        subprocess.Popen(
            list(map(str, line)),
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            cwd=ROOT,
            env={**os.environ, **COMPILED},
        ) as process,
    ):
        try:
            yield process
        finally:
            process.kill()


def processor_seconds(pid: int) -> float:
    """Seconds of processor (user and system, all threads) that a process has used, without its children (proc(5)).

    Known until it was waited for. Raises FileNotFoundError then.
    """
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def begun_by(pid: int) -> list[int]:
    """The processes that one began, and that were not waited for yet."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


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
