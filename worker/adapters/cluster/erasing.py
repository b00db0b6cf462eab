"""Deleting what a crawl on the cluster has of hosts, beside its workers. Reads the keys of all pages, several ranges at
once, and the pages of the host; those of others only where a body may be theirs too.

What a page leads to goes before it, so that whatever is cut short is found again by the next call. A delete
carries the write timestamp of what it deletes: whatever is written later stays. A body that was written again since
the call began stays as well, and so does one that another host's page names.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, Final

from gregor.schemas.messages import Changed, DeadLetter, Page, Row, decode, encode, url_fingerprint
from gregor.worker.adapters.cluster.cassandra_client import Cassandra, ResultRows
from gregor.worker.adapters.cluster.seen import RedisSeen
from gregor.worker.adapters.cluster.store_pages import Pages, signed
from gregor.worker.adapters.cluster.tokens import RANGES, bounds
from gregor.worker.base.streams import merged
from gregor.worker.borders.errors import Damaged
from gregor.worker.operate.erase import Erased, Whose
from gregor.worker.read.fingerprints import bands, sketch_of, words_of
from gregor.worker.read.sketches import keys_of
from gregor.worker.settle.rows import forgotten

_KEYS: Final = "SELECT key, visit, WRITETIME(status) FROM pages WHERE token(key) > ? AND token(key) <= ?"
_PAGES: Final = "SELECT key, data, overflow FROM pages WHERE token(key) > ? AND token(key) <= ?"
_PAGE: Final = "SELECT key, data, overflow FROM pages WHERE key = ? AND visit = ?"
_ROWS: Final = "SELECT host, data, WRITETIME(data) FROM rows"
_LETTERS: Final = "SELECT day, shard, id, data FROM dead_letters"
_ORIGINS: Final = "SELECT origin, WRITETIME(data) FROM robots"
_CONTENTS: Final = "SELECT fingerprint, key FROM contents WHERE token(fingerprint) > ? AND token(fingerprint) <= ?"
_CHUNKS: Final = "SELECT chunks FROM bodies WHERE sha256 = ?"
_NAMED: Final = "SELECT WRITETIME(sketch) FROM sketches WHERE found_by = ? AND id = ?"
_NAMED_EARLIER: Final = "SELECT key, WRITETIME(key) FROM simhashes WHERE band = ? AND simhash = ?"
_FORGET: Final = "INSERT INTO rows (key, host, state, data) VALUES (?, ?, ?, ?) USING TIMESTAMP ?"
_DELETE_PAGE: Final = "DELETE FROM pages USING TIMESTAMP ? WHERE key = ? AND visit = ?"
_DELETE_BODY: Final = "DELETE FROM bodies USING TIMESTAMP ? WHERE sha256 = ?"
_DELETE_CHUNK: Final = "DELETE FROM body_chunks USING TIMESTAMP ? WHERE sha256 = ? AND chunk = ?"
_DELETE_SKETCH: Final = "DELETE FROM sketches USING TIMESTAMP ? WHERE found_by = ? AND id = ?"
_DELETE_SIMHASH: Final = "DELETE FROM simhashes USING TIMESTAMP ? WHERE band = ? AND simhash = ?"
_DELETE_LETTER: Final = "DELETE FROM dead_letters WHERE day = ? AND shard = ? AND id = ?"
_DELETE_ROBOTS: Final = "DELETE FROM robots USING TIMESTAMP ? WHERE origin = ?"
_SLICE: Final = 16
_FEW: Final = 500
_FETCHED: Final = 2000
_AT_ONCE: Final = 8

Announce = Callable[[Changed], Awaitable[None]]
"""Tells whoever follows the crawl, durably."""


async def erase(cassandra: Cassandra, seen: RedisSeen, whose: Whose, announce: Announce) -> Erased:
    """Delete it, and tell of it. Raises `Unavailable`: then what is left is deleted by the next call."""
    return await _Eraser(cassandra, seen, whose, announce).run()


class _Eraser:
    def __init__(self, cassandra: Cassandra, seen: RedisSeen, whose: Whose, announce: Announce) -> None:
        self._announce = announce
        self._cassandra = cassandra
        self._seen = seen
        self._whose = whose
        self._pages = Pages(cassandra)

    async def run(self) -> Erased:
        began = int(time.time() * 1e6)
        stored = [record async for some in self._scanned(_KEYS, _FEW) for record in some if self._whose.url(record[0])]
        erased = Erased(pages=len(stored), bodies=await self._erase_bodies([(key, at) for key, at, _ in stored], began))
        await self._cassandra.write_each(_DELETE_PAGE, [(stamp, key, visit) for key, visit, stamp in stored])
        visits = {key: visit for key, visit, _ in sorted(stored)}
        await self._tell(
            [Changed(key, key, self._host(key), visit, "erased", time.time()) for key, visit in visits.items()]
        )
        async for records in self._cassandra.pages(_ROWS):
            erased.urls += await self._forget([record for record in records if self._whose.covers(record[0])])
        async for records in self._cassandra.pages(_LETTERS):
            named = [record[:3] for record in records if self._is_of(decode(record[3], DeadLetter))]
            await self._cassandra.write_each(_DELETE_LETTER, named)
            erased.dead_letters += len(named)
        async for records in self._cassandra.pages(_ORIGINS):
            of_it = [(stamp, origin) for origin, stamp in records if self._whose.url(f"{origin}/")]
            await self._cassandra.write_each(_DELETE_ROBOTS, of_it)
            erased.robots += len(of_it)
        async for claims in self._scanned(_CONTENTS, _FETCHED):  # of a visit whose page was erased before it claimed
            await asyncio.gather(*(self._seen.disown(*claim) for claim in claims if self._whose.url(claim[1])))
        return erased

    def _host(self, key: str) -> str:
        url = self._whose.urls.parse(key)
        return "" if url is None else url.host

    async def _tell(self, changes: Sequence[Changed]) -> None:
        for at in range(0, len(changes), _FEW):
            await asyncio.gather(*map(self._announce, changes[at : at + _FEW]))

    def _is_of(self, letter: DeadLetter) -> bool:
        return self._whose.covers(letter.host) or self._whose.url(letter.href)

    def _scanned(self, statement: str, at_a_time: int) -> AsyncIterator[ResultRows]:
        """What a statement finds in all ranges of tokens, several read at once."""
        ranges = (self._cassandra.pages(statement, bounds(number), at_a_time) for number in range(RANGES))
        return merged(ranges, _AT_ONCE)

    async def _page(self, key: str, data: bytes, overflow: bytes) -> Page | None:
        """A stored page; None when it is damaged: then nothing is known of what it names."""
        try:
            return await self._pages.unpack(key, data, overflow)
        except Damaged:
            return None

    async def _erase_bodies(self, stored: Sequence[tuple[str, int]], began: int) -> int:
        """Delete the bodies of versions (key, visit) of pages that no other host's page names, and what else leads to
        the pages; what large records overflowed to is none of their bodies."""
        named: set[bytes] = set()
        overflows: set[bytes] = set()
        for at in range(0, len(stored), _SLICE):
            for pages in await self._cassandra.read_each(_PAGE, stored[at : at + _SLICE]):
                for key, data, overflow in pages:
                    overflows.update(() if data else (overflow,))
                    page = await self._page(key, data, overflow)
                    if page is not None:
                        named |= _named(page)
                        await self._disown(page)
        if named:
            async for some in self._scanned(_PAGES, _SLICE):
                for key, data, overflow in some:
                    page = None if self._whose.url(key) else await self._page(key, data, overflow)
                    named.difference_update(() if page is None else _named(page))
        erased = await self._erase_all(named, began)
        await self._erase_all(overflows, began)
        return erased

    async def _erase_all(self, names: set[bytes], began: int) -> int:
        each = list(names)
        erased = 0
        for at in range(0, len(each), _FEW):
            erased += sum(await asyncio.gather(*(self._erase_body(name, began) for name in each[at : at + _FEW])))
        return erased

    async def _erase_body(self, name: bytes, began: int) -> bool:
        """Delete a body, unless it was written again since it ``began`` (microseconds)."""
        headers = await self._cassandra.read(_CHUNKS, (name,))
        for (chunks,) in headers:
            await self._cassandra.write_each(_DELETE_CHUNK, [(began, name, chunk) for chunk in range(1, chunks)])
            await self._cassandra.write(_DELETE_BODY, (began, name))
        return bool(headers)

    async def _disown(self, page: Page) -> None:
        """Nothing is a duplicate of a page that is deleted."""
        await self._seen.disown(page.fingerprint, page.key)
        name = signed(url_fingerprint(page.key))
        for found_by in keys_of(page.sketch or sketch_of(words_of(page.title, page.text))):
            for (stamp,) in await self._cassandra.read(_NAMED, (found_by, name)):
                await self._cassandra.write(_DELETE_SKETCH, (stamp, found_by, name))
        for band in bands_of(page.simhash) if page.simhash else ():
            for key, stamp in await self._cassandra.read(_NAMED_EARLIER, (band, signed(page.simhash))):
                if key == page.key:
                    await self._cassandra.write(_DELETE_SIMHASH, (stamp, band, signed(page.simhash)))

    async def _forget(self, records: Sequence[tuple[Any, ...]]) -> int:
        """Keep no more of rows than they need, just above their stamps: what their owners write later wins."""
        rows = [(decode(data, Row), stamp) for _, data, stamp in records]
        kept = [(forgotten(row), stamp) for row, stamp in rows if forgotten(row) != row]
        # Before their rows are forgotten: those of a pass that was cut short are found again, and told of again.
        had_pages = [row for row, _ in rows if row.page]
        await self._tell([Changed(row.key, row.href, row.host, row.visits, "erased", time.time()) for row in had_pages])
        await self._cassandra.write_each(
            _FORGET, [(row.key, row.host, row.state, encode(row), stamp + 1) for row, stamp in kept]
        )
        return len(kept)


def bands_of(simhash: int) -> list[int]:
    """The bands under which versions before sketches stored a simhash."""
    return [table << 16 | value for table, value in bands(simhash)]


def _named(page: Page) -> set[bytes]:
    """The bodies that a page names."""
    return {bytes.fromhex(name) for name in (page.body, page.wire) if name}
