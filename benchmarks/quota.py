"""A share of a processor core for a process and all its threads: a control group with a quota of the cpu controller.

Needs root and a writable cpu controller, of version 1 (/sys/fs/cgroup/cpu) or 2 (/sys/fs/cgroup).
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from gregor.worker.base.errors import why

_ROOT: Final = Path("/sys/fs/cgroup")
_PERIOD: Final = 100_000  # microseconds, the kernel's default


class Unsupported(RuntimeError):
    """This machine gives no control group with a quota; the message says why."""


@contextmanager
def share(name: str, cores: float) -> Iterator[Path]:
    """A group of its own; a process enters it by writing its id to ``cgroup.procs``. Removed once it is empty.

    Raises `Unsupported`.
    """
    first = (_ROOT / "cpu" / "cpu.cfs_quota_us").exists() or (_ROOT / "cpu" / "cgroup.procs").exists()
    group = (_ROOT / "cpu" if first else _ROOT) / f"gregor-{os.getpid()}-{name}"
    try:
        group.mkdir()
    except OSError as error:
        raise Unsupported(f"no control group can be made at {group}: {why(error)}") from None
    try:
        _limit(group, first, round(cores * _PERIOD))
        yield group
    finally:
        _remove(group)


def enter(group: Path) -> None:
    """Move this process into the group: for a child between fork and exec."""
    (group / "cgroup.procs").write_text(str(os.getpid()))


def _limit(group: Path, first: bool, quota: int) -> None:
    try:
        if first:
            (group / "cpu.cfs_period_us").write_text(str(_PERIOD))
            (group / "cpu.cfs_quota_us").write_text(str(quota))
        else:
            (group / "cpu.max").write_text(f"{quota} {_PERIOD}")
    except OSError as error:
        raise Unsupported(f"the cpu controller is not to be had in {group}: {why(error)}") from None


def _remove(group: Path) -> None:
    """A process that has just ended may still be counted for a moment."""
    deadline = time.monotonic() + 10.0
    while True:
        try:
            return group.rmdir()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
