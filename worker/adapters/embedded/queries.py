"""What the store and the reader both ask of the tables."""

import sqlite3
from collections.abc import Sequence
from typing import Final, TypeVar

import msgspec
import zstandard

from gregor.schemas.messages import Page, Row, decode

T = TypeVar("T", bound=msgspec.Struct)

HOST: Final = "SELECT data FROM hosts WHERE host = ?"
ROBOTS: Final = "SELECT data FROM robots WHERE origin = ?"


def read_one(connection: sqlite3.Connection, statement: str, name: object, kind: type[T]) -> T | None:
    """The record that a statement finds by its name."""
    found = connection.execute(statement, (name,)).fetchone()
    return decode(found[0], kind) if found else None


def read_rows(connection: sqlite3.Connection, keys: Sequence[str]) -> dict[str, Row]:
    """The rows that exist, by key, in one statement."""
    if len(keys) == 1:  # what every visit asks
        found = connection.execute("SELECT key, data FROM rows WHERE key = ?", keys)
        return {key: decode(data, Row) for key, data in found}
    found = connection.execute(
        "SELECT key, data FROM rows WHERE key IN (SELECT value FROM json_each(?))",
        (msgspec.json.encode(keys).decode(),),
    )
    return {key: decode(data, Row) for key, data in found}


def read_page(connection: sqlite3.Connection, key: str, visit: int | None) -> Page | None:
    """A version of a page; the newest for None."""
    found = connection.execute(
        "SELECT data FROM pages WHERE key = ?1 AND (?2 IS NULL OR visit = ?2) ORDER BY visit DESC LIMIT 1",
        (key, visit),
    ).fetchone()
    return decode_page(found[0]) if found else None


def decode_page(data: bytes) -> Page:
    """A page as it is stored."""
    return decode(zstandard.ZstdDecompressor().decompress(data), Page)
