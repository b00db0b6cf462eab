"""Puts together what indexes a crawl on servers: workers that share the partitions of its events, generations."""

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Final

from gregor.schemas.messages import DeadLetter, Page, Row
from gregor.search.adapters import opensearch_schema as schema
from gregor.search.adapters.opensearch_client import SERVICE, Client, Refused
from gregor.search.adapters.opensearch_schema import Generation
from gregor.search.borders import NotAllowed, Unusable
from gregor.search.indexer import IndexingProgress
from gregor.search.relay import Relay
from gregor.worker.adapters.cluster.index_engine import indexing
from gregor.worker.adapters.cluster.index_log import IndexLog
from gregor.worker.adapters.cluster.index_shelf import CassandraShelf
from gregor.worker.adapters.when_there import when_there
from gregor.worker.base.errors import BadInput
from gregor.worker.base.tasks import cancel
from gregor.worker.borders.errors import TellDamage, Unavailable
from gregor.worker.borders.shelf import Post
from gregor.worker.compose.index_generations import KNOWN, Generations
from gregor.worker.compose.index_metrics import Behind, measured
from gregor.worker.compose.index_worker import IndexWorker
from gregor.worker.compose.opensearch import nodes_of, shape_of
from gregor.worker.compose.process import SystemClock, worker_name
from gregor.worker.config.settings import Config
from gregor.worker.inspect.versions import undamaged
from gregor.worker.links.configured import canonical_rules, urls_of
from gregor.worker.observe.indexing import IndexStats
from gregor.worker.web.urls import Urls

_LOOK: Final = 0.3
_SLICE: Final = 1000
_ROUNDS: Final = 3
"""What is told is noted, then posted, then written."""


class Indexing:
    """What one process has open to index a crawl on servers."""

    def __init__(
        self, log: IndexLog, shelf: CassandraShelf, generations: Generations, worker: IndexWorker, urls: Urls
    ) -> None:
        self.log = log
        self.shelf = shelf
        self.generations = generations
        self.worker = worker
        self._urls = urls

    async def places(self) -> tuple[int, int]:
        """How much of what was told is taken in, and how much was told: records of both topics."""
        ends, committed = await self.log.ends(), await self.log.committed()
        return sum(min(committed[source], end) for source, end in ends.items()), sum(ends.values())

    async def tell(self, keys: Sequence[str], contents: Sequence[str] = ()) -> None:
        """Have URLs looked at once more, and the documents of contents written anew."""
        hosts = {key: _host_of(self._urls, key) for key in keys}
        for at in range(0, len(keys), _SLICE):
            await self.log.post([Post(look=key) for key in keys[at : at + _SLICE]], hosts)
        for at in range(0, len(contents), _SLICE):
            await self.log.post([Post(write=content) for content in contents[at : at + _SLICE]])

    async def caught_up(self, stop: asyncio.Event, index: str = "") -> None:
        """Until all that was told up to now is in the index (""; the one in use), whoever does it."""
        rounds = 0
        while rounds < _ROUNDS and not stop.is_set():
            ends = await self.log.ends()
            while not stop.is_set():
                committed = await self.log.committed()
                if all(committed[source] >= end for source, end in ends.items()):
                    break
                await asyncio.sleep(_LOOK)
            if await self._is_filled(index):
                rounds += 1
            else:  # all that is stored is still to be told
                rounds = 0
                await asyncio.sleep(_LOOK)

    async def _is_filled(self, index: str) -> bool:
        def asked() -> bool:
            return self.generations.is_filled(index or self.generations.current().index)

        try:
            return await asyncio.to_thread(asked)
        except (Unavailable, NotAllowed):
            return False


@asynccontextmanager
async def indexing_of(
    config: Config, on_damage: TellDamage, stats: IndexStats, *, rebuild: bool = False
) -> AsyncIterator[Indexing]:
    """Connect; with ``rebuild`` the index in use may be one that this version cannot write. Raises `BadInput`,
    `Unusable`."""
    canonical = canonical_rules(config).fingerprint()
    urls = urls_of(config)
    async with AsyncExitStack() as stack:
        parts = await indexing(config, canonical, worker_name(), SystemClock(), os.environ, stack)
        reader, shelf = parts.reader, parts.shelf
        reader.on_damage = on_damage
        loop, letters = asyncio.get_running_loop(), parts.letters

        def put_letter(letter: DeadLetter) -> None:
            stats.refused += 1
            asyncio.run_coroutine_threadsafe(letters.put_dead_letter(letter), loop).result()

        generations = await asyncio.to_thread(Generations, config, parts.crawl_id, put_letter)

        async def page_of(key: str, visit: int | None) -> Page | None:
            return await undamaged(reader, reader.page(key, visit))

        async def row_of(key: str) -> Row | None:
            return await undamaged(reader, reader.row(key))

        def key_of(url: str) -> str | None:
            parsed = urls.parse(url)
            return None if parsed is None else parsed.key

        worker = IndexWorker(
            parts.coordinator,
            parts.log,
            shelf,
            lambda: Relay(shelf, page_of, row_of, key_of),
            generations.write,
            stats,
        )

        async def current() -> Generation:
            return await asyncio.to_thread(generations.current)

        async def usable() -> Generation | None:
            try:
                return await current()
            except NotAllowed:
                raise
            except Unusable:
                if not rebuild:
                    raise
                return None

        async def first() -> None:
            try:
                generation = await usable()
                if generation is None or await asyncio.to_thread(generations.is_filled, generation.index):
                    return
                await _tell_all(opened)
                await asyncio.to_thread(generations.filled, generation.index)
            except (NotAllowed, Refused) as error:  # who asks, or what is there, may be set right meanwhile
                raise Unavailable(SERVICE, str(error)) from None

        async def refill() -> None:
            await asyncio.to_thread(generations.unfilled)

        opened = Indexing(parts.log, shelf, generations, worker, urls)
        worker.first, worker.refill = first, refill
        await when_there(usable, config.start_timeout, config)
        yield opened


