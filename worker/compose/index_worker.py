"""A worker of an index on servers: owns partitions by leases, as workers of the crawl do, and takes in what is told."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from datetime import datetime
from itertools import count
from typing import Final

from gregor.schemas.messages import stamp
from gregor.search.adapters.opensearch_writer import version_of
from gregor.search.documents import IndexedDocument
from gregor.search.relay import Relay
from gregor.worker.adapters.cluster.index_log import IndexLog, LogOffsets
from gregor.worker.base.tasks import cancel
from gregor.worker.borders.coordinator import Coordinator, Lease
from gregor.worker.borders.errors import Unavailable
from gregor.worker.borders.shelf import Post, Shelf, UrlToIndex
from gregor.worker.observe.away import Away
from gregor.worker.observe.indexing import IndexStats
from gregor.worker.observe.logging import logs

_log = logs("index")
_EVENTS: Final = 200
_POSTS: Final = 500
_LOOK: Final = 0.3
"""Seconds between two looks where nothing was new, and between two looks at who owns what."""
_LONGEST_PAUSE: Final = 10.0
_CHECKED: Final = 10.0
"""Seconds between two looks whether the index is there, and filled."""


WriteDocuments = Callable[[dict[str, IndexedDocument | None], int], None]
"""Writes documents by contents (None: remove), as of a version; acknowledged when it returns. Waits."""


class IndexLeaseOver(Exception):
    """The lease may be over: nothing more is done under it."""


class IndexWorker:
    """Owns what the coordinator wants it to."""

    def __init__(
        self,
        coordinator: Coordinator,
        log: IndexLog,
        shelf: Shelf,
        relay: Callable[[], Relay],
        write: WriteDocuments,
        stats: IndexStats,
    ) -> None:
        """``relay`` makes one for an owned partition."""
        self._coordinator = coordinator
        self._log = log
        self._shelf = shelf
        self._relay = relay
        self._write = write
        self._owned: dict[int, tuple[Lease, asyncio.Task[None]]] = {}
        self.stats = stats
        self.told_at: dict[int, float] = {}
        """When the last event was told that was taken in of a partition that is owned (unix seconds)."""
        self.first: Callable[[], Awaitable[None]] | None = None
        """What the owner of the first partition does before all else, and from time to time."""
        self.refill: Callable[[], Awaitable[None]] | None = None
        """Has all that is stored told anew, since something that was told is there no more."""
        self._away = Away()

    async def run(self, stop: asyncio.Event) -> None:
        """Until ``stop``. Raises what ended a partition's work, or the coordinator."""
        try:
            while not stop.is_set():
                try:
                    await self._coordinator.join()
                    await self._own()
                except Unavailable as error:
                    self._warn(error)
                changed = asyncio.create_task(self._coordinator.changed())
                waiting = [changed, asyncio.create_task(stop.wait())]
                await asyncio.wait(waiting, timeout=_LOOK, return_when=asyncio.FIRST_COMPLETED)
                if changed.done():
                    changed.result()
                await cancel(waiting)
        finally:
            async with AsyncExitStack() as ending:  # whatever one of these raises, the others are done
                ending.push_async_callback(self._coordinator.leave)
                for number in list(self._owned):
                    ending.push_async_callback(self._drop, number)

    def owned(self) -> list[int]:
        """The partitions that it owns now."""
        return list(self._owned)

    async def _own(self) -> None:
        wanted = self._coordinator.wanted()
        for number, (lease, task) in list(self._owned.items()):
            if task.done() or not lease.holds() or number not in wanted:
                await self._drop(number)
        for number in sorted(wanted - self._owned.keys()):
            taken = await self._coordinator.acquire(number, await self._shelf.epoch(number))
            if taken is not None:
                self._owned[number] = taken, asyncio.create_task(self._work(taken))
        self.stats.partitions = len(self._owned)

    async def _drop(self, number: int) -> None:
        lease, task = self._owned.pop(number)
        self.told_at.pop(number, None)
        await cancel([task])
        try:
            await self._coordinator.release(lease)  # whatever ended the work: the next owner need not wait for its end
        except Unavailable as error:
            self._warn(error)
        if not task.cancelled() and (ended := task.exception()) is not None and not isinstance(ended, IndexLeaseOver):
            raise ended

    async def _work(self, lease: Lease) -> None:
        """Take in what is told in a partition, as long as the lease holds; again while a server is away."""
        pause, counter = _LOOK, count(1)  # of one owner: what it writes again is above what it wrote before
        while True:
            try:
                await self._shelf.own(lease.partition, lease.epoch)
                await _PartitionWork(self, lease, counter).run()
            except Unavailable as error:
                self._warn(error)
                self.stats.failures += 1
                await asyncio.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)

    def _warn(self, error: Unavailable) -> None:
        self._away.warn(error)


class _PartitionWork:
    """The work on an owned partition, from where it was committed."""

    def __init__(self, worker: IndexWorker, lease: Lease, counter: Iterator[int]) -> None:
        self._worker = worker
        self._lease = lease
        self._relay = worker._relay()
        self._counter = counter
        self._places = LogOffsets(0, 0)

    async def run(self) -> None:
        log, number = self._worker._log, self._lease.partition
        self._places = await log.start(number)
        looked, acknowledged = float("-inf"), LogOffsets(-1, -1)
        while True:
            before, begun = self._places, time.monotonic()
            if number == 0 and self._worker.first is not None and begun - looked > _CHECKED:
                await self._worker.first()
                looked = begun
            notices, after, at = await log.events(number, before.events, _EVENTS)
            posts, last = await log.posts(number, before.posts, _POSTS)
            looks = [UrlToIndex(post.look) for _, post in posts if post.look]
            if notices or looks:
                await self._note([*notices, *looks])
                self._worker.stats.changes += len(notices)
                if at:
                    self._worker.told_at[number] = datetime.fromisoformat(at).timestamp()
            if log.has_lost and self._worker.refill is not None:
                await self._worker.refill()
                log.has_lost = False
            if contents := {post.write: offset for offset, post in posts if post.write}:
                await self._write(list(contents), max(contents.values()))
            self._places = LogOffsets(after, last)
            if self._places == acknowledged:
                await asyncio.sleep(_LOOK)
            else:  # where it begins, too: what is kept no more is not waited for
                self._held()
                self._worker.stats.steps.observe(time.monotonic() - begun)
                await log.commit(number, self._places, self._lease.epoch)
                acknowledged = self._places

    async def _note(self, notices: list[UrlToIndex]) -> None:
        self._held()
        await self._relay.note(notices, self._stamp, self._post)

    async def _post(self, posts: list[Post]) -> None:
        self._held()
        await self._worker._log.post(posts)

    async def _write(self, contents: list[str], offset: int) -> None:
        documents: dict[str, IndexedDocument | None] = {}
        await self._relay.write(contents, documents.__setitem__)
        self._held()
        await asyncio.to_thread(self._worker._write, documents, version_of(self._lease.epoch, offset))
        self._worker._away.back("OpenSearch")
        gone = sum(made is None for made in documents.values())
        self._worker.stats.removed += gone
        self._worker.stats.documents += len(documents) - gone

    def _stamp(self) -> int:
        return stamp(self._lease.epoch, next(self._counter))

    def _held(self) -> None:
        if not self._lease.holds():
            raise IndexLeaseOver
