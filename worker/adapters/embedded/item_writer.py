"""Items made anew in a data folder, whether a crawl runs there or not."""

import asyncio
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from gregor.schemas.messages import encode
from gregor.worker.adapters.compression import Compressor
from gregor.worker.adapters.embedded.folder import connect_reading, connect_writable
from gregor.worker.adapters.embedded.queries import read_page
from gregor.worker.base.transaction import transaction
from gregor.worker.borders.errors import Damaged, Unavailable
from gregor.worker.borders.items import ItemSet
from gregor.worker.extract.identity import carried

_UPDATE: Final = "UPDATE pages SET data = ? WHERE key = ? AND visit = ?"


class EmbeddedItems:
    """`ItemWriter`. Stamps stay: what the owner of a page writes later wins."""

    def __init__(self, path: Path) -> None:
        """Raises `FolderError` when there is no crawl."""
        connect_reading(path)[0].close()
        self._connection = connect_writable(path)
        self._compressor = Compressor()

    async def put(self, sets: Sequence[ItemSet]) -> int:
        try:
            return await asyncio.to_thread(self._put, sets)
        except sqlite3.OperationalError as error:
            raise Unavailable("store", str(error)) from error

    def _put(self, sets: Sequence[ItemSet]) -> int:
        with transaction(self._connection):
            return sum(map(self._replace, sets))

    def _replace(self, made: ItemSet) -> bool:
        try:
            page = read_page(self._connection, made.key, made.visit)
        except Damaged:
            return False
        if page is None:
            return False
        page.items = carried(made.items, page.items, made.asked)
        if made.classified is not None:
            page.page_class, page.class_probability = made.classified
        data = self._compressor.compress(encode(page))
        self._connection.execute(_UPDATE, (data, made.key, made.visit))
        return True

    async def close(self) -> None:
        self._connection.close()
