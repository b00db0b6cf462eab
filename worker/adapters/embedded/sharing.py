"""How several processes write to one SQLite file at once without waiting for each other's flushes.

A commit holds the file's write lock. So it does not flush: each process flushes the write-ahead log itself after its
commit, and acknowledges then. What is durable stays in order, for all of it lies in one file: whoever has seen a commit
flushes it with its own. One process copies the log into the database, for all: it is done, and the log begins anew,
while nobody writes.
"""

import contextlib
import os
import sqlite3
from pathlib import Path
from typing import Final

_LONG_LOG: Final = 4096
"""Pages of the write-ahead log, 32 MB, beyond which writers wait until it is copied whole."""
_PATIENCE_SECONDS: Final = 0.2
"""Writers wait so long, once a second at most, where somebody reads on and on."""
_flush = getattr(os, "fdatasync", os.fsync)


def share(connection: sqlite3.Connection) -> None:
    """Commits of this connection neither flush nor copy the write-ahead log; see `Flush` and `copy_log`."""
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute("PRAGMA wal_autocheckpoint=0")


class Flush:
    """Makes what was committed durable. It may run on any thread, on one at a time."""

    def __init__(self, file: Path) -> None:
        """``file``: the database. Its log is there as long as any connection is open."""
        self._log = file.with_name(file.name + "-wal")
        self._descriptor = -1

    def __call__(self) -> None:
        """Raises `OSError`."""
        if self._descriptor < 0:
            self._descriptor = os.open(self._log, os.O_RDONLY | os.O_CLOEXEC)
        _flush(self._descriptor)

    def close(self) -> None:
        """It is not called any more. SQLite locks other files than the log: closing it lets no lock go."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def copy_log(connection: sqlite3.Connection) -> None:
    """Copy the write-ahead log into the database beside those that write; if it has grown long, while nobody does.

    ``connection`` has no transaction open. What cannot be copied now is by the next call.
    """
    with contextlib.suppress(sqlite3.OperationalError):  # busy, or no room: the log keeps all of it
        _, pages, _ = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        if pages > _LONG_LOG:
            connection.execute(f"PRAGMA busy_timeout={int(1000 * _PATIENCE_SECONDS)}")
            connection.execute("PRAGMA wal_checkpoint(RESTART)").fetchone()
