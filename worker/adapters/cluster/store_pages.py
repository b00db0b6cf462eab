"""Pages with their history, bodies and sketches in Cassandra."""

import asyncio
import hashlib
import io
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import BinaryIO, Final, NamedTuple

from cassandra.query import UNSET_VALUE

from gregor.schemas.messages import Page, decode, encode, url_fingerprint
from gregor.worker.adapters.cluster.cassandra_client import BoundValues, Cassandra, ResultRows
from gregor.worker.adapters.cluster.coalesce import Coalesced
from gregor.worker.adapters.compression import BodyVerifier, Compressor, decoded, decompressed, intact
from gregor.worker.borders.errors import Damaged
from gregor.worker.borders.reader import Similar
from gregor.worker.read.sketches import alike, keys_of

CHUNK: Final = 512 * 1024
"""Bytes of a body in a chunk, before compression."""

_LONGEST_PAGE: Final = 1 << 30  # bytes of a record, decompressed

# Pages of one template may share a key by thousands; they must not make every look-up slow.
_CANDIDATES: Final = 32
_CHECKED: Final = 16
# Sketches in one look-up, of six keys each.
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
_PUT_SKETCH: Final = """INSERT INTO sketches (found_by, id, key, visit, sketch) VALUES (?, ?, ?, ?, ?)
    USING TIMESTAMP ? AND TTL ?"""
_NEAR: Final = f"SELECT key, visit, sketch FROM sketches WHERE found_by IN ? PER PARTITION LIMIT {_CANDIDATES}"


class _Chunk(NamedTuple):
    """A chunk of a body, compressed. After one that is full there comes another, maybe without content."""

    data: bytes
    full: bool


class Pages:
    """The pages' part of `PageStore`. ``retention``: seconds that pages and bodies are kept; 0: for ever.

    A body that is stored again lives as long as the page that it came with.
    """

    def __init__(self, cassandra: Cassandra, retention: int = 0) -> None:
        self._cassandra = cassandra
        self._retention = retention
        self._near = Coalesced(self._candidates, _LOOKED_FOR)

    async def put(self, page: Page, body: BinaryIO | None, wire: BinaryIO | None, stamp: int) -> None:
        """Bodies are there before the page that names them; sketches too, since `near` looks for their page."""
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
        before += self.sketched(page, stamp, self._retention)
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
        return await self.whole_body(sha256, *records[0]) if records else None

    async def whole_body(self, sha256: bytes, chunks: int, data: bytes) -> BinaryIO | None:
        """`body`, of which the number of chunks and the first of them were read with others."""
        name = sha256.hex()
        if chunks == 1:
            return intact(name, _chunk(name, data))
        body = BodyVerifier(name)
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

    async def small_body(self, sha256: bytes) -> bytes | None:
        """A stored body of one chunk; None when it has more, is gone, or is not what its sha256 names."""
        for chunks, data in await self._cassandra.read(_BODY, (sha256,)):
            if chunks == 1:
                with suppress(ValueError):  # whoever asks for it alone is told
                    content = decompressed(data or b"", CHUNK)
                    return content if hashlib.sha256(content).digest() == sha256 else None
        return None

    def sketched(self, page: Page, stamp: int, left: int) -> list[tuple[str, BoundValues]]:
        """What is written so that a page is found by its sketch, for ``left`` seconds; 0: for ever.

        An exact duplicate is found by its content.
        """
        if not page.sketch or page.duplicate_of:
            return []
        rest = (signed(url_fingerprint(page.key)), page.key, page.visit, page.sketch, stamp, left)
        return [(_PUT_SKETCH, (key, *rest)) for key in keys_of(page.sketch)]

    async def near(self, sketch: bytes, least: float) -> str | None:
        """See `PageStore.near`; of those that are still stored."""
        likest = await self.similar(sketch, least, 1)
        return likest[0].key if likest else None

    async def similar(self, sketch: bytes, least: float, limit: int) -> list[Similar]:
        """See `Reader.similar`; those that are still stored, in the version that the sketch is of."""
        if not sketch:
            return []
        candidates = await self._near.ask(sketch)
        newest: dict[str, tuple[int, bytes]] = {}
        for key, visit, other in candidates:
            newest[key] = max(newest.get(key, (0, b"")), (visit, other))
        there: list[Similar] = []
        for key, share in alike(sketch, ((key, other) for key, (_, other) in newest.items()), least)[
            : _CHECKED * limit
        ]:
            if await self._cassandra.find(_EXISTS, (key,)) == [(newest[key][0],)]:
                there.append(Similar(key, share))
                if len(there) == limit:
                    break
        return there

    async def _candidates(self, sketches: Sequence[bytes]) -> list[ResultRows]:
        """Sketches, with their pages, that share a key with any of these; those of each."""
        keys = {key for sketch in sketches for key in keys_of(sketch)}
        found = await self._cassandra.read(_NEAR, (list(keys),))
        return [found] * len(sketches)

    async def _put_chunks(self, sha256: bytes, stream: BinaryIO, first: _Chunk) -> tuple[str, BoundValues]:
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
