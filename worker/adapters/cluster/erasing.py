"""Deleting what a crawl on the cluster has of hosts, beside its workers. Reads the tables whole: minutes a million.

What a page leads to goes before it, so that whatever is cut short is found again by the next call. A delete
carries the write timestamp of what it deletes: whatever is written later stays. A body that was written again since
the call began stays as well, and so does one that another host's page names.
"""

import time
from collections.abc import AsyncIterator, Sequence
from typing import Any, Final

from gregor.schemas.messages import DeadLetter, Page, Row, decode, encode
from gregor.worker.adapters.cluster.cassandra_client import Cassandra
from gregor.worker.adapters.cluster.seen import RedisSeen
from gregor.worker.adapters.cluster.store_pages import Pages, bands_of, signed
from gregor.worker.borders.errors import Damaged
from gregor.worker.operate.erase import Erased, Whose
from gregor.worker.settle.rows import forgotten

_PAGES: Final = "SELECT key, visit, data, overflow, WRITETIME(status) FROM pages"
_ROWS: Final = "SELECT host, data, WRITETIME(data) FROM rows"
_LETTERS: Final = "SELECT day, shard, id, data FROM dead_letters"
_ORIGINS: Final = "SELECT origin, WRITETIME(data) FROM robots"
_CHUNKS: Final = "SELECT chunks FROM bodies WHERE sha256 = ?"
_NAMED: Final = "SELECT key, WRITETIME(key) FROM simhashes WHERE band = ? AND simhash = ?"
_FORGET: Final = "INSERT INTO rows (key, host, state, data) VALUES (?, ?, ?, ?) USING TIMESTAMP ?"
_DELETE_PAGE: Final = "DELETE FROM pages USING TIMESTAMP ? WHERE key = ? AND visit = ?"
_DELETE_BODY: Final = "DELETE FROM bodies USING TIMESTAMP ? WHERE sha256 = ?"
_DELETE_CHUNK: Final = "DELETE FROM body_chunks USING TIMESTAMP ? WHERE sha256 = ? AND chunk = ?"
_DELETE_SIMHASH: Final = "DELETE FROM simhashes USING TIMESTAMP ? WHERE band = ? AND simhash = ?"
_DELETE_LETTER: Final = "DELETE FROM dead_letters WHERE day = ? AND shard = ? AND id = ?"
_DELETE_ROBOTS: Final = "DELETE FROM robots USING TIMESTAMP ? WHERE origin = ?"
_SLICE: Final = 16


async def erase(cassandra: Cassandra, seen: RedisSeen, whose: Whose) -> Erased:
    """Delete it. Raises `Unavailable`: then what is left is deleted by the next call."""
    return await _Eraser(cassandra, seen, whose).run()


class _Eraser:
    def __init__(self, cassandra: Cassandra, seen: RedisSeen, whose: Whose) -> None:
        self._cassandra = cassandra
        self._seen = seen
        self._whose = whose
        self._pages = Pages(cassandra)

    async def run(self) -> Erased:
        began = int(time.time() * 1e6)
        erased = Erased(bodies=await self._erase_bodies(began))
        async for key, visit, overflow, stamp, _ in self._stored(of_it=True):
            if overflow:
                await self._erase_body(overflow, began)
            await self._cassandra.write(_DELETE_PAGE, (stamp, key, visit))
            erased.pages += 1
        async for found in self._cassandra.pages(_ROWS):
            erased.urls += await self._forget([one for one in found if self._whose.covers(one[0])])
        async for found in self._cassandra.pages(_LETTERS):
            named = [one[:3] for one in found if self._is_of(decode(one[3], DeadLetter))]
            await self._cassandra.write_each(_DELETE_LETTER, named)
            erased.dead_letters += len(named)
        async for found in self._cassandra.pages(_ORIGINS):
            of_it = [(stamp, origin) for origin, stamp in found if self._whose.url(f"{origin}/")]
            await self._cassandra.write_each(_DELETE_ROBOTS, of_it)
            erased.robots += len(of_it)
        return erased

    def _is_of(self, letter: DeadLetter) -> bool:
        return self._whose.covers(letter.host) or self._whose.url(letter.href)

    async def _stored(self, *, of_it: bool) -> AsyncIterator[tuple[str, int, bytes, int, Page | None]]:
        """Key, visit, overflow, stamp and record of the pages that are, or are not, of the host."""
        async for found in self._cassandra.pages(_PAGES, size=_SLICE):
            for key, visit, data, overflow, stamp in found:
                if self._whose.url(key) is of_it:
                    yield key, visit, b"" if data else overflow, stamp, await self._page(key, data, overflow)

    async def _page(self, key: str, data: bytes, overflow: bytes) -> Page | None:
        """A stored page; None when it is damaged: then nothing is known of what it names."""
        try:
            return await self._pages.unpack(key, data, overflow)
        except Damaged:
            return None

    async def _erase_bodies(self, began: int) -> int:
        """Delete the bodies that no other host's page names, and what else leads to the host's pages."""
        named: set[bytes] = set()
        async for _, _, _, _, page in self._stored(of_it=True):
            if page is not None:
                named |= _named(page)
                await self._disown(page)
        if named:
            async for _, _, _, _, page in self._stored(of_it=False):
                named.difference_update(() if page is None else _named(page))
        return sum([await self._erase_body(name, began) for name in named])

    async def _erase_body(self, name: bytes, began: int) -> bool:
        """Delete a body, unless it was written again since it ``began`` (microseconds)."""
        found = await self._cassandra.read(_CHUNKS, (name,))
        for (chunks,) in found:
            await self._cassandra.write_each(_DELETE_CHUNK, [(began, name, chunk) for chunk in range(1, chunks)])
            await self._cassandra.write(_DELETE_BODY, (began, name))
        return bool(found)

    async def _disown(self, page: Page) -> None:
        """Nothing is a duplicate of a page that is deleted."""
        await self._seen.disown(page.fingerprint, page.key)
        for band in bands_of(page.simhash) if page.simhash else ():
            for key, stamp in await self._cassandra.read(_NAMED, (band, signed(page.simhash))):
                if key == page.key:
                    await self._cassandra.write(_DELETE_SIMHASH, (stamp, band, signed(page.simhash)))

    async def _forget(self, found: Sequence[tuple[Any, ...]]) -> int:
        """Keep no more of rows than they need, just above their stamps: what their owners write later wins."""
        rows = [(decode(data, Row), stamp) for _, data, stamp in found]
        kept = [(forgotten(row), stamp) for row, stamp in rows if forgotten(row) != row]
        await self._cassandra.write_each(
            _FORGET, [(row.key, row.host, row.state, encode(row), stamp + 1) for row, stamp in kept]
        )
        return len(kept)


def _named(page: Page) -> set[bytes]:
    """The bodies that a page names."""
    return {bytes.fromhex(name) for name in (page.body, page.wire) if name}
