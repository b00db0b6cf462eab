"""The data folder of a crawl: who may use it, and what it was made for.

crawl.db   everything but large bodies (SQLite, write-ahead log)
bodies/    large bodies, by content
lock       held with flock while a crawl runs, by all its processes; names the one that began them
"""

import contextlib
import fcntl
import os
import secrets
import sqlite3
import time
from pathlib import Path
from typing import Self

from gregor.worker.adapters.embedded import requisites, sketches
from gregor.worker.adapters.embedded.queries import has_table
from gregor.worker.adapters.embedded.schema import FORMAT, SCHEMA
from gregor.worker.base.crawl_folder import DATABASE
from gregor.worker.base.errors import BadInput, Occupied, why
from gregor.worker.base.replaced import flush_names

_BUSY_SECONDS = 10.0
_ORPHAN_SECONDS = 10.0
"""For so long the folder of a process that was killed is waited for: those that it began hold its lock, and end."""
_ORPHAN_PAUSE = 0.02


class FolderError(BadInput):
    """The folder cannot be used; the message says why and what to do."""


class FolderInUse(FolderError, Occupied):
    """Another process crawls into this folder."""

    def __init__(self, path: Path, pid: int | None) -> None:
        super().__init__(f"{path} is in use by process {pid or '(unknown)'}: stop it first, or use another folder")
        self.pid = pid


class Folder:
    """A data folder that this process alone may write, until `close`."""

    def __init__(self, path: Path, lock: int | None, crawl_id: str) -> None:
        """``lock``: a descriptor of its lock; None where another process closes it."""
        self.path = path
        self.crawl_id = crawl_id
        self._lock = lock

    @classmethod
    def open(cls, path: Path, partitions: int, canonical: str, bucket_width: float = 1.0) -> Self:
        """Lock a folder, made if need be.

        Raises `FolderInUse`, and `FolderError` when it cannot be written, is no folder of a crawl, is of another
        format, or was made for another number of partitions, canonical form of URLs or width of the calendar's buckets.
        """
        try:
            if path.is_symlink() and not path.exists():
                raise FolderError(f"{path} is a link to {path.readlink()}, which is not there")
            path.mkdir(parents=True, exist_ok=True)
            _refuse_foreign(path)
            lock = _lock(path)
        except FileExistsError:
            raise FolderError(f"{path} cannot be used: it is no folder") from None
        except OSError as error:
            raise FolderError(f"{path} cannot be used: {why(error)}") from error
        try:
            width = f"{bucket_width:g}"
            made_for = _load(path, {"partitions": str(partitions), "canonical": canonical, "bucket_width": width})
            _refuse_changed(path, made_for, "partitions", str(partitions), "the number of partitions")
            _refuse_changed(path, made_for, "bucket_width", width, "the width of the calendar's buckets")
            _refuse_changed(path, made_for, "canonical", canonical, "the canonical form of URLs")
        except BaseException:
            os.close(lock)
            raise
        return cls(path, lock, made_for["crawl_id"])

    @classmethod
    def joined(cls, path: Path) -> Self:
        """The folder of a crawl whose lock this process inherited. Raises `FolderError`."""
        connection, made_for = connect_reading(path)
        connection.close()
        return cls(path, None, made_for["crawl_id"])

    @property
    def lock(self) -> int:
        """The descriptor of the lock: a process that inherits it holds the folder until it ends."""
        if self._lock is None:
            raise ValueError("the folder is not held here")
        return self._lock

    def connect(self) -> sqlite3.Connection:
        """A connection that may write; one commit is one flush to the disk."""
        return connect_writable(self.path)

    def close(self) -> None:
        """Let other processes use the folder. May be repeated."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def connect_writable(path: Path) -> sqlite3.Connection:
    """Open a folder's database for writing, without a transaction begun. Holds no lock on the folder."""
    connection = sqlite3.connect(
        path / DATABASE, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=256
    )
    # Full: a commit that was acknowledged survives a power failure. Pages of 8 KB: a usual body is in one or two.
    connection.executescript(
        "PRAGMA page_size=8192; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=-16384;"
        "PRAGMA temp_store=FILE; PRAGMA wal_autocheckpoint=2000; PRAGMA journal_size_limit=67108864"
    )
    return connection


