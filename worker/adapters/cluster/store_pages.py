"""Pages with their history, bodies and simhashes in Cassandra."""

import asyncio
import hashlib
import io
import threading
from collections.abc import Sequence
from typing import BinaryIO, Final, NamedTuple

from cassandra.query import UNSET_VALUE

from gregor.schemas.messages import Page, decode, encode
from gregor.worker.adapters.cluster.cassandra_client import Cassandra, Found, Values
from gregor.worker.adapters.cluster.coalesce import Coalesced
from gregor.worker.adapters.compression import Compressor, Whole, decoded, decompressed, intact
from gregor.worker.borders.errors import Damaged
from gregor.worker.borders.reader import Similar
from gregor.worker.read.fingerprints import bands

CHUNK: Final = 512 * 1024
"""Bytes of a body in a chunk, before compression."""

_LONGEST_PAGE: Final = 1 << 30  # bytes of a record, decompressed

# In one band a flood of similar pages must not make every look-up slow; at a million pages it holds some 15 simhashes.
_CANDIDATES: Final = 1000
_CHECKED: Final = 16
# Simhashes in one look-up, of four bands each.
_LOOKED_FOR: Final = 8
# Bytes of a body up to which it is compressed where it is: it takes less than a way to a thread and back holds up.
_AT_ONCE: Final = 128 * 1024

_PUT_PAGE: Final = """INSERT INTO pages (key, visit, status, size, data, overflow) VALUES (?, ?, ?, ?, ?, ?)
    USING TIMESTAMP ? AND TTL ?"""
_PAGE: Final = "SELECT data, overflow FROM pages WHERE key = ? AND visit = ?"
_NEWEST: Final = "SELECT data, overflow FROM pages WHERE key = ? LIMIT 1"
_EXISTS: Final = "SELECT visit FROM pages WHERE key = ? LIMIT 1"
_PUT_BODY: Final = "INSERT INTO bodies (sha256, chunks, data) VALUES (?, ?, ?) USING TTL ?"
_PUT_CHUNK: Final = "INSERT INTO body_chunks (sha256, chunk, data) VALUES (?, ?, ?) USING TTL ?"
_BODY: Final = "SELECT chunks, data FROM bodies WHERE sha256 = ?"
_CHUNK: Final = "SELECT data FROM body_chunks WHERE sha256 = ? AND chunk = ?"
_PUT_SIMHASH: Final = "INSERT INTO simhashes (band, simhash, key) VALUES (?, ?, ?) USING TIMESTAMP ?"
_NEAR: Final = f"SELECT simhash, key FROM simhashes WHERE band IN ? PER PARTITION LIMIT {_CANDIDATES}"


class _Chunk(NamedTuple):
    """A chunk of a body, compressed. After one that is full there comes another, maybe without content."""

    data: bytes
    full: bool


