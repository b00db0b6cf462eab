"""Deleting what a data folder has of hosts, whether a crawl runs there or not.

Bodies go before the pages that name them, so that whatever is cut short is found again by the next call. One that
another host's page names as well stays. What is deleted is overwritten in the file, too (`secure_delete`).
"""

import sqlite3
from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import msgspec

from gregor.schemas.messages import DeadLetter, PartitionRecord, Row, decode, encode
from gregor.worker.adapters.embedded import sketches
from gregor.worker.adapters.embedded.bodies import body_path
from gregor.worker.adapters.embedded.dropping import delete_pages, named, readable
from gregor.worker.adapters.embedded.folder import connect_reading, connect_writable
from gregor.worker.adapters.embedded.slices import damage_told
from gregor.worker.base.crawl_folder import DATABASE
from gregor.worker.base.transaction import transaction
from gregor.worker.frontier.counts import added, forgotten_counts, opted_out_record
from gregor.worker.operate.erase import Erased, Looked, Whose
from gregor.worker.settle.rows import forgotten

_SLICE: Final = 100
"""So much is deleted in one transaction: a crawl that runs waits for it."""

_PAGES: Final = "SELECT rowid, key, data FROM pages WHERE rowid > ? ORDER BY rowid LIMIT ?"
_ROWS: Final = "SELECT key, host, data FROM rows WHERE key > ? ORDER BY key LIMIT ?"
_LETTERS: Final = "SELECT number, data FROM dead_letters WHERE number > ? ORDER BY number LIMIT ?"
_CONTENTS: Final = "SELECT fingerprint, key FROM contents WHERE fingerprint > ? ORDER BY fingerprint LIMIT ?"
_ORIGINS: Final = "SELECT origin FROM robots WHERE origin > ? ORDER BY origin LIMIT ?"


def erase(path: Path, whose: Whose, looked: Looked | None = None) -> Erased:
    """Delete it. Raises `FolderError` when there is no crawl, `sqlite3.Error` when it cannot be written."""
    connect_reading(path)[0].close()
    with damage_told(path / DATABASE), closing(connect_writable(path)) as connection:
        connection.execute("PRAGMA secure_delete=ON")
        if not sketches.are_kept(connection):
            connection.execute("BEGIN IMMEDIATE")
            sketches.begin(connection)
            connection.execute("COMMIT")
        erased = _Eraser(connection, path, whose, looked or Looked()).run()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return erased


