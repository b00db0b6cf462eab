"""What is kept of a stale URL goes, beside a running crawl; then the bodies that no page names any more."""

import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

from gregor.schemas.messages import Page
from gregor.worker.adapters.embedded import sketches
from gregor.worker.adapters.embedded.bodies import are_loose_kept, body_path
from gregor.worker.adapters.embedded.database import translated
from gregor.worker.adapters.embedded.folder import connect_writable
from gregor.worker.adapters.embedded.queries import decode_page
from gregor.worker.base.crawl_folder import DATABASE
from gregor.worker.base.transaction import transaction
from gregor.worker.borders.errors import Damaged

_LOOSE: Final = "CREATE TABLE IF NOT EXISTS loose_bodies (sha256 TEXT PRIMARY KEY, since REAL NOT NULL) WITHOUT ROWID"
_PAGES: Final = "SELECT rowid, key, data FROM pages WHERE rowid > ? ORDER BY rowid LIMIT ?"
_SLICE: Final = 100
"""So much is deleted in one transaction: a crawl that runs waits for it."""
# What the pages of a URL count in the totals: its newest version.
_UNCOUNT: Final = """UPDATE totals SET (pages, pages_200, bytes) = (
    SELECT pages - count(*), pages_200 - coalesce(sum(status = 200), 0), bytes - coalesce(sum(size), 0)
    FROM (SELECT status, size FROM pages WHERE key = ? ORDER BY visit DESC LIMIT 1))"""


def drop_url(connection: sqlite3.Connection, key: str, stamp: int) -> None:
    """Part of a transaction: a URL goes, unless its row is newer than the stamp. Its bodies may be nobody's now."""
    for row_stamp, state in connection.execute("SELECT stamp, state FROM rows WHERE key = ?", (key,)).fetchall():
        if row_stamp > stamp:
            return
        connection.execute("UPDATE states SET urls = urls - 1 WHERE state = ?", (state,))
    connection.execute(_LOOSE)
    for (data,) in connection.execute("SELECT data FROM pages WHERE key = ?", (key,)).fetchall():
        page = readable(key, data)
        if page is not None:
            loose = [(name, time.time()) for name in named(page)]
            connection.executemany("INSERT OR REPLACE INTO loose_bodies VALUES (?, ?)", loose)
    delete_pages(connection, key)
    connection.execute("DELETE FROM rows WHERE key = ?", (key,))


def delete_pages(connection: sqlite3.Connection, key: str) -> None:
    """Part of a transaction: all versions of a page go, with what finds them and what they count."""
    sketches.forget(connection, key)
    connection.execute(_UNCOUNT, (key,))
    connection.execute("DELETE FROM pages WHERE key = ?", (key,))


def loose_of(connection: sqlite3.Connection, names: Sequence[str]) -> set[str]:
    """See `Stock.loose`."""
    if not are_loose_kept(connection):
        return set()
    statement = "SELECT sha256 FROM loose_bodies WHERE sha256 = ?"
    return {name for name in names if connection.execute(statement, (name,)).fetchone()}


def collect(path: Path, least: float) -> int:
    """Delete the bodies that have been loose for ``least`` seconds and that no page names; how many. A body that was
    stored again since it came loose stays until then. Raises `Unavailable`, `DiskFull`, `Damaged`."""
    try:
        with closing(connect_writable(path)) as connection:
            return _Collector(connection, path, time.time() - least).run()
    except (sqlite3.Error, OSError) as error:
        raise translated(error, path / DATABASE) from error


class _Collector:
    def __init__(self, connection: sqlite3.Connection, folder: Path, before: float) -> None:
        self._connection = connection
        self._folder = folder
        self._before = before
        self._looked = 0  # the newest page that was looked at

    def run(self) -> int:
        if not are_loose_kept(self._connection) or not self._some():
            return 0
        self._keep_named()
        deleted = 0
        while some := self._some():
            with transaction(self._connection):
                self._keep_named()  # by pages that came meanwhile
                deleted += sum(map(self._delete, some))
        return deleted

    def _some(self) -> list[tuple[str, float]]:
        statement = "SELECT sha256, since FROM loose_bodies WHERE since <= ? LIMIT ?"
        return self._connection.execute(statement, (self._before, _SLICE)).fetchall()

    def _keep_named(self) -> None:
        """What a page names is not loose, unless it came loose after this began: the page may be gone by then."""
        while records := self._connection.execute(_PAGES, (self._looked, _SLICE)).fetchall():
            pages = [readable(key, data) for _, key, data in records]
            names = [(name, self._before) for page in pages if page is not None for name in named(page)]
            self._connection.executemany("DELETE FROM loose_bodies WHERE sha256 = ? AND since <= ?", names)
            self._looked = records[-1][0]

    def _delete(self, loose: tuple[str, float]) -> int:
        name, since = loose
        still = self._connection.execute("DELETE FROM loose_bodies WHERE sha256 = ?", (name,)).rowcount
        if not still:
            return 0  # a page that came meanwhile names it
        file = body_path(self._folder, name)
        moved = file.with_suffix(".loose")
        try:
            file.replace(moved)  # whoever stores it again from now on writes it anew
        except FileNotFoundError:
            statement = "DELETE FROM bodies WHERE sha256 = ?"
            return self._connection.execute(statement, (bytes.fromhex(name),)).rowcount
        if moved.stat().st_mtime > since:  # for a page that is about to be stored, or that never was
            moved.replace(file)
            self._connection.execute("INSERT INTO loose_bodies VALUES (?, ?)", (name, time.time()))
            return 0
        moved.unlink()
        return 1


def readable(key: str, data: bytes) -> Page | None:
    """A stored page; None when it is damaged: then nothing is known of what it names."""
    try:
        return decode_page(key, data)
    except Damaged:
        return None


def named(page: Page) -> Iterator[str]:
    """The bodies that a page names."""
    yield from (name for name in (page.body, page.wire) if name)
