"""Items made anew in Cassandra, beside the workers."""

from collections.abc import Sequence
from typing import Final

from gregor.worker.adapters.cluster.cassandra_client import Cassandra
from gregor.worker.adapters.cluster.store_pages import Pages
from gregor.worker.borders.errors import Damaged
from gregor.worker.borders.items import ItemSet
from gregor.worker.extract.identity import carried

_PAGE: Final = "SELECT data, overflow, WRITETIME(status), TTL(status) FROM pages WHERE key = ? AND visit = ?"


class ClusterItems:
    """`ItemWriter`. A page is written just above its stamp, for the rest of its life: its owner wins later."""

    def __init__(self, cassandra: Cassandra) -> None:
        self._cassandra = cassandra

    async def put(self, sets: Sequence[ItemSet]) -> int:
        return sum([await self._replace(made) for made in sets])

    async def _replace(self, made: ItemSet) -> bool:
        for data, overflow, stamp, left in await self._cassandra.read(_PAGE, (made.key, made.visit)):
            pages = Pages(self._cassandra, left or 0)
            try:
                page = await pages.unpack(made.key, data, overflow)
            except Damaged:
                return False
            if page is None:
                return False
            page.items = carried(made.items, page.items, made.asked)
            if made.classified is not None:
                page.page_class, page.class_probability = made.classified
            await pages.put(page, None, None, stamp + 1)
            return True
        return False

    async def close(self) -> None:
        await self._cassandra.close()
