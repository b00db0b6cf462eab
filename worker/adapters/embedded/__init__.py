"""The engine that needs no server: SQLite in one data folder, one process."""

from dataclasses import dataclass
from pathlib import Path

from gregor.worker.adapters.embedded import dates
from gregor.worker.adapters.embedded.coordinator import (
    EmbeddedCoordinator,
    FolderBook,
    change_orders,
    recorded_changes,
    standing_orders,
)
from gregor.worker.adapters.embedded.database import Database
from gregor.worker.adapters.embedded.feed import EmbeddedFeed, identity, put_letter
from gregor.worker.adapters.embedded.folder import Folder, FolderError, FolderInUse
from gregor.worker.adapters.embedded.log import EmbeddedLog
from gregor.worker.adapters.embedded.reader import EmbeddedReader
from gregor.worker.adapters.embedded.seen import EmbeddedSeen
from gregor.worker.adapters.embedded.store import EmbeddedStore
from gregor.worker.base.crawl_folder import DATABASE
from gregor.worker.borders.clock import Clock

__all__ = [
    "EmbeddedEngine",
    "EmbeddedFeed",
    "EmbeddedReader",
    "FolderBook",
    "FolderError",
    "FolderInUse",
    "change_orders",
    "identity",
    "open_engine",
    "open_reader",
    "put_letter",
    "recorded_changes",
    "standing_orders",
]


@dataclass(frozen=True)
class EmbeddedEngine:
    """The four borders over one folder. ``crawl_id`` is random, made with the folder. ``set_back``: seconds by which
    its dates were set back as it was opened."""

    log: EmbeddedLog
    seen: EmbeddedSeen
    store: EmbeddedStore
    coordinator: EmbeddedCoordinator
    crawl_id: str
    _database: Database
    _folder: Folder
    set_back: float = 0.0

    async def close(self) -> None:
        """Finish what was called, end all leases, let the folder go. May be repeated."""
        try:
            await self.coordinator.close()
        finally:
            await self._database.close()
            self._folder.close()


async def open_engine(
    path: Path, partitions: int, canonical: str, clock: Clock, bucket_width: float = 1.0
) -> EmbeddedEngine:
    """Take a data folder, made if need be. ``canonical`` names the rules of the canonical form of URLs.

    Raises `FolderInUse` when another process crawls there, `FolderError` when the folder cannot be used for this,
    `DiskFull`.
    """
    folder = Folder.open(path, partitions, canonical, bucket_width)
    database = Database(folder.connect(), folder.connect(), folder.path / DATABASE)
    try:
        ahead = database.read(lambda connection: dates.certainly_ahead(connection, clock.wall()))
        if ahead:
            await database.write(lambda connection: dates.set_back(connection, clock.wall()))
        coordinator = await EmbeddedCoordinator.open(database, partitions, clock)
    except BaseException:
        await database.close()
        folder.close()
        raise
    return EmbeddedEngine(
        EmbeddedLog(database, partitions),
        EmbeddedSeen(database),
        EmbeddedStore(database, path),
        coordinator,
        folder.crawl_id,
        database,
        folder,
        ahead,
    )


async def open_reader(path: Path) -> EmbeddedReader:
    """Read a data folder, beside a running crawl or after it.

    Raises `FolderError` when there is no crawl.
    """
    return EmbeddedReader(path)
