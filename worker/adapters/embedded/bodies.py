"""Bodies by their sha256, compressed: small ones in the database, large ones as files."""

import asyncio
import hashlib
import os
import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final

from gregor.worker.adapters.compression import Compressor, copy_whole, decoded, decompressed, intact
from gregor.worker.adapters.embedded.database import full
from gregor.worker.adapters.embedded.queries import has_table
from gregor.worker.base.replaced import flush_names, replaced

# SQLite copies a value as a whole several times: beyond this a file is cheaper, and memory stays bounded.
SMALL: Final = 1 << 20


class Bodies:
    """Each body once. A body is durable before `put` returns, so a page never names one that is missing."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._compressor = Compressor()

    async def put_large(self, sha256: str, body: BinaryIO) -> bytes | None:
        """Store a large body; a small one is returned instead, compressed, for `put_small`.

        It is compressed before the transaction of its page begins, for which other processes may wait.
        """
        body.seek(0)
        data = body.read(SMALL + 1)
        if len(data) <= SMALL:
            return self._compressor.compress(data)
        await asyncio.to_thread(_write, body_path(self._folder, sha256), body)
        return None

    def put_small(self, connection: sqlite3.Connection, sha256: str, data: bytes) -> None:
        """Part of a transaction: what `put_large` gave."""
        digest = bytes.fromhex(sha256)
        if not connection.execute("SELECT 1 FROM bodies WHERE sha256 = ?", (digest,)).fetchone():
            connection.execute("INSERT INTO bodies VALUES (?, ?)", (digest, data))
        elif are_loose_kept(connection):  # its page names it from now on: see `dropping.collect`
            connection.execute("DELETE FROM loose_bodies WHERE sha256 = ?", (sha256,))


def open_body(connection: sqlite3.Connection, folder: Path, sha256: str) -> BinaryIO | None:
    """A stored body, decompressed, from its beginning; a large one in an unnamed file. Raises `Damaged`."""
    record = connection.execute("SELECT data FROM bodies WHERE sha256 = ?", (bytes.fromhex(sha256),)).fetchone()
    if record:
        return intact(sha256, decoded("body", sha256, lambda: decompressed(record[0], SMALL)))
    try:
        source = body_path(folder, sha256).open("rb")
    except FileNotFoundError:
        return None
    with source:
        return copy_whole(sha256, source)


def small_bodies(connection: sqlite3.Connection, names: Sequence[str]) -> dict[str, bytes]:
    """Those of these bodies that the database has whole, decompressed, by name."""
    digests = [bytes.fromhex(name) for name in names]
    places = ",".join("?" * len(digests))
    records = connection.execute(f"SELECT sha256, data FROM bodies WHERE sha256 IN ({places})", digests)
    bodies: dict[str, bytes] = {}
    for digest, data in records:
        with suppress(ValueError):  # whoever asks for it alone is told
            content = decompressed(data, SMALL)
            if hashlib.sha256(content).digest() == digest:
                bodies[digest.hex()] = content
    return bodies


def are_loose_kept(connection: sqlite3.Connection) -> bool:
    """Whether anything was ever dropped there, so that there is a table of bodies that may be nobody's."""
    return has_table(connection, "loose_bodies")


def body_path(folder: Path, sha256: str) -> Path:
    """Where a large body is. Raises ValueError for what is no sha256 in hexadecimal digits."""
    digest = bytes.fromhex(sha256)
    if len(digest) != 32:
        raise ValueError(f"not a sha256: {sha256!r}")
    name = digest.hex()
    return folder / "bodies" / name[:2] / f"{name}.zst"


def _write(path: Path, body: BinaryIO) -> None:
    """Write a file, unless it is there, and make the names of its folders durable. Raises `DiskFull`."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.utime(path)  # it is there, and not loose any more: see `dropping.collect`
        except FileNotFoundError:
            body.seek(0)
            with replaced(path) as file:
                Compressor().copy(body, file)
        flush_names(path.parent, path.parent.parent, path.parent.parent.parent)
    except OSError as error:
        raise full(error) from error
