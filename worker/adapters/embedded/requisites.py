"""Which stored documents are requisites: marked in the transaction that stores them, so that pages are counted exactly.

What a partition's record counts is kept now and then only, and by who crawls: a killed crawl leaves it behind, and who
erases does not know it.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Final

import msgspec

from gregor.schemas.messages import Page, PartitionRecord, Row, decode
from gregor.worker.adapters.embedded.queries import has_table, read_page
from gregor.worker.adapters.embedded.schema import REQUISITES
from gregor.worker.adapters.records import decode_row
from gregor.worker.borders.errors import Damaged

# Only what was really written changes the mark: the newest version, by this very stamp.
_MARK: Final = """INSERT INTO requisites SELECT key, status = 200 FROM pages
    WHERE key = ?1 AND visit = ?2 AND stamp = ?3
        AND NOT EXISTS (SELECT 1 FROM pages WHERE key = ?1 AND visit > ?2)
    ON CONFLICT (key) DO UPDATE SET ok = excluded.ok"""
_UNMARK: Final = """DELETE FROM requisites WHERE key = ?1
    AND EXISTS (SELECT 1 FROM pages WHERE key = ?1 AND visit = ?2 AND stamp = ?3)
    AND NOT EXISTS (SELECT 1 FROM pages WHERE key = ?1 AND visit > ?2)"""
_BECAME_PAGE: Final = """DELETE FROM requisites WHERE key = ?1
    AND EXISTS (SELECT 1 FROM rows WHERE key = ?1 AND stamp = ?2)"""
_TOTALS: Final = "SELECT pages - requisites, pages_200 - requisites_200, bytes, requisites FROM totals, shown"
_SUMS: Final = "SELECT count(*), coalesce(sum(ok), 0) FROM requisites"
_ALL_PAGES: Final = "SELECT pages, pages_200, bytes, 0 FROM totals"
_DOCUMENTS: Final = """SELECT newest.key, newest.visit, newest.status, rows.data FROM (
        SELECT key, status, max(visit) AS visit FROM pages GROUP BY key) AS newest
    LEFT JOIN rows ON rows.key = newest.key ORDER BY newest.key"""


def mark(connection: sqlite3.Connection, page: Page, stamp: int) -> None:
    """Note of a version that was just put with a stamp whether it is a requisite."""
    connection.execute(_MARK if page.requisite else _UNMARK, (page.key, page.visit, stamp))


def unmark(connection: sqlite3.Connection, rows: Sequence[Row], stamp: int) -> None:
    """Rows that were just put with a stamp: their documents are no requisites where they say so."""
    pages = [(row.key, stamp) for row in rows if row.page and not row.requisite]
    if pages:
        connection.executemany(_BECAME_PAGE, pages)


def are_kept(connection: sqlite3.Connection) -> bool:
    """Whether the folder marks them: one of a version that knew none does not, until it is opened to be written."""
    return has_table(connection, "requisites")


def page_totals(connection: sqlite3.Connection) -> tuple[int, int, int, int]:
    """Pages, those of status 200, bytes of all documents, and requisites; of one moment, and at once."""
    totals: tuple[int, int, int, int] = connection.execute(_TOTALS if are_kept(connection) else _ALL_PAGES).fetchone()
    return totals


def begin(connection: sqlite3.Connection) -> None:
    """Have a folder mark them that did not. Part of a transaction."""
    for statement in REQUISITES:
        connection.execute(statement)
    if _any_told(connection):
        count_anew(connection)


def are_right(connection: sqlite3.Connection) -> bool:
    """Whether marks and totals are what rows and pages say."""
    if not are_kept(connection):
        return next(_stored(connection), None) is None
    kept = connection.execute("SELECT key, ok FROM requisites ORDER BY key")
    if any(marked != stored for marked, stored in zip_longest(kept, _stored(connection))):
        return False
    kept_sums = connection.execute("SELECT requisites, requisites_200 FROM shown").fetchone()
    return bool(kept_sums == connection.execute(_SUMS).fetchone())


def count_anew(connection: sqlite3.Connection) -> None:
    """Mark and count them by rows and pages. Part of a transaction."""
    connection.execute("DELETE FROM requisites")
    connection.executemany("INSERT INTO requisites VALUES (?, ?)", _stored(connection))
    connection.execute(f"UPDATE shown SET (requisites, requisites_200) = ({_SUMS})")


def _stored(connection: sqlite3.Connection) -> Iterator[tuple[str, int]]:
    """The keys of all, in order, and whether their status is 200."""
    for key, visit, status, data in connection.execute(_DOCUMENTS):
        if _is_requisite(connection, key, visit, data):
            yield key, int(status == 200)


def _is_requisite(connection: sqlite3.Connection, key: str, visit: int, data: bytes | None) -> bool:
    """The row knows; of a version that it does not tell of yet, or where it is damaged, the version itself."""
    try:
        row = decode_row(key, data) if data is not None else None
    except Damaged:
        row = None
    if row is not None and row.page >= visit:
        return row.requisite
    try:
        page = read_page(connection, key, visit)
    except Damaged:
        return False
    return page is not None and page.requisite


def _any_told(connection: sqlite3.Connection) -> bool:
    """Whether a partition's record tells of requisites: else going through all pages finds none."""
    for (data,) in connection.execute("SELECT data FROM partitions"):
        try:
            if decode(data, PartitionRecord).counts.get("requisites"):
                return True
        except msgspec.MsgspecError:
            continue
    return False
