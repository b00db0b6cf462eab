"""Sketches in Cassandra for the pages of earlier versions, beside workers, in several processes, and again.

The work is cut into ranges of tokens. Which are done stands in Cassandra, so that what is cut short goes on there; when
all are, that is forgotten, and so is what near-duplicates were looked up in before.
"""

import asyncio
from collections.abc import Callable, Iterator
from typing import Final

from gregor.worker.adapters.cluster.cassandra_client import Cassandra
from gregor.worker.adapters.cluster.store_pages import Pages
from gregor.worker.adapters.cluster.tokens import RANGES, bounds
from gregor.worker.base.tasks import cancel
from gregor.worker.borders.errors import Damaged
from gregor.worker.borders.reader import Part
from gregor.worker.operate.sketching import Sketched, with_sketch

_AT_ONCE: Final = 8
_FEW: Final = 32
_PAGES: Final = """SELECT key, data, overflow, WRITETIME(status), TTL(status) FROM pages
    WHERE token(key) > ? AND token(key) <= ? PER PARTITION LIMIT 1"""
_DONE: Final = "SELECT name FROM facts"
_PUT_DONE: Final = "INSERT INTO facts (name, value) VALUES (?, 'done')"
_FORGET: Final = "DELETE FROM facts WHERE name = ?"
_DROP_EARLIER: Final = "TRUNCATE simhashes"
_NAME: Final = "sketched "


class Sketching:
    """A part of it: one of several that run at once, or all."""

    def __init__(self, cassandra: Cassandra, part: Part) -> None:
        self._cassandra = cassandra
        self._pages = Pages(cassandra)
        self._part = part

    async def run(self, tell: Callable[[Sketched], None]) -> Sketched:
        """Do what is left to do; ``tell`` hears of each share that is done. Raises `Unavailable`."""
        done = await self._done()
        mine = list(self._part.of(RANGES))
        todo = [number for number in mine if number not in done]
        how_far = Sketched(len(mine), len(mine) - len(todo))
        numbers = iter(todo)
        work = [asyncio.create_task(self._work(numbers, how_far, tell)) for _ in range(_AT_ONCE)]
        try:
            await asyncio.gather(*work)
        finally:
            await cancel(work)
        if len(await self._done()) == RANGES:
            await self._cassandra.read(_DROP_EARLIER)
            await self._cassandra.write_each(_FORGET, [(f"{_NAME}{number}",) for number in range(RANGES)])
        return how_far

    async def _done(self) -> set[int]:
        names: list[str] = [name for (name,) in await self._cassandra.read(_DONE)]
        return {int(name.removeprefix(_NAME)) for name in names if name.startswith(_NAME)}

    async def _work(self, numbers: Iterator[int], how_far: Sketched, tell: Callable[[Sketched], None]) -> None:
        for number in numbers:
            await self._share(number, how_far)
            await self._cassandra.write(_PUT_DONE, (f"{_NAME}{number}",))
            how_far.done += 1
            tell(how_far)

    async def _share(self, number: int, how_far: Sketched) -> None:
        async for records in self._cassandra.pages(_PAGES, bounds(number), _FEW):
            await asyncio.gather(*(self._sketch(*record) for record in records))
            how_far.pages += len(records)

    async def _sketch(self, key: str, data: bytes, overflow: bytes, stamp: int, left: int | None) -> None:
        try:
            page = await self._pages.unpack(key, data, overflow)
        except Damaged:
            return
        if page is not None:
            await self._cassandra.write_at_once(self._pages.sketched(with_sketch(page), stamp, left or 0))
