"""Near-duplicates in SQLite: candidates are found by the keys of their sketches, and compared by the rest of these."""

import sqlite3
from collections.abc import Iterator
from typing import Final

from gregor.schemas.messages import Page, url_fingerprint
from gregor.worker.adapters.embedded.queries import has_table
from gregor.worker.adapters.embedded.schema import SKETCHES
from gregor.worker.adapters.embedded.seen import signed
from gregor.worker.borders.reader import Similar
from gregor.worker.read.sketches import KEYS, alike, keys_of

# Pages of one template may share a key by thousands; they must not make every look-up slow.
_CANDIDATES: Final = 32
_NEAR: Final = "SELECT key, sketch FROM sketches WHERE id IN ({})".format(
    " UNION ".join(
        f"SELECT id FROM (SELECT id FROM sketch_keys WHERE found_by = ?{place} LIMIT {_CANDIDATES})"
        for place in range(1, KEYS + 1)
    )
)
_EARLIER: Final = ("simhashes", "bands")
"""What versions before sketches looked near-duplicates up in."""


def are_kept(connection: sqlite3.Connection) -> bool:
    """Whether the folder has them: one of a version that knew none has not, until it is opened to be written."""
    return has_table(connection, "sketches")


def begin(connection: sqlite3.Connection) -> None:
    """Have a folder keep them that did not. Part of a transaction."""
    for statement in SKETCHES:
        connection.execute(statement)
    for table in _EARLIER:
        connection.execute(f"DROP TABLE IF EXISTS {table}")


def put(connection: sqlite3.Connection, page: Page) -> bool:
    """Find a page by its sketch from now on, and no longer by that of an earlier version; whether that is new.

    What is an exact duplicate is found by its content, and by no sketch.
    """
    sketch, name = b"" if page.duplicate_of else page.sketch, signed(url_fingerprint(page.key))
    before = connection.execute("SELECT sketch FROM sketches WHERE id = ?", (name,)).fetchone()
    if (before[0] if before else b"") == sketch:
        return False
    if before:
        _delete(connection, name, before[0])
    if sketch:
        connection.execute("INSERT INTO sketches VALUES (?, ?, ?)", (name, page.key, sketch))
        connection.executemany(
            "INSERT OR IGNORE INTO sketch_keys VALUES (?, ?)", [(key, name) for key in keys_of(sketch)]
        )
    return True


def forget(connection: sqlite3.Connection, key: str) -> None:
    """A page is deleted."""
    name = signed(url_fingerprint(key))
    for (sketch,) in connection.execute("SELECT sketch FROM sketches WHERE id = ?", (name,)).fetchall():
        _delete(connection, name, sketch)


def drop_nameless(connection: sqlite3.Connection) -> None:
    """Delete keys that lead to no sketch."""
    connection.execute("DELETE FROM sketch_keys WHERE id NOT IN (SELECT id FROM sketches)")


def near(connection: sqlite3.Connection, sketch: bytes, least: float) -> str | None:
    """See `PageStore.near`."""
    likest = similar(connection, sketch, least, 1)
    return likest[0].key if likest else None


def similar(connection: sqlite3.Connection, sketch: bytes, least: float, limit: int) -> list[Similar]:
    """See `Reader.similar`."""
    if not sketch:
        return []
    candidates: Iterator[tuple[str, bytes]] = connection.execute(_NEAR, keys_of(sketch))
    return [Similar(key, share) for key, share in alike(sketch, candidates, least)[:limit]]


def _delete(connection: sqlite3.Connection, name: int, sketch: bytes) -> None:
    connection.execute("DELETE FROM sketches WHERE id = ?", (name,))
    connection.executemany(
        "DELETE FROM sketch_keys WHERE found_by = ? AND id = ?", [(k, name) for k in keys_of(sketch)]
    )
