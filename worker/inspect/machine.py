"""What the machine has: space on the disk, memory."""

import ctypes
import os
import resource
import shutil
from pathlib import Path

_TIME_ERROR = 5  # the clock is not synchronised
_STATM = Path("/proc/self/statm")
_CGROUP = Path("/sys/fs/cgroup/memory.max")


def disk(path: Path) -> tuple[int, int]:
    """Free and all bytes where a folder is or will be."""
    while not path.exists():
        path = path.absolute().parent
    usage = shutil.disk_usage(path)
    return usage.free, usage.total


def memory() -> int:
    """Bytes that this process may use: of its control group, or of the machine."""
    installed = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        limit = _CGROUP.read_text().strip()
    except OSError:
        return installed
    return min(installed, int(limit)) if limit.isdecimal() else installed


def memory_used() -> int:
    """Bytes of memory that this process holds now (proc(5): statm); the most it held, where that is not told."""
    try:
        resident = int(_STATM.read_text().split()[1])
    except (OSError, IndexError, ValueError):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return resident * os.sysconf("SC_PAGE_SIZE")


def look(path: Path) -> dict[str, float]:
    """All of it, by the names under which the metrics read it."""
    free, size = disk(path)
    return {"disk_free": float(free), "disk_size": float(size), "memory": float(memory())}


def open_files() -> int:
    """How many files and sockets this process may have open."""
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def clock_is_kept() -> bool | None:
    """Whether a time service keeps the wall clock right; None where the system does not say (adjtimex(2))."""
    state = ctypes.create_string_buffer(512)  # struct timex with no modes set: a question only
    try:
        answer: int = ctypes.CDLL(None, use_errno=True).adjtimex(state)
    except (OSError, AttributeError):
        return None
    return None if answer < 0 else answer != _TIME_ERROR
