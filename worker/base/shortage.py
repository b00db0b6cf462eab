"""What this machine lacks: descriptors, memory, ports, disk. That is never a fault of whom it was talking to.

So the work that met it waits, fewer run at once for a while, and a person is told once.
"""

import errno
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from gregor.worker.base.errors import why

SHORTAGES: Final = frozenset(
    {
        errno.EMFILE,  # descriptors of this process
        errno.ENFILE,  # descriptors of the system
        errno.ENOMEM,
        errno.ENOBUFS,
        errno.ENOSPC,
        errno.EDQUOT,
    }
)
"""Numbers of errors that are always the machine's own."""

_NO_THREAD = "can't start new thread"
SHORTEST, LONGEST = 1.0, 600.0
"""Seconds for which what met a shortage waits: at the first one, doubled with the next ones, and at most."""
RECOVERY: Final = 8
"""So many pieces of work have to go well, for each that runs at once, until one more may."""


class LocalShortage(Exception):
    """Something of this machine's is used up; the text says what, in one line."""


def shortage(fault: BaseException | None) -> str | None:
    """What is used up, if that is behind an error, or behind what it was raised from."""
    looked_at: set[int] = set()
    while fault is not None and id(fault) not in looked_at:
        looked_at.add(id(fault))
        if isinstance(fault, LocalShortage):
            return str(fault)
        if isinstance(fault, OSError) and fault.errno in SHORTAGES:
            return in_words(fault.errno)
        if isinstance(fault, MemoryError):
            return in_words(errno.ENOMEM)
        if isinstance(fault, RuntimeError) and _NO_THREAD in str(fault):
            return _NO_THREAD
        fault = fault.__cause__ or fault.__context__
    return None


@contextmanager
def own_shortages(but: type[Exception] | tuple[type[Exception], ...] = ()) -> Iterator[None]:
    """Raises `LocalShortage` in the place of an error behind which is one. Not where memory ran out: that may be the
    fault of what was worked on, which would be tried for good. ``but``: errors that say by themselves what to do."""
    try:
        yield
    except but:
        raise
    except Exception as fault:
        lacking = shortage(fault)
        if lacking is None or lacking == in_words(errno.ENOMEM):
            raise
        raise LocalShortage(lacking) from fault


def in_words(number: int) -> str:
    """The system's words for an error number."""
    return why(OSError(number, ""))


def connect_shortage(number: int, address: str, port: int) -> str | None:
    """What is used up, if that is why a connection to an endpoint failed with the error `number`.

    EADDRNOTAVAIL says that all local ports towards the endpoint are in use; or that the machine has no address to begin
    from, IPv6 being switched off, say: no shortage, and nothing that passes. A datagram socket tells them apart.
    """
    if number in SHORTAGES:
        return in_words(number)
    if number != errno.EADDRNOTAVAIL:
        return None
    try:
        with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect((address, port))
    except OSError as fault:
        return shortage(fault)
    return "no local port is left for another connection"


def pause(times: int) -> float:
    """Seconds for which a piece of work waits that met a shortage so many times before, one after another."""
    return min(LONGEST, SHORTEST * 2.0 ** min(times, 60))


class Thrift:
    """How many pieces of work may run at once while the machine lacks something. Pure; times in seconds.

    Halved with every shortage (once for those that came together), one more after enough that went well.
    """

    def __init__(self) -> None:
        self._most: int | None = None
        self._well = 0
        self._until = 0.0

    def lacks(self, running: int, now: float) -> None:
        """A shortage was met while so many ran."""
        self._well = 0
        if now >= self._until:
            self._most = max(1, min(running, self._most or running) // 2)
            self._until = now + SHORTEST

    def went_well(self) -> None:
        """Something ended without a shortage."""
        if self._most is None:
            return
        self._well += 1
        if self._well >= RECOVERY * self._most:
            self._most, self._well = self._most + 1, 0

    def most(self, configured: int) -> int:
        """How many may run at once, of so many that are configured."""
        return configured if self._most is None else min(configured, self._most)
