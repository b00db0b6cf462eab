"""Steps of ranks in a book, as far as a crawl orders its visits by them: of the highest pages and hosts."""

import sqlite3
from collections.abc import Iterable
from contextlib import closing, suppress
from pathlib import Path
from typing import Final
from urllib.parse import quote

MOST: Final = 50_000
"""Pages, and hosts, whose steps a crawl holds in memory, the highest."""
_SCHEMA: Final = "CREATE TABLE IF NOT EXISTS host_ranks (host TEXT PRIMARY KEY, step INT NOT NULL) WITHOUT ROWID"
_BUSY_SECONDS: Final = 60.0

Steps = list[tuple[str, int]]
"""Keys of pages, or hosts, and their steps."""


def put(file: Path, hosts: Iterable[tuple[str, int]]) -> None:
    """Replace the steps of all hosts; those of 0 are not kept."""
    with closing(sqlite3.connect(file, timeout=_BUSY_SECONDS, isolation_level=None)) as book:
        book.execute(_SCHEMA)
        book.execute("BEGIN IMMEDIATE")
        book.execute("DELETE FROM host_ranks")
        book.executemany("INSERT INTO host_ranks VALUES (?, ?)", ((host, step) for host, step in hosts if step))
        book.execute("COMMIT")


def keep(before: Path, file: Path) -> None:
    """Take over the steps of the hosts of another book."""
    put(file, steps(before, 1)[1])


def steps(file: Path, least: int) -> tuple[Steps, Steps]:
    """Of pages and of hosts, those of this step or a higher one; none of a book that cannot be read, or has none."""
    pages: Steps = []
    hosts: Steps = []
    with suppress(sqlite3.Error), closing(sqlite3.connect(f"file:{quote(str(file))}?mode=ro", uri=True)) as book:
        of_hosts = "SELECT host, step FROM host_ranks WHERE step >= ? ORDER BY step DESC, host LIMIT ?"
        of_pages = """SELECT key, bucket FROM ranks JOIN pages USING (content) WHERE bucket >= ?
            ORDER BY bucket DESC, key LIMIT ?"""
        hosts = book.execute(of_hosts, (least, MOST)).fetchall()
        pages = book.execute(of_pages, (least, MOST)).fetchall()
    return pages, hosts
