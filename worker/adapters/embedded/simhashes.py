"""Near-duplicates by simhash in SQLite.

Two simhashes of 64 bits that differ in at most 3 have one of four bands of 16 bits in common (Manku, Jain, Das Sarma:
Detecting Near-Duplicates for Web Crawling, WWW 2007): candidates are found by band, and checked.
"""

import sqlite3
from collections.abc import Iterator
from typing import Final

from gregor.worker.adapters.embedded.seen import signed, unsigned
from gregor.worker.borders.reader import Similar

# At a million pages a band holds some 15 simhashes; a flood of similar ones must not make every look-up slow.
_CANDIDATES: Final = 1000
_NEAR: Final = " UNION ALL ".join(
    f"SELECT * FROM (SELECT simhash FROM bands WHERE band = ?{place} LIMIT ?5)" for place in range(1, 5)
)


def put(connection: sqlite3.Connection, simhash: int, key: str) -> None:
    """Remember the simhash of a page; 0 is that of a page without text. The first page that had it keeps it."""
    if simhash and connection.execute("INSERT OR IGNORE INTO simhashes VALUES (?, ?)", (signed(simhash), key)).rowcount:
        connection.executemany("INSERT INTO bands VALUES (?, ?)", [(band, signed(simhash)) for band in _bands(simhash)])


def forget(connection: sqlite3.Connection, simhash: int, key: str) -> None:
    """A page is deleted: forget its simhash, if it was kept for this page."""
    named = "DELETE FROM simhashes WHERE simhash = ? AND key = ?"
    if simhash and connection.execute(named, (signed(simhash), key)).rowcount:
        connection.execute(
            "DELETE FROM bands WHERE simhash = ? AND band IN (?, ?, ?, ?)", (signed(simhash), *_bands(simhash))
        )


def near(connection: sqlite3.Connection, simhash: int, distance: int) -> str | None:
    """The key of a page whose simhash is within ``distance`` (<= 3) bits; the nearest, None for 0."""
    best = min(_within(connection, simhash, distance), default=None)
    return None if best is None else _key(connection, best[1])


def similar(connection: sqlite3.Connection, simhash: int, distance: int, limit: int) -> list[Similar]:
    """See `Reader.similar`."""
    nearest = sorted(set(_within(connection, simhash, distance)))[:limit]
    return [Similar(_key(connection, found), apart) for apart, found in nearest]


def _within(connection: sqlite3.Connection, simhash: int, distance: int) -> Iterator[tuple[int, int]]:
    """Stored simhashes (as SQLite has them) that are near, each with the number of bits that differ; maybe twice."""
    for (near,) in connection.execute(_NEAR, (*_bands(simhash), _CANDIDATES)) if simhash else ():
        apart = (unsigned(near) ^ simhash).bit_count()
        if apart <= distance:
            yield apart, near


def _key(connection: sqlite3.Connection, found: int) -> str:
    key: str = connection.execute("SELECT key FROM simhashes WHERE simhash = ?", (found,)).fetchone()[0]
    return key


def _bands(simhash: int) -> list[int]:
    """The four bands, each with its place in the bits above."""
    return [place << 16 | simhash >> 16 * place & 0xFFFF for place in range(4)]
