"""Sketches for the pages of a data folder that have none, whether a crawl runs there or not.

Page after page in the order in which they were stored. How far it is stands in the folder, in the transaction that
writes the sketches, so that what is cut short goes on there.
"""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Final

from gregor.worker.adapters.embedded import sketches
from gregor.worker.adapters.embedded.folder import connect_reading, connect_writable
from gregor.worker.adapters.embedded.queries import decode_page
from gregor.worker.adapters.embedded.slices import damage_told
from gregor.worker.base.crawl_folder import DATABASE
from gregor.worker.borders.errors import Damaged
from gregor.worker.operate.sketching import Sketched, with_sketch

_SLICE: Final = 200
"""So many pages are read, and sketched in one transaction: a crawl that runs waits for it."""
_NEWEST: Final = """SELECT rowid, key, data FROM pages WHERE rowid > ?
    AND NOT EXISTS (SELECT 1 FROM pages AS later WHERE later.key = pages.key AND later.visit > pages.visit)
    ORDER BY rowid LIMIT ?"""
_PLACE: Final = "SELECT value FROM meta WHERE name = 'sketched'"
_PUT_PLACE: Final = "INSERT OR REPLACE INTO meta VALUES ('sketched', ?)"
_LAST: Final = "SELECT coalesce(max(rowid), 0) FROM pages"


def resketch(path: Path, tell: Callable[[Sketched], None]) -> Sketched:
    """Make what is missing; ``tell`` hears of each slice, whose shares are places of pages.

    Raises `FolderError` when there is no crawl, `sqlite3.Error` when it cannot be written.
    """
    connect_reading(path)[0].close()
    with damage_told(path / DATABASE), closing(connect_writable(path)) as connection:
        if not sketches.are_kept(connection):
            connection.execute("BEGIN IMMEDIATE")
            sketches.begin(connection)
            connection.execute("COMMIT")
        place = connection.execute(_PLACE).fetchone()
        how_far = Sketched(connection.execute(_LAST).fetchone()[0], int(place[0]) if place else 0)
        while _slice(connection, how_far):
            tell(how_far)
        connection.execute("DELETE FROM meta WHERE name = 'sketched'")
        return how_far


def _slice(connection: sqlite3.Connection, how_far: Sketched) -> bool:
    """Whether there was one."""
    records = connection.execute(_NEWEST, (how_far.before + how_far.done, _SLICE)).fetchall()
    if not records:
        return False
    pages = []
    for _, key, data in records:
        try:
            pages.append(with_sketch(decode_page(key, data)))
        except Damaged:
            continue
    last = records[-1][0]
    connection.execute("BEGIN IMMEDIATE")
    for page in pages:
        # A crawl may have stored a newer version meanwhile, or deleted the page.
        newest = connection.execute("SELECT max(visit) FROM pages WHERE key = ?", (page.key,)).fetchone()
        if newest == (page.visit,):
            sketches.put(connection, page)
    connection.execute(_PUT_PLACE, (str(last),))
    connection.execute("COMMIT")
    how_far.done = last - how_far.before
    how_far.pages += len(records)
    return True
