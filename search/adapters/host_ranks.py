"""Steps of ranks in a book, as far as a crawl orders its visits by them: of the highest pages and hosts."""

import sqlite3
import time
from collections.abc import Iterable
from contextlib import closing, suppress
from pathlib import Path
from typing import Final
from urllib.parse import quote

Steps = list[tuple[str, int]]
"""Keys of pages, or hosts, and their steps."""
_ALL: Final = 1 << 40

_SCHEMA: Final = "CREATE TABLE IF NOT EXISTS host_ranks (host TEXT PRIMARY KEY, step INT NOT NULL) WITHOUT ROWID"
_BUSY_SECONDS: Final = 60.0


def put(file: Path, hosts: Iterable[tuple[str, int]]) -> None:
    """Replace the steps of all hosts; those of 0 are not kept."""
    with closing(sqlite3.connect(file, timeout=_BUSY_SECONDS, isolation_level=None)) as book:
        book.execute(_SCHEMA)
        book.execute("BEGIN IMMEDIATE")
        book.execute("DELETE FROM host_ranks")
        book.executemany("INSERT INTO host_ranks VALUES (?, ?)", ((host, step) for host, step in hosts if step))
        book.execute(
            "INSERT INTO facts VALUES ('ranked', ?1) ON CONFLICT DO UPDATE SET value = max(value + 1, ?1)",
            (time.time_ns() // 1_000_000,),
        )
        book.execute("COMMIT")


def made(file: Path) -> int:
    """What tells the steps in a book from those before and after; 0: there are none."""
    with suppress(sqlite3.Error), closing(_reading(file)) as book:
        if (fact := book.execute("SELECT value FROM facts WHERE name = 'ranked'").fetchone()) is not None:
            return int(fact[0])
    return 0


def keep(before: Path, file: Path) -> None:
    """Take over the steps of the hosts of another book."""
    put(file, steps(before, 1, _ALL)[1])


def steps(file: Path, least: int, most: int) -> tuple[Steps, Steps]:
    """Of pages and of hosts, those of this step or a higher one, the highest ``most``; none of a book that cannot be
    read, or has none."""
    pages: Steps = []
    hosts: Steps = []
    with suppress(sqlite3.Error), closing(_reading(file)) as book:
        of_hosts = "SELECT host, step FROM host_ranks WHERE step >= ? ORDER BY step DESC, host LIMIT ?"
        of_pages = """SELECT key, bucket FROM ranks JOIN pages USING (content) WHERE bucket >= ?
            ORDER BY bucket DESC, key LIMIT ?"""
        hosts = book.execute(of_hosts, (least, most)).fetchall()
        pages = book.execute(of_pages, (least, most)).fetchall()
    return pages, hosts


def _reading(file: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{quote(str(file))}?mode=ro", uri=True)
