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

import msgspec

from gregor.schemas.messages import Changed, DeadLetter, Page, PartitionRecord, Row, decode, encode
from gregor.worker.adapters.cluster.cassandra_client import Cassandra, ResultRows
from gregor.worker.adapters.cluster.dropping import DELETE_PAGE, PAGES, bodies_of, delete_body, make_unlike, readable
from gregor.worker.adapters.cluster.seen import RedisSeen
from gregor.worker.adapters.cluster.store import PARTITION, PUT_PARTITION, read_one
from gregor.worker.adapters.cluster.store_pages import Pages
from gregor.worker.adapters.cluster.tokens import scanned
from gregor.worker.base.streams import in_order
from gregor.worker.frontier.counts import added, forgotten_counts, opted_out_record
from gregor.worker.operate.erase import Erased, Looked, Whose
from gregor.worker.settle.rows import forgotten

_KEYS: Final = "SELECT key, visit, WRITETIME(status) FROM pages WHERE token(key) > ? AND token(key) <= ?"
_PAGE: Final = "SELECT key, data, overflow FROM pages WHERE key = ? AND visit = ?"
_ROWS: Final = "SELECT host, data, WRITETIME(data) FROM rows"
_LETTERS: Final = "SELECT day, shard, id, data FROM dead_letters"
_ORIGINS: Final = "SELECT origin, WRITETIME(data) FROM robots"
_CONTENTS: Final = "SELECT fingerprint, key FROM contents WHERE token(fingerprint) > ? AND token(fingerprint) <= ?"
_FORGET: Final = "INSERT INTO rows (key, host, state, data) VALUES (?, ?, ?, ?) USING TIMESTAMP ?"
_DELETE_LETTER: Final = "DELETE FROM dead_letters WHERE day = ? AND shard = ? AND id = ?"
_DELETE_ROBOTS: Final = "DELETE FROM robots USING TIMESTAMP ? WHERE origin = ?"
_SLICE: Final = 16
_FEW: Final = 500
_FETCHED: Final = 2000
_AT_ONCE: Final = 8

Announce = Callable[[Changed], Awaitable[None]]
"""Tells whoever follows the crawl, durably."""


async def erase(cassandra: Cassandra, seen: RedisSeen, whose: Whose, announce: Announce, looked: Looked) -> Erased:
    """Delete it, and tell of it. Raises `Unavailable`: then what is left is deleted by the next call."""
    return await _Eraser(cassandra, seen, whose, announce, looked).run()


class _Eraser:
    def __init__(self, cassandra: Cassandra, seen: RedisSeen, whose: Whose, announce: Announce, looked: Looked) -> None:
        self._announce = announce
        self._looked = looked
        self._cassandra = cassandra
        self._seen = seen
        self._whose = whose
        self._pages = Pages(cassandra)

    async def run(self) -> Erased:
        began = int(time.time() * 1e6)
        stored: list[tuple[str, int, int]] = []
        async for records in self._scanned(_KEYS, _FEW, "pages"):
            stored += [record for record in records if self._whose.url(record[0])]
        erased = Erased(pages=len(stored), bodies=await self._erase_bodies([(key, at) for key, at, _ in stored], began))
        await self._cassandra.write_each(DELETE_PAGE, [(stamp, key, visit) for key, visit, stamp in stored])
        visits = {key: visit for key, visit, _ in sorted(stored)}
        await self._tell(
            [Changed(key, key, self._host(key), visit, "erased", time.time()) for key, visit in visits.items()]
        )
        async for records in self._cassandra.pages(_ROWS):
            self._looked.at("URLs", len(records))
            erased.urls += await self._forget([record for record in records if self._whose.covers(record[0])])
        async for records in self._cassandra.pages(_LETTERS):
            self._looked.at("dead letters", len(records))
            named = [record[:3] for record in records if self._is_of(decode(record[3], DeadLetter))]
            await self._cassandra.write_each(_DELETE_LETTER, named)
            erased.dead_letters += len(named)
        async for records in self._cassandra.pages(_ORIGINS):
            self._looked.at("robots.txt files", len(records))
            of_it = [(stamp, origin) for origin, stamp in records if self._whose.url(f"{origin}/")]
            await self._cassandra.write_each(_DELETE_ROBOTS, of_it)
            erased.robots += len(of_it)
        # Those of a visit whose page was erased before it claimed.
        async for claims in self._scanned(_CONTENTS, _FETCHED, "contents"):
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

    async def _scanned(self, statement: str, at_a_time: int, what: str) -> AsyncIterator[ResultRows]:
        """What a statement finds in all ranges of tokens, several read at once."""
        async for records in scanned(self._cassandra, statement, at_a_time, _AT_ONCE):
            self._looked.at(what, len(records))
            yield records

    async def _erase_bodies(self, stored: Sequence[tuple[str, int]], began: int) -> int:
        """Delete the bodies of versions (key, visit) of pages that no other host's page names, and what else leads to
        the pages; what large records overflowed to is none of their bodies."""
        named: set[bytes] = set()
        overflows: set[bytes] = set()

        async def slices() -> AsyncIterator[Sequence[tuple[str, int]]]:
            for at in range(0, len(stored), _SLICE):
                yield stored[at : at + _SLICE]

        async for names, larger in in_order(slices(), self._leave, _AT_ONCE):
            self._looked.at("pages that go", _SLICE)
            named |= names
            overflows |= larger
        if named:
            async for some in self._scanned(PAGES, _SLICE, "pages, for bodies"):
                for key, data, overflow in some:
                    page = None if self._whose.url(key) else await readable(self._pages, key, data, overflow)
                    named.difference_update(() if page is None else bodies_of(page))
        erased = await self._erase_all(named, began)
        await self._erase_all(overflows, began)
        return erased

    async def _erase_all(self, names: set[bytes], began: int) -> int:
        each = list(names)
        erased = 0
        for at in range(0, len(each), _FEW):
            some = each[at : at + _FEW]
            self._looked.at("bodies", len(some))
            erased += sum(await asyncio.gather(*(delete_body(self._cassandra, name, began) for name in some)))
        return erased

    async def _leave(self, versions: Sequence[tuple[str, int]]) -> tuple[set[bytes], set[bytes]]:
        """Nothing leads to some versions of pages any more; the bodies that they name, and what they overflowed to."""
        records = [record for some in await self._cassandra.read_each(_PAGE, versions) for record in some]
        pages = [page for record in records if (page := await readable(self._pages, *record)) is not None]
        await self._disown(pages)
        return set().union(*map(bodies_of, pages)), {overflow for _, data, overflow in records if not data}

    async def _disown(self, pages: Sequence[Page]) -> None:
        """Nothing is a duplicate of pages that are deleted."""
        claimed = [page for page in pages if page.fingerprint]  # the others claimed nothing
        await asyncio.gather(*(self._seen.disown(page.fingerprint, page.key) for page in claimed))
        await make_unlike(self._cassandra, pages)

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
        await self._uncount([(row, forgotten(row)) for row, _ in rows if forgotten(row) != row])
        return len(kept)

    async def _uncount(self, rows: Sequence[tuple[Row, Row]]) -> None:
        """The crawl's counts no longer have them: in a record that no owner of a partition writes."""
        if not rows:
            return
        number = opted_out_record(rows[0][0].host)
        record = await read_one(self._cassandra, PARTITION, number, PartitionRecord) or PartitionRecord(number)
        record = msgspec.structs.replace(record, counts=added(record.counts, forgotten_counts(rows)))
        await self._cassandra.write(PUT_PARTITION, (number, encode(record), int(time.time() * 1e6)))
