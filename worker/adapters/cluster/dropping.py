"""What is kept of a stale URL goes, by its owner; then the bodies that no page names any more, beside the workers."""

import asyncio
import time
from collections.abc import Sequence
from typing import Final

from gregor.schemas.messages import Page, url_fingerprint
from gregor.worker.adapters.cluster.cassandra_client import Cassandra
from gregor.worker.adapters.cluster.store_pages import Pages, signed
from gregor.worker.adapters.cluster.tokens import scanned
from gregor.worker.borders.errors import Damaged
from gregor.worker.read.fingerprints import bands, sketch_of, words_of
from gregor.worker.read.sketches import keys_of

VERSIONS: Final = "SELECT visit FROM pages WHERE key = ?"
_PAGE: Final = "SELECT data, overflow FROM pages WHERE key = ? AND visit = ?"
_WRITTEN: Final = "SELECT WRITETIME(data) FROM rows WHERE key = ?"
_LOOSE: Final = "INSERT INTO loose_bodies (sha256, since) VALUES (?, ?)"
_ALL_LOOSE: Final = "SELECT sha256, since, WRITETIME(since) FROM loose_bodies"
_IS_LOOSE: Final = "SELECT sha256 FROM loose_bodies WHERE sha256 = ?"
_NOT_LOOSE: Final = "DELETE FROM loose_bodies USING TIMESTAMP ? WHERE sha256 = ?"
_NAMED: Final = "SELECT WRITETIME(sketch) FROM sketches WHERE found_by = ? AND id = ?"
PAGES: Final = "SELECT key, data, overflow FROM pages WHERE token(key) > ? AND token(key) <= ?"
_NAMED_EARLIER: Final = "SELECT key, WRITETIME(key) FROM simhashes WHERE band = ? AND simhash = ?"
_CHUNKS: Final = "SELECT chunks FROM bodies WHERE sha256 = ?"
_DELETE_SKETCH: Final = "DELETE FROM sketches USING TIMESTAMP ? WHERE found_by = ? AND id = ?"
_DELETE_SIMHASH: Final = "DELETE FROM simhashes USING TIMESTAMP ? WHERE band = ? AND simhash = ?"
DELETE_PAGE: Final = "DELETE FROM pages USING TIMESTAMP ? WHERE key = ? AND visit = ?"
_DELETE_ROW: Final = "DELETE FROM rows USING TIMESTAMP ? WHERE key = ?"
_DELETE_BODY: Final = "DELETE FROM bodies USING TIMESTAMP ? WHERE sha256 = ?"
_DELETE_CHUNK: Final = "DELETE FROM body_chunks USING TIMESTAMP ? WHERE sha256 = ? AND chunk = ?"
_SLICE: Final = 16
_FEW: Final = 500
_AT_ONCE: Final = 8
_MOST: Final = 100_000
"""Bodies that are collected in one pass: they are remembered meanwhile."""


async def drop_url(cassandra: Cassandra, pages: Pages, key: str, stamp: int) -> None:
    """See `PageStore.drop`. A tombstone carries the stamp of the owner, as all that it writes."""
    rows = await cassandra.read(_WRITTEN, (key,))
    if any(row_stamp > stamp for (row_stamp,) in rows):
        return  # by a later owner
    visits = [visit for (visit,) in await cassandra.read(VERSIONS, (key,))]
    for visit in visits:
        for data, overflow in await cassandra.read(_PAGE, (key, visit)):
            page = await readable(pages, key, data, overflow)
            since = int(time.time() * 1e6)
            await cassandra.write_each(_LOOSE, [(name, since) for name in _held(page, data, overflow)])
            if page is not None:
                await make_unlike(cassandra, [page])
    await cassandra.write_each(DELETE_PAGE, [(stamp, key, visit) for visit in visits])
    await cassandra.write(_DELETE_ROW, (stamp, key))


