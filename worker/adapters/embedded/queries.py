"""What the store and the reader both ask of the tables. What is found damaged is raised as `Damaged`."""

import sqlite3
from collections.abc import Sequence
from typing import Final, TypeVar

import msgspec

from gregor.schemas.messages import Page, Row, decode
from gregor.worker.adapters.compression import decoded, decompressed
from gregor.worker.adapters.records import decode_row
from gregor.worker.borders.errors import Damaged

T = TypeVar("T", bound=msgspec.Struct)

HOST: Final = "SELECT data FROM hosts WHERE host = ?"
ROBOTS: Final = "SELECT data FROM robots WHERE origin = ?"
_LONGEST_PAGE: Final = 1 << 30
"""Bytes of a record: more is no page of a crawl."""


def has_table(connection: sqlite3.Connection, name: str) -> bool:
    """Whether there is a table of this name: folders of earlier versions lack some, and some are made when needed."""
    return connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (name,)).fetchone() is not None


def read_one(connection: sqlite3.Connection, statement: str, name: object, kind: type[T]) -> T | None:
    """The record that a statement finds by its name."""
    found = connection.execute(statement, (name,)).fetchone()
    return decoded(kind.__name__, str(name), lambda: decode(found[0], kind)) if found else None


def read_rows(connection: sqlite3.Connection, keys: Sequence[str]) -> dict[str, Row]:
    """The rows that exist, by key, in one statement."""
    if len(keys) == 1:  # what every visit asks
        records = connection.execute("SELECT key, data FROM rows WHERE key = ?", keys)
        return {key: decode_row(key, data) for key, data in records}
    return {key: decode_row(key, data) for key, data in row_data(connection, keys)}


def row_data(connection: sqlite3.Connection, keys: Sequence[str]) -> list[tuple[str, bytes]]:
    """The rows that exist, as they are stored."""
    return connection.execute(
        "SELECT key, data FROM rows WHERE key IN (SELECT value FROM json_each(?))",
        (msgspec.json.encode(keys).decode(),),
    ).fetchall()


def read_time(connection: sqlite3.Connection) -> float:
    """The crawl's time as it was kept last, unix seconds; 0 where it never was."""
    kept = connection.execute("SELECT at FROM stamps").fetchone()
    return float(kept[0]) if kept else 0.0


def keep_time(connection: sqlite3.Connection, now: float) -> None:
    """Keep the crawl's time, unix seconds. Part of a transaction."""
    connection.execute("INSERT OR REPLACE INTO stamps VALUES (0, ?)", (now,))


def read_page(connection: sqlite3.Connection, key: str, visit: int | None) -> Page | None:
    """A version of a page; the newest for None."""
    record = connection.execute(
        "SELECT data FROM pages WHERE key = ?1 AND (?2 IS NULL OR visit = ?2) ORDER BY visit DESC LIMIT 1",
        (key, visit),
    ).fetchone()
    return decode_page(key, record[0]) if record else None


def decode_page(key: str, data: bytes) -> Page:
    """A page as it is stored under a key."""
    page = decoded("page", key, lambda: decode(decompressed(data, _LONGEST_PAGE), Page))
    if page.key != key:
        raise Damaged("page", key, "it is of another URL")
    return page
