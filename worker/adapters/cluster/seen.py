"""The seen set in Redis: 64-bit fingerprints of URLs, and who owns a content."""

import os
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Final, Self

from gregor.schemas.messages import Page, Row, url_fingerprint
from gregor.worker.adapters.cluster.redis_client import Command, RedisClient
from gregor.worker.adapters.cluster.redis_scripts import MARK, SEEN, Script, content_key, group_key, group_of, pack
from gregor.worker.borders.reader import Waiting
from gregor.worker.borders.seen import SeenSet
from gregor.worker.config.servers import Servers

# Redis does nothing else while a script runs: some milliseconds at most.
_LONGEST_SCRIPT: Final = 2000
_REBUILD_BATCH: Final = 10_000
_YES: Final = ord("1")


class RedisSeen:
    """`SeenSet`. Any number of fingerprints is one round trip (to each node of a cluster)."""

    def __init__(self, client: RedisClient, crawl: str, retention: int = 0) -> None:
        """``crawl`` is the crawl's random id: a crawl that is made anew sees nothing of the one before.

        ``retention``: seconds that a page is kept, and so long it owns its content; 0: for ever.
        """
        self._client = client
        self._crawl = crawl
        self._retention = retention

    @classmethod
    async def open(cls, servers: Servers, crawl: str, environ: Mapping[str, str] = os.environ) -> Self:
        """Connect and check. Raises `Unavailable`, BadInput when Redis is set up to lose what is stored."""
        client = RedisClient(servers, environ)
        opened = cls(client, crawl, servers.cassandra_retention)
        try:
            await client.check()
            await opened.probe()
        except BaseException:
            await client.close()
            raise
        return opened

    async def probe(self) -> None:
        """See that this user may do what a crawl does, beside what this one has. Raises `Unavailable`."""
        beside = RedisSeen(self._client, f"probe:{self._crawl}")
        await beside.mark([0])
        await beside.seen([0])
        await beside.claim(b"", "probe")
        await beside.disown(b"", "probe")

    async def seen(self, fingerprints: Sequence[int]) -> list[bool]:
        if not fingerprints:
            return []
        shares = self._shares(fingerprints)
        answers = await self._client.read([self._call(SEEN, share) for share in shares])
        known: dict[int, bool] = {}
        for share, answer in zip(shares, answers, strict=True):
            known.update(zip(share, (bit == _YES for bit in answer), strict=True))
        return [known[fingerprint] for fingerprint in fingerprints]

    async def mark(self, fingerprints: Sequence[int]) -> None:
        if fingerprints:
            await self._client.write([self._call(MARK, share) for share in self._shares(fingerprints)])

    async def content(self, fingerprint: bytes) -> str | None:
        key = content_key(self._crawl, fingerprint)
        (owner,) = await self._client.read([Command(key, ("GET", key))])
        return None if owner is None else owner.decode()

    async def claim(self, fingerprint: bytes, key: str) -> str:
        place = content_key(self._crawl, fingerprint)
        expiry = ("EX", str(self._retention)) if self._retention else ()
        claim, look = ("SET", place, key.encode(), "NX", *expiry), ("GET", place)
        claimed, owner = await self._client.write([Command(place, claim), Command(place, look)])
        if expiry and not claimed and owner == key.encode():  # it was stored anew, and is kept for as long again
            await self._client.write([Command(place, ("EXPIRE", place, str(self._retention)))])
        return key if owner is None else owner.decode()

    async def disown(self, fingerprint: bytes, key: str) -> None:
        """The page that owns a content is deleted. Nobody can claim it between the look and the delete."""
        if await self.content(fingerprint) == key:
            place = content_key(self._crawl, fingerprint)
            await self._client.write([Command(place, ("DEL", place))])

    async def close(self) -> None:
        await self._client.close()

    def _call(self, script: Script, share: Sequence[int]) -> Command:
        return Command(group_key(self._crawl, group_of(share[0])), (self._crawl, pack(share)), script)

    def _shares(self, fingerprints: Sequence[int]) -> list[Sequence[int]]:
        """The fingerprints for one script call each: of one group, where groups may be on different nodes."""
        if not self._client.split:
            return [fingerprints[at : at + _LONGEST_SCRIPT] for at in range(0, len(fingerprints), _LONGEST_SCRIPT)]
        groups: dict[int, list[int]] = {}
        for fingerprint in fingerprints:
            groups.setdefault(group_of(fingerprint), []).append(fingerprint)
        return list(groups.values())


async def rebuild(
    seen: SeenSet, rows: AsyncIterator[Row], entries: AsyncIterator[Waiting], pages: AsyncIterator[Page]
) -> int:
    """Mark what has a row or an entry, and give stored contents their owners; how many marks. Runs beside workers.

    It only adds what is true at any time: a row or an entry exists, a page is stored. May be repeated.
    """
    marked = 0
    batch: list[int] = []

    async def flush(least: int) -> int:
        if len(batch) < least:
            return 0
        await seen.mark(batch)
        done = len(batch)
        batch.clear()
        return done

    async for row in rows:
        batch.append(url_fingerprint(row.key))
        marked += await flush(_REBUILD_BATCH)
    async for waiting in entries:
        if waiting.place != "log" and waiting.ticket.kind in ("new", "retry", "revisit"):
            batch.append(url_fingerprint(waiting.ticket.key))
            marked += await flush(_REBUILD_BATCH)
    marked += await flush(1)
    async for page in pages:
        if page.fingerprint and not page.duplicate_of:
            await seen.claim(page.fingerprint, page.key)
    return marked
