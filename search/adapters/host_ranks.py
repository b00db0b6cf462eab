"""Steps of ranks in a book, as far as a crawl orders its visits by them: of the highest pages and hosts."""

import sqlite3
import time
from collections.abc import Iterable
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

from gregor.search.adapters.damage import open_reading
from gregor.worker.base.transaction import transaction

Steps = list[tuple[str, int]]
"""Keys of pages, or hosts, and their steps."""

_SCHEMA: Final = "CREATE TABLE IF NOT EXISTS host_ranks (host TEXT PRIMARY KEY, step INT NOT NULL) WITHOUT ROWID"
_OF_HOSTS: Final = "SELECT host, step FROM host_ranks WHERE step >= ? ORDER BY step DESC, host LIMIT ?"
_BUSY_SECONDS: Final = 60.0


def put(file: Path, hosts: Iterable[tuple[str, int]]) -> None:
    """Replace the steps of all hosts; those of 0 are not kept."""
    with closing(sqlite3.connect(file, timeout=_BUSY_SECONDS, isolation_level=None)) as book:
        book.execute(_SCHEMA)
        with transaction(book):
            book.execute("DELETE FROM host_ranks")
            book.executemany("INSERT INTO host_ranks VALUES (?, ?)", ((host, step) for host, step in hosts if step))
            book.execute(
                "INSERT INTO facts VALUES ('ranked', ?1) ON CONFLICT DO UPDATE SET value = max(value + 1, ?1)",
                (time.time_ns() // 1_000_000,),
            )


def made(file: Path) -> int:
    """What tells the steps in a book from those before and after; 0: there are none."""
    with suppress(sqlite3.Error), closing(open_reading(file)) as book:
        if (fact := book.execute("SELECT value FROM facts WHERE name = 'ranked'").fetchone()) is not None:
            return int(fact[0])
    return 0


def keep(before: Path, file: Path) -> None:
    """Take over the steps of the hosts of another book."""
    hosts: Steps = []
    with suppress(sqlite3.Error), closing(open_reading(before)) as book:
        hosts = book.execute(_OF_HOSTS, (1, -1)).fetchall()  # all of them
    put(file, hosts)


def steps(file: Path, least: int, most: int) -> tuple[Steps, Steps]:
    """Of pages and of hosts, those of this step or a higher one, the highest ``most``; none of a book that cannot be
    read, or has none."""
    pages: Steps = []
    hosts: Steps = []
    with suppress(sqlite3.Error), closing(open_reading(file)) as book:
        of_pages = """SELECT key, bucket FROM ranks JOIN pages USING (content) WHERE bucket >= ?
            ORDER BY bucket DESC, key LIMIT ?"""
        hosts = book.execute(_OF_HOSTS, (least, most)).fetchall()
        pages = book.execute(of_pages, (least, most)).fetchall()
    return pages, hosts
