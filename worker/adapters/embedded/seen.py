"""The seen set in SQLite: 64-bit fingerprints, and who owns a content."""

import sqlite3
from collections.abc import Sequence
from typing import Final

import msgspec

from gregor.worker.adapters.embedded.database import Database

_SIGN: Final = 1 << 63


class EmbeddedSeen:
    """`SeenSet`. Any number of fingerprints is one statement."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def seen(self, fingerprints: Sequence[int]) -> list[bool]:
        if not fingerprints:
            return []
        asked = signed_json(fingerprints)

        def seen_of_them(connection: sqlite3.Connection) -> str:
            array: tuple[str] = connection.execute(
                "SELECT json_group_array(fingerprint) FROM seen WHERE fingerprint IN (SELECT value FROM json_each(?))",
                (asked,),
            ).fetchone()
            return array[0]

        seen = msgspec.json.decode(self._database.read(seen_of_them), type=set[int])
        return [signed(fingerprint) in seen for fingerprint in fingerprints]

    async def mark(self, fingerprints: Sequence[int]) -> None:
        if not fingerprints:
            return
        await self._database.write(lambda connection: put_marks(connection, fingerprints))

    async def forget(self, fingerprints: Sequence[int]) -> None:
        numbers = [(signed(number),) for number in fingerprints]
        if numbers:
            statement = "DELETE FROM seen WHERE fingerprint = ?"
            await self._database.write(lambda connection: connection.executemany(statement, numbers) and None)

    async def disown(self, fingerprint: bytes, key: str) -> None:
        statement, values = "DELETE FROM contents WHERE fingerprint = ? AND key = ?", (fingerprint, key)
        await self._database.write(lambda connection: connection.execute(statement, values) and None)

    async def content(self, fingerprint: bytes) -> str | None:
        return self._database.read(lambda connection: _owner(connection, fingerprint))

    async def claim(self, fingerprint: bytes, key: str) -> str:
        return await self._database.write(lambda connection: put_claim(connection, fingerprint, key))

    async def close(self) -> None:
        """Nothing to do: the engine closes what its parts share."""


def put_marks(connection: sqlite3.Connection, fingerprints: Sequence[int]) -> None:
    """Part of a transaction: URLs are marked."""
    connection.executemany("INSERT OR IGNORE INTO seen VALUES (?)", [(signed(number),) for number in fingerprints])


def put_claim(connection: sqlite3.Connection, fingerprint: bytes, key: str) -> str:
    """Part of a transaction: a content is claimed; its owner from now on."""
    put = connection.execute("INSERT OR IGNORE INTO contents VALUES (?, ?)", (fingerprint, key))
    return key if put.rowcount else _owner(connection, fingerprint) or key


def _owner(connection: sqlite3.Connection, fingerprint: bytes) -> str | None:
    found = connection.execute("SELECT key FROM contents WHERE fingerprint = ?", (fingerprint,)).fetchone()
    return found[0] if found else None


def signed(number: int) -> int:
    """An unsigned 64-bit number as SQLite keeps it."""
    return number - (number & _SIGN) * 2


def unsigned(number: int) -> int:
    """The inverse of `signed`."""
    return number + _SIGN * 2 if number < 0 else number


def signed_json(numbers: Sequence[int]) -> str:
    """Numbers for json_each."""
    return msgspec.json.encode([signed(number) for number in numbers]).decode()