class _Eraser:
    def __init__(self, connection: sqlite3.Connection, folder: Path, whose: Whose, looked: Looked) -> None:
        self._connection = connection
        self._tell = looked
        self._folder = folder
        self._whose = whose
        self._looked = 0  # the newest page that was looked at for bodies that others name

    def run(self) -> Erased:
        erased = Erased(bodies=self._erase_bodies())
        for records in self._slices(_PAGES, 0, "pages"):
            keys = {key for _, key, _ in records if self._whose.url(key)}
            erased.pages += self._at_once(self._erase_page, keys)
        for records in self._slices(_ROWS, "", "URLs"):
            erased.urls += self._at_once(self._forget, [data for _, host, data in records if self._whose.covers(host)])
        for records in self._slices(_LETTERS, 0, "dead letters"):
            numbers = [number for number, data in records if self._is_of(decode(data, DeadLetter))]
            erased.dead_letters += self._at_once(self._deleting("dead_letters WHERE number = ?"), numbers)
        for records in self._slices(_ORIGINS, "", "robots.txt files"):
            origins = [origin for (origin,) in records if self._whose.url(f"{origin}/")]
            erased.robots += self._at_once(self._deleting("robots WHERE origin = ?"), origins)
        for records in self._slices(_CONTENTS, b"", "contents"):  # of a visit whose page was erased before it claimed
            claimed = [fingerprint for fingerprint, key in records if self._whose.url(key)]
            self._at_once(self._deleting("contents WHERE fingerprint = ?"), claimed)
        return erased

    def _is_of(self, letter: DeadLetter) -> bool:
        return self._whose.covers(letter.host) or self._whose.url(letter.href)

    def _erase_bodies(self) -> int:
        """Delete the bodies that no other host's page names."""
        self._connection.execute("CREATE TEMP TABLE named (sha256 TEXT PRIMARY KEY) WITHOUT ROWID")
        self._look_at_pages("INSERT OR IGNORE INTO named VALUES (?)", of_it=True)
        if self._connection.execute("SELECT 1 FROM named").fetchone():
            self._looked = 0
            self._look_at_pages("DELETE FROM named WHERE sha256 = ?", of_it=False)
        return sum(self._at_once(self._erase_some_bodies, [_SLICE]) for _ in iter(self._left, 0))

    def _left(self) -> int:
        left: int = self._connection.execute("SELECT count(*) FROM named").fetchone()[0]
        return left

    def _look_at_pages(self, statement: str, *, of_it: bool) -> None:
        """Apply a statement to each body that is named by the pages that are, or are not, of the host."""
        for records in self._slices(_PAGES, self._looked, "pages, for bodies"):
            pages = [readable(key, data) for _, key, data in records if self._whose.url(key) is of_it]
            self._connection.executemany(
                statement, [(name,) for page in pages if page is not None for name in named(page)]
            )
            self._looked = records[-1][0]

    def _erase_some_bodies(self, most: int) -> int:
        self._look_at_pages("DELETE FROM named WHERE sha256 = ?", of_it=False)  # pages that came meanwhile
        names = [name for (name,) in self._connection.execute("SELECT sha256 FROM named LIMIT ?", (most,))]
        deleted = 0
        for name in names:
            file = body_path(self._folder, name)
            there = file.exists()
            file.unlink(missing_ok=True)
            small = self._connection.execute("DELETE FROM bodies WHERE sha256 = ?", (bytes.fromhex(name),)).rowcount
            self._connection.execute("DELETE FROM named WHERE sha256 = ?", (name,))
            deleted += bool(there or small)
        return deleted

    def _erase_page(self, key: str) -> int:
        versions = self._connection.execute("SELECT data FROM pages WHERE key = ?", (key,)).fetchall()
        for (data,) in versions:
            if (page := readable(key, data)) is None:
                continue
            self._connection.execute("DELETE FROM contents WHERE fingerprint = ? AND key = ?", (page.fingerprint, key))
        delete_pages(self._connection, key)
        return len(versions)

    def _forget(self, data: bytes) -> int:
        """Keep no more of a row than it needs. Its stamp stays: what the owner of its partition writes later wins."""
        row = decode(data, Row)
        kept = forgotten(row)
        statement = "UPDATE rows SET state = ?, data = ? WHERE key = ? AND data = ?"
        changed = self._connection.execute(statement, (kept.state, encode(kept), row.key, data)).rowcount
        if not changed or kept == row:
            return 0
        self._uncount(row, kept)
        return changed

    def _uncount(self, row: Row, kept: Row) -> None:
        """What the crawl's owners counted no longer has it: in a record that none of them writes."""
        number = opted_out_record(row.host)
        stored = self._connection.execute("SELECT data FROM partitions WHERE partition = ?", (number,)).fetchone()
        record = decode(stored[0], PartitionRecord) if stored else PartitionRecord(number)
        record = msgspec.structs.replace(record, counts=added(record.counts, forgotten_counts([(row, kept)])))
        self._connection.execute("INSERT OR REPLACE INTO partitions VALUES (?, 0, ?)", (number, encode(record)))

    def _deleting(self, what: str) -> Callable[[Any], int]:
        return lambda name: self._connection.execute(f"DELETE FROM {what}", (name,)).rowcount

    def _at_once(self, work: Callable[[Any], int], many: Collection[Any]) -> int:
        """Do it with each, in one transaction."""
        if not many:
            return 0
        with transaction(self._connection):
            return sum(map(work, many))

    def _slices(self, statement: str, after: str | int | bytes, what: str) -> Iterator[list[tuple[Any, ...]]]:
        """All that a statement finds, slice by slice; no transaction stays open between two."""
        while records := self._connection.execute(statement, (after, _SLICE)).fetchall():
            self._tell.at(what, len(records))
            yield records
            after = records[-1][0]
