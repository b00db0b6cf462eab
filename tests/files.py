"""Files that may not grow: what a full disk does, without one."""

import contextlib
import resource
import signal
from collections.abc import Iterator


@contextlib.contextmanager
def files_limited_to(size: int) -> Iterator[None]:
    """No file may grow beyond a size in bytes: the nearest to a full disk that needs no rights."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
