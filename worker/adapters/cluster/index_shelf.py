"""`Shelf` in the crawl's Cassandra keyspace."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Final

import msgspec
import xxhash

from gregor.worker.adapters.cluster import known_ranks
from gregor.worker.adapters.cluster.cassandra_client import Cassandra
from gregor.worker.borders.shelf import ContentRank, Held, IndexedUrl, LinkWords, RankedLinks
from gregor.worker.links.known_ranks import RankSteps

_SLOTS: Final = 4
"""Pages of a host that are remembered for the same words of links to one target."""
_MOST: Final = 2000
"""Anchors of a target that are read."""

_NOTED: Final = "SELECT content, data, pending FROM index_pages WHERE key = ?"
_CONTENT: Final = "SELECT content, pending FROM index_pages WHERE key = ?"
_NOTE: Final = "INSERT INTO index_pages (key, content, data, pending) VALUES (?, ?, ?, ?) USING TIMESTAMP ?"
_FORGET: Final = "DELETE FROM index_pages USING TIMESTAMP ? WHERE key = ?"
_NOTE_LINKS: Final = "INSERT INTO index_links (key, host, links) VALUES (?, ?, ?) USING TIMESTAMP ?"
_FORGET_LINKS: Final = "DELETE FROM index_links USING TIMESTAMP ? WHERE key = ?"
_SOURCES: Final = "SELECT key, host, links FROM index_links"
_HOLD: Final = """INSERT INTO index_contents (content, key, visit, duplicate, depth) VALUES (?, ?, ?, ?, ?)
    USING TIMESTAMP ?"""
_LET_GO: Final = "DELETE FROM index_contents USING TIMESTAMP ? WHERE content = ? AND key = ?"
_HELD: Final = "SELECT key, visit, duplicate, depth FROM index_contents WHERE content = ?"
_LINK: Final = """INSERT INTO index_anchors (target, host, words, slot, text, source) VALUES (?, ?, ?, ?, ?, ?)
    USING TIMESTAMP ?"""
_SOURCE: Final = "SELECT source FROM index_anchors WHERE target = ? AND host = ? AND words = ? AND slot = ?"
_UNLINK: Final = """DELETE FROM index_anchors USING TIMESTAMP ?
    WHERE target = ? AND host = ? AND words = ? AND slot = ?"""
_ANCHORS: Final = "SELECT host, text FROM index_anchors WHERE target = ? LIMIT ?"
_EPOCH: Final = "SELECT epoch FROM index_owners WHERE partition = ?"
_OWN: Final = "INSERT INTO index_owners (partition, epoch) VALUES (?, ?)"
_KEYS: Final = "SELECT key FROM index_pages"
_STORED: Final = "SELECT DISTINCT key FROM pages"
_CONTENTS: Final = "SELECT key, content FROM index_pages"
_BUCKET: Final = "SELECT bucket FROM index_ranks WHERE content = ?"
_RANKED: Final = "SELECT content, rank, bucket, asked FROM index_ranks"
_RANK: Final = "INSERT INTO index_ranks (content, rank, bucket) VALUES (?, ?, ?)"
_RANK_ASKED: Final = "INSERT INTO index_ranks (content, asked) VALUES (?, ?)"
_UNRANK: Final = "DELETE FROM index_ranks WHERE content = ?"
_Links = list[tuple[str, int]]


class CassandraShelf:
    """`Shelf`."""

    def __init__(self, cassandra: Cassandra) -> None:
        self._cassandra = cassandra

    async def noted(self, key: str) -> IndexedUrl | None:
        for content, data, pending in await self._cassandra.read(_NOTED, (key,)):
            return IndexedUrl(content, msgspec.msgpack.decode(data, type=_Links), pending=pending or ())
        return None

    async def contents_of(self, keys: Sequence[str]) -> list[str]:
        answers = await self._cassandra.read_each(_CONTENT, [(key,) for key in keys]) if keys else []
        urls = [IndexedUrl(content, pending=pending or ()) for rows in answers for content, pending in rows]
        return list(dict.fromkeys(content for url in urls for content in url.contents()))

    async def note(self, key: str, noted: IndexedUrl, stamp: int) -> None:
        if noted.contents():
            data = msgspec.msgpack.encode(list(noted.links))
            if not noted.pending:
                await self._cassandra.write(_NOTE_LINKS, (key, noted.host, noted.ranked, stamp))
            await self._cassandra.write(_NOTE, (key, noted.content, data, list(noted.pending), stamp))
        else:
            await self._cassandra.write(_FORGET_LINKS, (stamp, key))
            await self._cassandra.write(_FORGET, (stamp, key))

    async def hold(self, content: str, held: Held, stamp: int) -> None:
        values = (content, held.key, held.visit, held.duplicate, held.depth, stamp)
        await self._cassandra.write(_HOLD, values)

    async def let_go(self, content: str, key: str, stamp: int) -> None:
        await self._cassandra.write(_LET_GO, (stamp, content, key))

    async def held(self, content: str) -> list[Held]:
        return [Held(*record) for record in await self._cassandra.read(_HELD, (content,))]

    async def link(self, source: str, host: str, added: Mapping[tuple[str, int], str], stamp: int) -> None:
        slot = _slot(source)
        values = [(target, host, words, slot, text, source, stamp) for (target, words), text in added.items()]
        await self._cassandra.write_each(_LINK, values)

    async def unlink(self, source: str, host: str, removed: Sequence[tuple[str, int]], stamp: int) -> None:
        places = [(target, host, words, _slot(source)) for target, words in removed]
        sources = await self._cassandra.read_each(_SOURCE, places) if places else []
        mine = [place for place, rows in zip(places, sources, strict=True) if rows == [(source,)]]
        await self._cassandra.write_each(_UNLINK, [(stamp, *place) for place in mine])

    async def anchors(self, keys: Sequence[str], limit: int) -> list[LinkWords]:
        answers = await self._cassandra.read_each(_ANCHORS, [(key, _MOST) for key in keys])
        said = dict.fromkeys((host, text) for rows in answers for host, text in rows)
        return [LinkWords(host, text) for host, text in said][: limit * len(keys)]

    async def epoch(self, partition: int) -> int:
        return max((epoch for (epoch,) in await self._cassandra.read(_EPOCH, (partition,))), default=0)

    async def own(self, partition: int, epoch: int) -> None:
        await self._cassandra.write(_OWN, (partition, epoch))

    async def bucket(self, content: str) -> int:
        return max((bucket or 0 for (bucket,) in await self._cassandra.read(_BUCKET, (content,))), default=0)

    async def contents(self) -> AsyncIterator[list[tuple[str, str]]]:
        """All URLs that are indexed, each with its content, some at a time."""
        async for rows in self._cassandra.pages(_CONTENTS):
            yield [(key, content) for key, content in rows if content]

    async def sources(self) -> AsyncIterator[list[RankedLinks]]:
        """The links of all URLs that are indexed, some at a time."""
        async for rows in self._cassandra.pages(_SOURCES):
            yield [RankedLinks(key, host or "", links or b"") for key, host, links in rows]

    async def know(self, pages: RankSteps, hosts: RankSteps, now: int) -> None:
        """Replace the steps by which a crawl orders its visits; unix milliseconds."""
        await known_ranks.put(self._cassandra, pages, hosts, now)

    async def ranks(self) -> AsyncIterator[list[ContentRank]]:
        """All ranks, some at a time."""
        async for rows in self._cassandra.pages(_RANKED):
            yield [ContentRank(content, rank or 0.0, bucket or 0, asked or 0) for content, rank, bucket, asked in rows]

    async def put_ranks(self, ranks: Sequence[ContentRank]) -> None:
        """Replace the ranks of contents, and not for which of them a document was asked."""
        await self._cassandra.write_each(_RANK, [(each.content, each.rank, each.bucket) for each in ranks])

    async def asked(self, ranks: Sequence[ContentRank]) -> None:
        """The documents of these ranks were asked for; those of no rank are forgotten."""
        await self._cassandra.write_each(_RANK_ASKED, [(each.content, each.bucket) for each in ranks if each.rank])
        await self._cassandra.write_each(_UNRANK, [(each.content,) for each in ranks if not each.rank])

    async def keys(self) -> AsyncIterator[list[str]]:
        """All URLs that are indexed, some at a time."""
        async for rows in self._cassandra.pages(_KEYS):
            yield [key for (key,) in rows]

    async def stored_keys(self) -> AsyncIterator[list[str]]:
        """All URLs of which a page is stored, some at a time."""
        async for rows in self._cassandra.pages(_STORED):
            yield [key for (key,) in rows]

    async def close(self) -> None:
        await self._cassandra.close()


def _slot(source: str) -> int:
    return xxhash.xxh3_64_intdigest(source.encode()) % _SLOTS
