"""Redis from Cassandra: what has a row or an entry is marked again, and stored contents get their owners back.

It only adds what is true at any time, so it may run beside workers, in several processes, and again. The work is cut
into shares, ranges of Cassandra's tokens and the crawl's partitions; several are read at once, so that while one waits
for an answer another uses the processor. Which are done stands in Redis itself: what makes Redis forget the marks makes
it forget that they were made.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Final, NamedTuple

from msgspec import Struct

from gregor.schemas.messages import Page, url_fingerprint
from gregor.worker.adapters.cluster.cassandra_client import Cassandra, ResultRows
from gregor.worker.adapters.cluster.coalesce import Coalesced
from gregor.worker.adapters.cluster.contents import Contents, number_of
from gregor.worker.adapters.cluster.redis_client import RedisClient, RedisCommand
from gregor.worker.adapters.cluster.redis_contents import Claim, RedisContents
from gregor.worker.adapters.cluster.seen import RedisSeen
from gregor.worker.adapters.cluster.store_backlogs import Backlogs
from gregor.worker.adapters.cluster.store_calendar import Calendars
from gregor.worker.adapters.cluster.store_pages import Pages, unsigned
from gregor.worker.adapters.cluster.tokens import RANGES, bounds
from gregor.worker.base.tasks import cancel
from gregor.worker.borders.errors import Damaged
from gregor.worker.borders.reader import WHOLE, Part

_AT_ONCE: Final = 16
"""Shares that are worked on at a time."""
_KEPT: Final = 86400
"""Seconds after which an unfinished rebuild is begun anew rather than gone on with."""
_FETCHED: Final = 2000
_FEW_PAGES: Final = 32
_CHUNKS: Final = 32

_ROWS: Final = "SELECT key FROM rows WHERE token(key) > ? AND token(key) <= ?"
_CONTENTS: Final = """SELECT fingerprint, owner, key FROM contents
    WHERE token(fingerprint) > ? AND token(fingerprint) <= ?"""
_PAGES: Final = (
    """SELECT key, data, overflow FROM pages WHERE token(key) > ? AND token(key) <= ? PER PARTITION LIMIT 1"""
)
_WHOLE: Final = "SELECT value FROM facts WHERE name = 'contents'"
_NOW_WHOLE: Final = "INSERT INTO facts (name, value) VALUES ('contents', ?)"
ASKED_FOR: Final = ("new", "retry", "revisit")


class WorkShare(NamedTuple):
    """A share of the work: of a table or of what waits, and a token range or a partition."""

    kind: str
    number: int

    @property
    def name(self) -> str:
        """As it stands in Redis when it is done."""
        return f"{self.kind} {self.number}"


class Rebuilt(Struct):
    """How far it is. ``before``: shares that were done when it began."""

    shares: int
    before: int = 0
    done: int = 0
    urls: int = 0
    contents: int = 0

    @property
    def left(self) -> int:
        """Shares that are not done."""
        return self.shares - self.before - self.done


class Rebuilding:
    """A rebuild of a part of a crawl: one of several that run at once, on one machine or many, or all of it."""

    def __init__(
        self,
        cassandra: Cassandra,
        client: RedisClient,
        crawl: str,
        partitions: int,
        retention: int = 0,
        part: Part = WHOLE,
    ) -> None:
        self._cassandra = cassandra
        self._claimants = Contents(cassandra, retention)
        self._seen = RedisSeen(client, crawl, self._claimants)
        self._contents = RedisContents(client, crawl)
        self._claims: Coalesced[list[Claim], None] = Coalesced(self._claim_all, _AT_ONCE, 2)
        self._client = client
        self._crawl = crawl
        self._key = f"{{{crawl}}}:rebuilt"
        self._partitions = partitions
        self._part = part
        self._pages = Pages(cassandra)
        self._does: dict[str, Callable[[int, Rebuilt], Awaitable[None]]] = {
            "rows": self._rows,
            "contents": self._owners,
            "pages": self._old_pages,
            "waiting": self._waiting,
        }

    async def forget(self) -> None:
        """Whatever was done is to be done again."""
        await self._client.write([RedisCommand(self._key, ("DEL", self._key))])

    async def run(self, tell: Callable[[Rebuilt], None]) -> Rebuilt:
        """Do what is left to do; ``tell`` hears of each share that is done.

        Raises `Unavailable`: what was done by then need not be done again.
        """
        packed = bool(await self._cassandra.read(_WHOLE))
        everything = list(self._shares(packed, WHOLE))
        mine = list(self._shares(packed, self._part))
        done = await self._done_shares()
        todo = [share for share in mine if share.name not in done]
        how_far = Rebuilt(len(mine), len(mine) - len(todo))
        shares = iter(todo)
        work = [asyncio.create_task(self._work(shares, how_far, tell)) for _ in range(_AT_ONCE)]
        try:
            await asyncio.gather(*work)
        finally:
            await cancel(work)
        if {share.name for share in everything} <= await self._done_shares():
            if not packed:
                await self._client.forget(f"{self._crawl}:c:*")  # who owned contents before they were packed
                await self._cassandra.write(_NOW_WHOLE, ("whole",))
            await self.forget()
        return how_far

    def _shares(self, packed: bool, part: Part) -> Iterator[WorkShare]:
        """All of a part. The contents of a crawl of an earlier version are read from its pages, once."""
        for kind in ("rows", "contents" if packed else "pages"):
            yield from (WorkShare(kind, number) for number in part.of(RANGES))
        yield from (WorkShare("waiting", number) for number in part.of(self._partitions))

    async def _done_shares(self) -> set[str]:
        (names,) = await self._client.read([RedisCommand(self._key, ("SMEMBERS", self._key))])
        return {name.decode() for name in names}

    async def _work(self, shares: Iterator[WorkShare], how_far: Rebuilt, tell: Callable[[Rebuilt], None]) -> None:
        for share in shares:
            await self._does[share.kind](share.number, how_far)
            done, kept = ("SADD", self._key, share.name), ("EXPIRE", self._key, str(_KEPT))
            await self._client.write([RedisCommand(self._key, done), RedisCommand(self._key, kept)])
            how_far.done += 1
            tell(how_far)

    async def _rows(self, number: int, how_far: Rebuilt) -> None:
        async for found in self._cassandra.pages(_ROWS, bounds(number), _FETCHED):
            await self._mark([key for (key,) in found], how_far)

    async def _mark(self, keys: Sequence[str], how_far: Rebuilt) -> None:
        await self._seen.mark([url_fingerprint(key) for key in keys])
        how_far.urls += len(keys)

    async def _owners(self, number: int, how_far: Rebuilt) -> None:
        async for records in self._cassandra.pages(_CONTENTS, bounds(number), _FETCHED):
            claims = []
            for fingerprint, claimants in groupby(records, itemgetter(0)):
                rivals = list(claimants)
                if len(rivals) > 1:  # two claimed it at once, and one lost
                    rivals = await self._owning(rivals) or rivals
                claims.append(Claim(fingerprint, unsigned(rivals[0][1])))
            await self._claims.ask(claims)
            how_far.contents += len(claims)

    async def _claim_all(self, shares: list[list[Claim]]) -> list[None]:
        """Those of several shares at once: the more go together, the more of them lie in one bucket of Redis, which is
        then read and written once."""
        await self._contents.claim([claim for claims in shares for claim in claims])
        return [None] * len(shares)

    async def _owning(self, rivals: ResultRows) -> ResultRows:
        """Those whose page was not told to be a duplicate."""
        pages = [await self._read(self._pages.page(key, None)) for _, _, key in rivals]
        return [rival for rival, page in zip(rivals, pages, strict=True) if page is not None and not page.duplicate_of]

    async def _old_pages(self, number: int, how_far: Rebuilt) -> None:
        async for records in self._cassandra.pages(_PAGES, bounds(number), _FEW_PAGES):
            pages = await asyncio.gather(
                *(self._read(self._pages.unpack(key, data, overflow)) for key, data, overflow in records)
            )
            owning = [page for page in pages if page is not None and page.fingerprint and not page.duplicate_of]
            await asyncio.gather(*(self._claimants.put(page.fingerprint, page.key) for page in owning))
            await self._contents.claim([Claim(page.fingerprint, number_of(page.key)) for page in owning])
            how_far.contents += len(owning)

    async def _read(self, reading: Awaitable[Page | None]) -> Page | None:
        """A stored page; None when it is damaged: then it owns nothing."""
        try:
            return await reading
        except Damaged:
            return None

    async def _waiting(self, partition: int, how_far: Rebuilt) -> None:
        async for keys in self._entries(partition):
            await self._mark(keys, how_far)

    async def _entries(self, partition: int) -> AsyncIterator[list[str]]:
        """The keys of what the calendar and the backlogs of a partition hold."""
        calendars, backlogs = Calendars(self._cassandra), Backlogs(self._cassandra)
        async for buckets in calendars.all_buckets(partition):
            read = [calendars.read(partition, bucket) for bucket in buckets]
            tickets = [ticket for some in await asyncio.gather(*read) for ticket in some]
            yield [ticket.key for ticket in tickets if ticket.kind in ASKED_FOR]
        async for chunks in backlogs.all_chunks_together(partition, _CHUNKS):
            read = [backlogs.read(partition, host, chunk) for host, chunk in chunks]
            tickets = [ticket for some in await asyncio.gather(*read) for ticket in some]
            yield [ticket.key for ticket in tickets if ticket.kind in ASKED_FOR]
