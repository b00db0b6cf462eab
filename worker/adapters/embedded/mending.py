"""Mending a data folder that no crawl uses: its lock is held meanwhile."""

import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from gregor.schemas.messages import Page, Row, encode
from gregor.worker.adapters.compression import Compressor
from gregor.worker.adapters.embedded.bodies import body_path
from gregor.worker.adapters.embedded.database import Database
from gregor.worker.adapters.embedded.faults import right
from gregor.worker.adapters.embedded.folder import Folder
from gregor.worker.adapters.embedded.log import EmbeddedLog
from gregor.worker.adapters.embedded.seen import EmbeddedSeen
from gregor.worker.base.crawl_folder import DATABASE
from gregor.worker.borders.stock import Fault, StockPlace, TellMended, unheard
from gregor.worker.links.tickets import again

_DELETE: Final = {
    "pages": "DELETE FROM pages WHERE key = ? AND visit = ?",
    "calendar": "DELETE FROM calendar WHERE partition = ? AND bucket = ? AND id = ?",
    "backlog": "DELETE FROM backlog WHERE partition = ? AND host = ? AND chunk = ? AND id = ?",
    "hosts": "DELETE FROM hosts WHERE host = ?",
    "robots": "DELETE FROM robots WHERE origin = ?",
    "partitions": "DELETE FROM partitions WHERE partition = ?",
    "dead_letters": "DELETE FROM dead_letters WHERE number = ?",
}
_TOTALS: Final = Fault(("totals",), "", "counted anew")


class EmbeddedMending:
    """`Mending`."""

    def __init__(self, path: Path, partitions: int, canonical: str, bucket_width: float) -> None:
        """Takes the folder. Raises `FolderInUse`, `FolderError`."""
        self._path = path
        self._folder = Folder.open(path, partitions, canonical, bucket_width)
        self._database = Database(self._folder.connect(), self._folder.connect(), self._folder.path / DATABASE)
        self._log = EmbeddedLog(self._database, partitions)
        self._seen = EmbeddedSeen(self._database)
        self._compressor = Compressor()
        self._uncounted = False
        self.tell: TellMended = unheard

    async def drop(self, place: StockPlace) -> None:
        """See `Mending.drop`."""
        table, *name = place
        if table == "file of a body":
            (self._path / str(name[0])).unlink(missing_ok=True)
            return
        if table == "bodies":
            sha256 = str(name[0])
            body_path(self._path, sha256).unlink(missing_ok=True)
            await self._execute("DELETE FROM bodies WHERE sha256 = ?", bytes.fromhex(sha256))
            return
        self._uncounted = self._uncounted or table == "pages"
        await self._execute(_DELETE[str(table)], *name)

    async def rebuild(self, row: Row) -> None:
        """See `Mending.rebuild`; whatever was there is written over, with its stamp."""
        self._uncounted = True
        await self._execute(
            "INSERT INTO rows VALUES (?1, 0, ?2, ?3, ?4) ON CONFLICT (key) DO UPDATE"
            " SET host = ?2, state = ?3, data = ?4",
            *(row.key, row.host, row.state, encode(row)),
        )

    async def forget_validators(self, page: Page) -> None:
        """See `Mending.forget_validators`."""
        page.etag = page.last_modified = ""
        data = self._compressor.compress(encode(page))
        await self._execute("UPDATE pages SET data = ? WHERE key = ? AND visit = ?", data, page.key, page.visit)

    async def ask_again(self, row: Row) -> None:
        """See `Mending.ask_again`."""
        await self._log.publish([again(row)])

    async def mark(self, fingerprints: Sequence[int]) -> None:
        """See `Mending.mark`."""
        await self._seen.mark(fingerprints)

    async def right(self, fault: Fault) -> None:
        """See `Mending.right`."""
        await self._database.write(lambda connection: right(connection, fault, time.time()))

    async def close(self) -> None:
        """Count anew what was deleted of, and let the folder go."""
        try:
            if self._uncounted:
                await self.right(_TOTALS)
        finally:
            await self._database.close()
            self._folder.close()

    async def _execute(self, statement: str, *values: object) -> None:
        def execute(connection: sqlite3.Connection) -> None:
            connection.execute(statement, values)

        await self._database.write(execute)