async def make_unlike(cassandra: Cassandra, pages: Sequence[Page]) -> None:
    """Nothing is a near-duplicate any more of pages that go, by whatever version they were stored: those without a
    sketch of their own may have got one later."""
    sketches = [(page.key, page.sketch or sketch_of(words_of(page.title, page.text))) for page in pages]
    places = [(found_by, signed(url_fingerprint(key))) for key, sketch in sketches for found_by in keys_of(sketch)]
    stamps = zip(places, await cassandra.read_each(_NAMED, places), strict=True)
    await cassandra.write_each(_DELETE_SKETCH, [(stamp, *place) for place, records in stamps for (stamp,) in records])
    earlier = [(page, band, signed(page.simhash)) for page in pages if page.simhash for band in bands_of(page.simhash)]
    answers = await cassandra.read_each(_NAMED_EARLIER, [place for _, *place in earlier])
    of_them = [
        (stamp, band, simhash)
        for (page, band, simhash), records in zip(earlier, answers, strict=True)
        for key, stamp in records
        if key == page.key
    ]
    await cassandra.write_each(_DELETE_SIMHASH, of_them)


def bands_of(simhash: int) -> list[int]:
    """The bands under which versions before sketches stored a simhash."""
    return [table << 16 | value for table, value in bands(simhash)]


async def collect(cassandra: Cassandra, least: float) -> int:
    """Delete the bodies that have been loose for ``least`` seconds and that no page names; how many. A body that was
    written again since it came loose stays: its deletion is as old as that. One that comes loose meanwhile stays loose:
    the page that named it may be gone by then."""
    before, loose = int((time.time() - least) * 1e6), dict[bytes, tuple[int, int]]()
    async for records in cassandra.pages(_ALL_LOOSE):
        loose.update((sha256, (since, row_stamp)) for sha256, since, row_stamp in records if since <= before)
        if len(loose) >= _MOST:
            break
    if not loose:
        return 0
    used, pages = set[bytes](), Pages(cassandra)
    async for records in scanned(cassandra, PAGES, _SLICE, _AT_ONCE):
        for key, data, overflow in records:
            used |= loose.keys() & _held(await readable(pages, key, data, overflow), data, overflow)
    deleted, names = 0, list(loose)
    for at in range(0, len(names), _FEW):
        chosen = names[at : at + _FEW]
        deleting = (delete_body(cassandra, name, loose[name][0]) for name in chosen if name not in used)
        deleted += sum(await asyncio.gather(*deleting))
        await cassandra.write_each(_NOT_LOOSE, [(loose[name][1], name) for name in chosen])
    return deleted


async def delete_body(cassandra: Cassandra, name: bytes, before: int) -> bool:
    """Delete a body, unless it was written again since ``before`` (microseconds); whether it was there."""
    headers = await cassandra.read(_CHUNKS, (name,))
    for (chunks,) in headers:
        await cassandra.write_each(_DELETE_CHUNK, [(before, name, chunk) for chunk in range(1, chunks or 0)])
        await cassandra.write(_DELETE_BODY, (before, name))
    return bool(headers)


async def loose_of(cassandra: Cassandra, names: Sequence[str]) -> set[str]:
    """See `Stock.loose`."""
    found = await cassandra.read_each(_IS_LOOSE, [(bytes.fromhex(name),) for name in names])
    return {sha256.hex() for records in found for (sha256,) in records}


async def readable(pages: Pages, key: str, data: bytes, overflow: bytes) -> Page | None:
    """A stored page; None when it is damaged: then nothing is known of what it names."""
    try:
        return await pages.unpack(key, data, overflow)
    except Damaged:
        return None


def bodies_of(page: Page) -> set[bytes]:
    """The bodies that a page names."""
    return {bytes.fromhex(name) for name in (page.body, page.wire) if name}


def _held(page: Page | None, data: bytes, overflow: bytes) -> set[bytes]:
    """The bodies that a stored version needs: those that its page names, and what it overflowed to."""
    return (set() if page is None else bodies_of(page)) | (set() if data else {overflow})