async def index(
    config: Config,
    stop: asyncio.Event,
    enough: asyncio.Event,
    on_damage: TellDamage,
    stats: IndexStats,
    *,
    rebuild: bool,
) -> IndexingProgress:
    """Take in what a crawl tells, as one of any number, until ``stop``, or nothing more is told after ``enough``.

    With ``rebuild`` into a new generation, which is searched once it has caught up. Raises `BadInput`.
    """
    try:
        async with indexing_of(config, on_damage, stats, rebuild=rebuild) as opened, _measured(opened, stats):
            ended = asyncio.Event()
            working = asyncio.create_task(opened.worker.run(ended))
            doing = asyncio.create_task(_until_done(config, opened, stop, enough, rebuild=rebuild))
            try:
                await asyncio.wait([working, doing], return_when=asyncio.FIRST_COMPLETED)
                for task in (doing, working):
                    if task.done():
                        task.result()
            finally:
                ended.set()
                await asyncio.wait([working])
                await cancel([doing])
            return IndexingProgress(stats.changes, stats.documents, stats.removed)
    except Unusable as error:
        raise BadInput(str(error)) from None


def _measured(opened: Indexing, stats: IndexStats) -> AbstractAsyncContextManager[None]:
    async def behind() -> Behind:
        by_source = await opened.log.lag()
        left = dict.fromkeys(opened.worker.owned(), 0)
        for (_, number), count in by_source.items():
            if number in left:
                left[number] += count
        return Behind(opened.log.by_kind(by_source), left, opened.worker.told_at)

    return measured(stats, lambda: None, behind)


async def _until_done(
    config: Config, opened: Indexing, stop: asyncio.Event, enough: asyncio.Event, *, rebuild: bool
) -> None:
    if rebuild:
        await _rebuild(config, opened, stop)
    either = [asyncio.ensure_future(event.wait()) for event in (stop, enough)]
    await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
    await cancel(either)
    if not stop.is_set():
        await opened.caught_up(stop)
        await asyncio.to_thread(opened.generations.client.ask, "POST", f"/{opened.generations.shape.alias}/_refresh")


async def _rebuild(config: Config, opened: Indexing, stop: asyncio.Event) -> None:
    """A new generation beside the one in use: all workers write both, all that is stored is told of once more, and when
    that has been taken in the new one is searched."""
    generations = opened.generations
    client, shape = generations.client, generations.shape
    made = await asyncio.to_thread(generations.next)
    await asyncio.to_thread(schema.prepare, client, shape, made)
    await asyncio.sleep(2 * KNOWN)  # until every worker knows of it
    await _tell_all(opened)
    await asyncio.to_thread(generations.filled, made.index)
    await opened.caught_up(stop, made.index)
    if not stop.is_set():
        await asyncio.to_thread(schema.use, client, shape, made)
        await asyncio.to_thread(schema.delete_others, client, shape, made)


async def taken_in(config: Config, on_damage: TellDamage) -> None:
    """Until all that was told up to now is in the index; this process takes part."""
    enough = asyncio.Event()
    enough.set()
    await index(config, asyncio.Event(), enough, on_damage, IndexStats(), rebuild=False)


async def forgotten(config: Config, on_damage: TellDamage, wait: float) -> bool:
    """Whether the index, if there is one, has taken in all that was deleted up to now.

    Taken in here too, beside whoever follows the crawl; ``wait`` seconds at most.
    """
    client, shape = await asyncio.to_thread(lambda: (Client(nodes_of(config)), shape_of(config)))
    if await asyncio.to_thread(schema.current, client, shape) is None:
        return True
    try:
        async with asyncio.timeout(wait):
            await taken_in(config, on_damage)
    except TimeoutError:
        return False
    return True


async def _tell_all(opened: Indexing) -> None:
    """Have all URLs looked at of which a page is stored, or something is remembered."""
    for keys in (opened.shelf.stored_keys(), opened.shelf.keys()):
        async for some in keys:
            await opened.tell(some)


def _host_of(urls: Urls, key: str) -> str:
    parsed = urls.parse(key)
    return key if parsed is None else parsed.host
