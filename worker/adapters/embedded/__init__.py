"""The engine that needs no server: SQLite in one data folder, for one process or several."""

import asyncio
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gregor.worker.adapters.embedded import dates
from gregor.worker.adapters.embedded.coordinator import (
    EmbeddedCoordinator,
    FolderBook,
    change_orders,
    recorded_changes,
    standing_orders,
)
from gregor.worker.adapters.embedded.crew import Board, ProcessPlace
from gregor.worker.adapters.embedded.database import Database
from gregor.worker.adapters.embedded.feed import EmbeddedFeed, identity, put_letter
from gregor.worker.adapters.embedded.folder import Folder, FolderError, FolderInUse
from gregor.worker.adapters.embedded.log import EmbeddedLog
from gregor.worker.adapters.embedded.reader import EmbeddedReader
from gregor.worker.adapters.embedded.requisites import page_totals
from gregor.worker.adapters.embedded.seen import EmbeddedSeen
from gregor.worker.adapters.embedded.settler import EmbeddedSettler
from gregor.worker.adapters.embedded.sharing import copy_log, share
from gregor.worker.adapters.embedded.store import EmbeddedStore
from gregor.worker.base.crawl_folder import DATABASE
from gregor.worker.borders.clock import Clock

__all__ = [
    "Board",
    "EmbeddedEngine",
    "EmbeddedFeed",
    "EmbeddedReader",
    "FolderBook",
    "FolderError",
    "FolderInUse",
    "ProcessPlace",
    "change_orders",
    "identity",
    "open_engine",
    "open_reader",
    "put_letter",
    "recorded_changes",
    "standing_orders",
]


_COPY_SECONDS: Final = 1.0


@dataclass(frozen=True)
class EmbeddedEngine:
    """The four borders over one folder, and what settles over them. ``crawl_id`` is random, made with the folder.

    ``set_back``: seconds by which its dates were set back as it was opened."""

    log: EmbeddedLog
    seen: EmbeddedSeen
    store: EmbeddedStore
    coordinator: EmbeddedCoordinator
    settler: EmbeddedSettler
    crawl_id: str
    _database: Database
    _folder: Folder
    set_back: float = 0.0

    @property
    def lock(self) -> int:
        """The descriptor of the folder's lock, for processes that are to have the folder, too."""
        return self._folder.lock

    def stored(self) -> Mapping[str, int]:
        """See `CountedTogether.stored`."""
        _, ok, size, shown = self._database.read(page_totals)
        return {"pages_200": ok, "bytes": size, "requisites": shown}

    async def close(self) -> None:
        """Finish what was called, end all leases, let the folder go. May be repeated."""
        try:
            await self.coordinator.close()
        finally:
            await self._database.close()
            self._folder.close()


async def open_engine(
    path: Path,
    partitions: int,
    canonical: str,
    clock: Clock,
    bucket_width: float = 1.0,
    *,
    shared: bool = False,
    place: ProcessPlace | None = None,
) -> EmbeddedEngine:
    """Take a data folder, made if need be. ``canonical`` names the rules of the canonical form of URLs.

    ``shared``: this process begins others, which get a ``place`` in its folder, and owns nothing itself.

    Raises `FolderInUse` when another process crawls there, `FolderError` when the folder cannot be used for this,
    `DiskFull`.
    """
    folder = Folder.open(path, partitions, canonical, bucket_width) if place is None else Folder.joined(path)
    several = shared or place is not None
    database = Database(folder.connect(), folder.connect(), folder.path / DATABASE, shared=several)
    try:
        ahead = 0.0
        if place is None:
            ahead = database.read(lambda connection: dates.certainly_ahead(connection, clock.wall()))
        if ahead:
            await database.write(lambda connection: dates.set_back(connection, clock.wall()))
        coordinator = await EmbeddedCoordinator.open(database, partitions, clock, place)
    except BaseException:
        await database.close()
        folder.close()
        raise
    log, store = EmbeddedLog(database, partitions), EmbeddedStore(database, path)
    if place is not None:
        coordinator.run_beside(log.hear(coordinator.held))
    elif shared:
        coordinator.run_beside(_copy_for_all(folder))
    return EmbeddedEngine(
        log,
        EmbeddedSeen(database),
        store,
        coordinator,
        EmbeddedSettler(database, log, store),
        folder.crawl_id,
        database,
        folder,
        ahead,
    )


async def _copy_for_all(folder: Folder) -> None:
    """For ever: copy the write-ahead log, for all processes."""
    with closing(folder.connect()) as connection:
        share(connection)
        while True:
            await asyncio.sleep(_COPY_SECONDS)
            copying = asyncio.ensure_future(asyncio.to_thread(copy_log, connection))
            try:
                await asyncio.shield(copying)
            finally:
                await copying  # the connection is in use till then


async def open_reader(path: Path) -> EmbeddedReader:
    """Read a data folder, beside a running crawl or after it.

    Raises `FolderError` when there is no crawl.
    """
    return EmbeddedReader(path)
