"""Following what a data folder stores, changes and removes, beside a running crawl or after it.

The changes are a table that triggers fill, in the transaction of the page: no write can forget them, whoever makes it.
It is made when somebody first wants to follow the crawl: one that nobody follows pays nothing.
"""

import contextlib
import sqlite3
from pathlib import Path
from typing import Final

from gregor.schemas.messages import DeadLetter, Page, Row
from gregor.worker.adapters.embedded import requisites
from gregor.worker.adapters.embedded.folder import connect_reading, connect_writable
from gregor.worker.adapters.embedded.queries import read_page, read_rows
from gregor.worker.adapters.embedded.reader import EmbeddedReader
from gregor.worker.adapters.embedded.slices import damage_told
from gregor.worker.adapters.embedded.store import insert_letter
from gregor.worker.base.crawl_folder import DATABASE
from gregor.worker.borders.changes import UrlChange
from gregor.worker.borders.errors import Damaged, TellDamage

_MARK: Final = "DELETE FROM feed WHERE key = {0}.key; INSERT INTO feed (key) VALUES ({0}.key);"
_FEED: Final = (
    # Positions are never used twice, even when the last are deleted.
    "CREATE TABLE IF NOT EXISTS feed (position INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE)",
    f"CREATE TRIGGER IF NOT EXISTS feed_stored AFTER INSERT ON pages BEGIN {_MARK.format('NEW')} END",
    f"CREATE TRIGGER IF NOT EXISTS feed_changed AFTER UPDATE ON pages BEGIN {_MARK.format('NEW')} END",
    f"CREATE TRIGGER IF NOT EXISTS feed_erased AFTER DELETE ON pages BEGIN {_MARK.format('OLD')} END",
    f"""CREATE TRIGGER IF NOT EXISTS feed_settled AFTER UPDATE ON rows WHEN OLD.state <> NEW.state
        AND EXISTS (SELECT 1 FROM pages WHERE key = NEW.key) BEGIN {_MARK.format("NEW")} END""",
    # A link makes a page of a requisite: its row says so, and with it the mark of its document goes.
    "DROP TRIGGER IF EXISTS feed_linked",
    f"""CREATE TRIGGER feed_linked AFTER DELETE ON requisites
        WHEN EXISTS (SELECT 1 FROM pages WHERE key = OLD.key) BEGIN {_MARK.format("OLD")} END""",
)
_LARGE: Final = 32 * 1024 * 1024
"""Characters of pages that are read at once, about."""
_LINK: Final = 200
"""What a link counts for."""
_WHOLE: Final = "feed"
"""The word in `meta` that says that what was stored before is in the feed, and by which triggers it is kept."""
_KEPT_BY: Final = "whole, marks"
_SLICE: Final = 1000
"""URLs that are put in at once: a crawl that runs waits for them."""
_PUT_IN: Final = """INSERT OR IGNORE INTO feed (key)
    SELECT DISTINCT key FROM pages WHERE key > ?1 AND key <= ?2 ORDER BY key"""
_LAST: Final = "SELECT max(key) FROM (SELECT DISTINCT key FROM pages WHERE key > ? ORDER BY key LIMIT ?)"


def followed(path: Path) -> None:
    """See to it that the changes of a folder's crawl are kept from now on, and that what it holds is among them.

    May be repeated, and goes on where it was cut short. Raises `FolderError` when there is no crawl, `sqlite3.Error`.
    """
    connection, facts = connect_reading(path)
    connection.close()
    if facts.get(_WHOLE) == _KEPT_BY:
        return
    with damage_told(path / DATABASE), contextlib.closing(connect_writable(path)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        if not requisites.are_kept(connection):
            requisites.begin(connection)
        for statement in _FEED:
            connection.execute(statement)
        connection.execute("COMMIT")
        after = ""
        while (last := connection.execute(_LAST, (after, _SLICE)).fetchone()[0]) is not None:
            connection.execute(_PUT_IN, (after, last))
            after = last
        connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_WHOLE, _KEPT_BY))


def identity(path: Path) -> str:
    """The random text that a folder's crawl was made with. Raises `FolderError`."""
    connection, facts = connect_reading(path)
    connection.close()
    return facts["crawl_id"]


def put_letter(path: Path, letter: DeadLetter) -> None:
    """Keep a dead letter, beside a running crawl; a repeated one adds nothing."""
    with damage_told(path / DATABASE), contextlib.closing(connect_writable(path)) as connection:
        insert_letter(connection, letter)


class EmbeddedFeed:
    """`ChangeFeed`."""

    def __init__(self, path: Path, on_damage: TellDamage) -> None:
        """``on_damage`` hears of pages and rows that cannot be read. Raises `FolderError`, `sqlite3.Error`."""
        followed(path)
        self._reader = EmbeddedReader(path)
        self._on_damage = on_damage

    async def changes(self, after: int, limit: int) -> list[UrlChange]:
        def read(connection: sqlite3.Connection) -> list[UrlChange]:
            statement = "SELECT position, key FROM feed WHERE position > ? ORDER BY position LIMIT ?"
            records = connection.execute(statement, (after, limit)).fetchall()
            changes: list[UrlChange] = []
            room = _LARGE
            for position, key in records:
                changes.append(self._change(connection, position, key))
                page = changes[-1].page
                room -= 0 if page is None else len(page.text) + _LINK * len(page.links)
                if room < 0:
                    break
            return changes

        return await self._reader.ask(read)

    async def end(self) -> int:
        statement = "SELECT coalesce(max(position), 0) FROM feed"
        position: int = await self._reader.ask(lambda connection: connection.execute(statement).fetchone()[0])
        return position

    async def close(self) -> None:
        await self._reader.close()

    def _change(self, connection: sqlite3.Connection, position: int, key: str) -> UrlChange:
        try:
            page: Page | None = read_page(connection, key, None)
            row: Row | None = read_rows(connection, [key]).get(key)
        except Damaged as damage:
            self._on_damage(damage)
            page = row = None
        return UrlChange(position, key, page, row)