def connect_reading(path: Path) -> tuple[sqlite3.Connection, dict[str, str]]:
    """Open a folder's database for reading, beside a running crawl or not; with what the folder was made for.

    Raises `FolderError` when there is no crawl or it is of another format.
    """
    file = path / DATABASE
    if not file.is_file() or not file.stat().st_size:  # empty: whoever made it was killed before its first commit
        raise FolderError(f"{path} holds no crawl")
    # On read-only media there is no room for the index of the write-ahead log, and no writer either.
    fixed = "" if os.access(path, os.W_OK) or file.with_name(DATABASE + "-wal").exists() else "&immutable=1"
    try:
        connection = sqlite3.connect(
            f"{file.absolute().as_uri()}?mode=ro{fixed}",
            uri=True,
            timeout=_BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
        )
        connection.text_factory = _text
        try:
            return connection, _settings(path, connection)
        except BaseException:
            connection.close()
            raise
    except sqlite3.Error as error:
        advice = "" if os.access(path, os.W_OK) else ": the folder is read-only, copy it to where it can be written"
        raise FolderError(f"{file} cannot be read: {error}{advice}") from error


def _text(data: bytes) -> str:
    """A text of the database, which may be damaged."""
    return data.decode(errors="replace")


def keep(path: Path, name: str, value: str) -> None:
    """Keep a word about the crawl beside what its folder was made for. Raises `FolderError`."""
    try:
        with contextlib.closing(connect_writable(path)) as connection:
            connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))
    except sqlite3.Error as error:
        raise FolderError(f"{path / DATABASE} cannot be used: {error}") from error


def _refuse_foreign(path: Path) -> None:
    ours = {"bodies", "lock", "console-token", "console.json"}
    if not (path / DATABASE).exists() and any(entry.name not in ours for entry in path.iterdir()):
        raise FolderError(f"{path} is not empty and holds no crawl: use another folder")


def _lock(path: Path) -> int:
    lock = os.open(path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    deadline = time.monotonic() + _ORPHAN_SECONDS
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            named = os.pread(lock, 32, 0).strip()
            holder = int(named) if named.isdigit() else None
            if holder is None or _lives(holder) or time.monotonic() > deadline:
                os.close(lock)
                raise FolderInUse(path, holder) from None
        time.sleep(_ORPHAN_PAUSE)  # it was killed: the processes that it began are ending
    os.ftruncate(lock, 0)
    os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
    return lock


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def is_in_use(path: Path) -> bool:
    """Whether a process holds the folder: a crawl that runs. Raises `FolderError` where there is no crawl."""
    connect_reading(path)[0].close()
    try:
        with (path / "lock").open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except FileNotFoundError:
        return False
    return False


def _load(path: Path, wanted: dict[str, str]) -> dict[str, str]:
    """What the folder was made for; made now, in one transaction, when it is new."""
    try:
        connection = connect_writable(path)
        try:
            if not connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
                made = {**wanted, "format": str(FORMAT), "crawl_id": secrets.token_hex(8)}
                connection.execute("BEGIN IMMEDIATE")
                for statement in SCHEMA:
                    connection.execute(statement)
                connection.executemany("INSERT INTO meta VALUES (?, ?)", made.items())
                connection.execute("COMMIT")
                flush_names(path, path.parent)
            settings = _settings(path, connection)
            if not requisites.are_kept(connection):
                connection.execute("BEGIN IMMEDIATE")
                requisites.begin(connection)
                connection.execute("COMMIT")
            if not sketches.are_kept(connection):
                connection.execute("BEGIN IMMEDIATE")
                sketches.begin(connection)
                connection.execute("COMMIT")
            return settings
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise FolderError(f"{path / DATABASE} cannot be used: {error}") from error


def _settings(path: Path, connection: sqlite3.Connection) -> dict[str, str]:
    if not has_table(connection, "meta"):
        raise FolderError(f"{path} holds no crawl of this program: use another folder")
    settings: dict[str, str] = dict(connection.execute("SELECT name, value FROM meta"))
    if settings.get("format") != str(FORMAT):
        raise FolderError(
            f"{path} is of format {settings.get('format')}, this version reads format {FORMAT}: "
            "use the version that made it, or another folder"
        )
    return settings


def _refuse_changed(path: Path, made_for: dict[str, str], name: str, wanted: str, words: str) -> None:
    if made_for[name] != wanted:
        raise FolderError(
            f"{path} was made with {words} {made_for[name]}, not {wanted}: set it back, or use another folder"
        )