class Pages:
    """The pages' part of `PageStore`. ``retention``: seconds that pages and bodies are kept; 0: for ever.

    A body that is stored again lives as long as the page that it came with. Simhashes stay.
    """

    def __init__(self, cassandra: Cassandra, retention: int = 0) -> None:
        self._cassandra = cassandra
        self._retention = retention
        self._near = Coalesced(self._candidates, _LOOKED_FOR)

    async def put(self, page: Page, body: BinaryIO | None, wire: BinaryIO | None, stamp: int) -> None:
        """Bodies are there before the page that names them; simhashes too, since `near` looks for their page."""
        streams = [(bytes.fromhex(name), stream) for name, stream in ((page.body, body), (page.wire, wire)) if stream]
        if page.size <= _AT_ONCE:
            data, firsts = _begin(page, [stream for _, stream in streams])
        else:
            data, firsts = await asyncio.to_thread(_begin, page, [stream for _, stream in streams])
        before = [
            await self._put_chunks(sha256, stream, first)
            for (sha256, stream), first in zip(streams, firsts, strict=True)
        ]
        overflow: object = UNSET_VALUE  # no tombstone: what is in data decides
        if len(data) > CHUNK:
            sha256, stream = hashlib.sha256(data).digest(), io.BytesIO(data)
            before.append(await self._put_chunks(sha256, stream, _next_chunk(stream)))
            data, overflow = b"", sha256
        if page.simhash:
            named = (signed(page.simhash), page.key, -int(page.fetched_at * 1e6))
            before += [(_PUT_SIMHASH, (band, *named)) for band in bands_of(page.simhash)]
        await self._cassandra.write_at_once(before)
        values = (page.key, page.visit, page.status, page.size, data, overflow, stamp, self._retention)
        await self._cassandra.write_at_once([(_PUT_PAGE, values)])

    async def page(self, key: str, visit: int | None) -> Page | None:
        """A version of a page; the newest for None."""
        if visit is None:
            records = await self._cassandra.find(_NEWEST, (key,))
        else:
            records = await self._cassandra.find(_PAGE, (key, visit))
        return await self.unpack(key, *records[0]) if records else None

    async def unpack(self, key: str, data: bytes, overflow: bytes) -> Page | None:
        """A page as it is stored; None when what it overflowed to is gone. ``overflow`` counts without data only.

        Raises `Damaged`.
        """
        if not data:
            stream = await self.body(overflow)
            if stream is None:
                return None
            with stream:
                data = stream.read()
        page = decoded("page", key, lambda: decode(decompressed(data, _LONGEST_PAGE), Page))
        if page.key != key:
            raise Damaged("page", key, "it is of another URL")
        return page

    async def body(self, sha256: bytes) -> BinaryIO | None:
        """A stored body from its beginning; a large one in an unnamed file. None when a part of it is gone.

        Raises `Damaged` when it is not what its sha256 names.
        """
        records = await self._cassandra.read(_BODY, (sha256,))
        if not records:
            return None
        chunks, data = records[0]
        name = sha256.hex()
        if chunks == 1:
            return intact(name, _chunk(name, data))
        body = Whole(name)
        try:
            await asyncio.to_thread(body.write, _chunk(name, data))
            for chunk in range(1, chunks or 0):
                records = await self._cassandra.read(_CHUNK, (sha256, chunk))
                if not records:
                    body.close()
                    return None
                await asyncio.to_thread(body.write, _chunk(name, records[0][0]))
        except BaseException:
            body.close()
            raise
        return body.opened()

    async def near(self, simhash: int, distance: int) -> str | None:
        """See `PageStore.near`; the nearest that is still stored. None for 0, the simhash of a page without text."""
        found = await self.similar(simhash, distance, 1)
        return found[0].key if found else None

    async def similar(self, simhash: int, distance: int, limit: int) -> list[Similar]:
        """See `Reader.similar`; those that are still stored."""
        if not simhash:
            return []
        apart = {((unsigned(other) ^ simhash).bit_count(), str(key)) for other, key in await self._near.ask(simhash)}
        there: list[Similar] = []
        for differing, key in sorted(apart)[: _CHECKED * limit]:
            if differing <= distance and await self._cassandra.find(_EXISTS, (key,)):
                there.append(Similar(key, differing))
                if len(there) == limit:
                    break
        return there

    async def _candidates(self, simhashes: Sequence[int]) -> list[Found]:
        """Simhashes, with their pages, that share a band with any of these: all of them for each."""
        found = await self._cassandra.read(_NEAR, ([band for simhash in simhashes for band in bands_of(simhash)],))
        return [found] * len(simhashes)

    async def _put_chunks(self, sha256: bytes, stream: BinaryIO, first: _Chunk) -> tuple[str, Values]:
        """Write a body's chunks after the first; gives what is to be written next, with the first, and completes it.

        Always anew: the same bytes under the same name, with the time to live of the newest page.
        """
        chunk, chunks = first, 1
        while chunk.full:
            chunk = await asyncio.to_thread(_next_chunk, stream)
            await self._cassandra.write(_PUT_CHUNK, (sha256, chunks, chunk.data, self._retention))
            chunks += 1
        return _PUT_BODY, (sha256, chunks, first.data, self._retention)


def signed(number: int) -> int:
    """An unsigned 64-bit number as Cassandra's bigint."""
    return number - (1 << 64) if number >> 63 else number


def unsigned(number: int) -> int:
    """The reverse."""
    return number & (1 << 64) - 1


def _begin(page: Page, streams: Sequence[BinaryIO]) -> tuple[bytes, list[_Chunk]]:
    """The page as it is stored, and the first chunk of each body: on a thread, since it compresses and reads files."""
    for stream in streams:
        stream.seek(0)
    return _compress(encode(page)), [_next_chunk(stream) for stream in streams]


def _next_chunk(stream: BinaryIO) -> _Chunk:
    data = stream.read(CHUNK)
    return _Chunk(_compress(data), len(data) == CHUNK)


class _Zstd(threading.local):
    """A compressor for each thread: it cannot be shared, and to make one for every page costs as much as a page."""

    def __init__(self) -> None:
        self.compressor = Compressor()


_ZSTD: Final = _Zstd()


def _compress(data: bytes) -> bytes:
    return _ZSTD.compressor.compress(data)


def _chunk(name: str, data: bytes | None) -> bytes:
    """A chunk of the body of this name. Raises `Damaged`."""
    return decoded("body", name, lambda: decompressed(data or b"", CHUNK))


def bands_of(simhash: int) -> list[int]:
    """The bands under which a simhash is found."""
    return [table << 16 | value for table, value in bands(simhash)]
