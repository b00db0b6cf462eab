"""Puts together what indexes a crawl, and what searches it."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from gregor.search.adapters import generations, host_ranks
from gregor.search.borders import IndexLost, NotAllowed, Unusable
from gregor.search.indexer import Indexer, IndexingProgress
from gregor.worker.adapters.when_there import when_there
from gregor.worker.base.cycles import look_seldom
from gregor.worker.base.errors import BadInput
from gregor.worker.base.tasks import first_of
from gregor.worker.borders.errors import TellDamage, Unavailable
from gregor.worker.compose.engine import engine_of
from gregor.worker.compose.index_folder import BOOK, FOLDER, INDEX, Latest, searchable
from gregor.worker.compose.index_metrics import counts, measured
from gregor.worker.config.api import address, is_loopback
from gregor.worker.config.settings import Config
from gregor.worker.observe.away import Away
from gregor.worker.observe.indexing import IndexStats
from gregor.worker.observe.logging import logs

if TYPE_CHECKING:
    from gregor.search.borders import Answer, Index
    from gregor.search.query import ParsedQuery

_log = logs("index")
_LOOK: Final = 0.5
"""Seconds between two looks for something new: no other process is told when a crawl stores a page."""
_FEW: Final = 50
"""When fewer things were new, the next look waits: each is a commit, which costs much the same for one and for many."""


def index_folder(config: Config) -> Path:
    """Where the index of a crawl is."""
    return Path(config.data) / FOLDER


async def index(
    config: Config,
    stop: asyncio.Event,
    enough: asyncio.Event,
    on_damage: TellDamage,
    stats: IndexStats,
    *,
    rebuild: bool,
    beside: bool = False,
) -> IndexingProgress:
    """Take in what a crawl stores, until there is nothing more after ``enough``, or until ``stop``.

    With ``rebuild`` into a new generation, which is searched once it has caught up. ``beside`` a crawl: an engine that
    is away at the start is waited for as long as the crawl runs. Raises `BadInput`.
    """
    if not config.on_one_machine:
        from gregor.worker.compose import search_cluster

        _has_nodes(config)
        return await search_cluster.index(config, stop, enough, on_damage, stats, rebuild=rebuild)
    away = Away()
    waits = Waits(inf if beside else config.start_timeout, lambda: stop.is_set() or (beside and enough.is_set()))
    while True:
        try:
            async with indexer_of(config, on_damage, rebuild=rebuild, stats=stats, waits=waits) as (indexer, use):
                async with measured(stats, *counts(indexer, stats)):
                    if rebuild:
                        await catch_up(indexer, stop)
                        if not stop.is_set():
                            use()
                    while not enough.is_set() and not stop.is_set():
                        if await _step(indexer, stats, away) < _FEW:
                            await first_of((stop, enough), _LOOK)
                    await catch_up(indexer, stop)
                return indexer.progress
        except IndexLost as lost:
            _log.warning("the index is made anew from the beginning", why=str(lost))
            await first_of((stop,), _LOOK)
        except Unusable as error:
            raise BadInput(str(error)) from None


async def forgotten(config: Config, on_damage: TellDamage, wait: float) -> bool:
    """Whether the index of a crawl, if there is one, has taken in all that was deleted up to now.

    If nobody follows the crawl, it is done here; else it is waited for, ``wait`` seconds at most.
    """
    if not config.on_one_machine:
        from gregor.worker.compose import search_cluster

        return not config.opensearch or await search_cluster.forgotten(config, on_damage, wait)
    folder = index_folder(config)
    generation = generations.current(folder)
    if generation is None:
        return True
    try:
        async with indexer_of(config, on_damage, rebuild=False) as (indexer, _):
            await catch_up(indexer, asyncio.Event())
            return True
    except generations.InUse:
        feed = await engine_of(config).feed(on_damage)
        try:
            end = await feed.end()
        finally:
            await feed.close()
        return await _reached(config, end, wait)


async def _step(indexer: Indexer, stats: IndexStats, away: Away) -> int:
    """A step; none where the engine is away, which is told: the next one begins where this one did."""
    begun = time.monotonic()
    try:
        count = await indexer.step()
    except (Unavailable, NotAllowed) as error:
        stats.failures += 1
        away.warn(error if isinstance(error, Unavailable) else Unavailable("OpenSearch", str(error)))
        return 0
    if count:
        stats.steps.observe(time.monotonic() - begun)
        away.back("OpenSearch")
    return count


async def catch_up(indexer: Indexer, stop: asyncio.Event) -> None:
    """Take in all that there is, or until ``stop``."""
    while not stop.is_set() and await indexer.step():
        pass


async def _reached(config: Config, position: int, wait: float) -> bool:
    loop = asyncio.get_running_loop()
    deadline = loop.time() + wait
    while loop.time() < deadline:
        index_of_it = opened(config)
        try:
            if index_of_it.position() >= position:
                return True
        finally:
            index_of_it.close()
        await asyncio.sleep(_LOOK)
    return False


async def serve(
    config: Config,
    stop: asyncio.Event,
    started: Callable[[str], None],
    on_damage: TellDamage,
    *,
    public: bool,
    on_answer: "Callable[[ParsedQuery, Answer], None] | None" = None,
) -> None:
    """Serve the search page until ``stop``; ``started`` gets its URL, ``on_answer`` what queries found.

    Raises `BadInput`.
    """
    from gregor.worker.api.search_app import application
    from gregor.worker.api.searching import Searching
    from gregor.worker.api.serving import served

    if not public and not is_loopback(address(config)[0]):
        raise BadInput(f"{config.listen} is reached by others: with --public whoever reaches it may search")
    _has_nodes(config)
    current = latest(config, asyncio.get_running_loop().time)
    assert current is not None
    reader, _ = await engine_of(config).read()
    reader.on_damage = on_damage
    try:
        current()
        searching = Searching(current, reader, on_answer=on_answer)
        async with served(application(searching, config, os.environ, public=public), config, stop.set) as url:
            look_seldom()
            started(url)
            await stop.wait()
    except Unusable as error:
        raise BadInput(str(error)) from None
    finally:
        await reader.close()


def latest(config: Config, clock: Callable[[], float]) -> "Callable[[], Index] | None":
    """What gives the index of a crawl as it was committed last; None where there cannot be one."""
    if config.opensearch:
        from gregor.worker.compose.opensearch import LatestOnNodes

        return LatestOnNodes(config, clock).now
    return Latest(index_folder(config), clock).now if config.on_one_machine else None


def _has_nodes(config: Config) -> None:
    if not config.on_one_machine and not config.opensearch:
        raise BadInput("a crawl on servers is indexed by OpenSearch: say where it is with the setting opensearch")


def opened(config: Config) -> "Index":
    """The index of a crawl as it was committed last, to be searched. Raises `Unusable`, `Unavailable`, `BadInput`."""
    if config.opensearch:
        from gregor.worker.compose.opensearch import searched

        return searched(config)
    _has_nodes(config)
    return searchable(index_folder(config))


class Waits(NamedTuple):
    """How long an engine that is away at the start is waited for: seconds, and what ends it sooner."""

    seconds: float
    over: Callable[[], bool]


@asynccontextmanager
async def indexer_of(
    config: Config, on_damage: TellDamage, *, rebuild: bool, stats: IndexStats | None = None, waits: Waits | None = None
) -> AsyncIterator[tuple[Indexer, Callable[[], None]]]:
    """What follows the crawl into the index, and what has the generation searched that it writes."""
    from gregor.search.adapters.book import PageBook
    from gregor.search.adapters.damage import usable

    folder = index_folder(config)
    engine = engine_of(config)
    feed = await engine.feed(on_damage)
    try:
        reader, urls = await engine.read()
        reader.on_damage = on_damage
        try:
            with generations.writing(folder):
                ranked = generations.before(folder)
                used = None if rebuild else generations.current(folder)
                waiting = waits or Waits(config.start_timeout, lambda: False)
                opening = _generation(config, used, stats or IndexStats(), waiting)
                async with opening as (generation, index_of_it, use):
                    with (
                        usable(generation / BOOK),
                        closing(index_of_it),
                        closing(PageBook(generation / BOOK, urls.key)) as book,
                    ):
                        if rebuild and ranked is not None:
                            book.keep_ranks(ranked / BOOK)
                            host_ranks.keep(ranked / BOOK, generation / BOOK)
                        if used is None and not rebuild:
                            use()  # it is searched while it grows
                        yield Indexer(feed, reader.page, book, index_of_it), use
        finally:
            await reader.close()
    finally:
        await feed.close()


@asynccontextmanager
async def _generation(
    config: Config, used: Path | None, stats: IndexStats, waits: Waits
) -> "AsyncIterator[tuple[Path, Index, Callable[[], None]]]":
    """The generation in use, or a new one; its index; and what has it searched."""
    folder = index_folder(config)
    if not config.opensearch:
        from gregor.search.adapters.tantivy_index import TantivyIndex

        generation = used or generations.next_one(folder)
        yield generation, TantivyIndex(generation / INDEX, writable=True), lambda: generations.use(generation)
        return
    from gregor.worker.compose.opensearch import Writing, letters

    crawl = await engine_of(config).identity()

    async def begun() -> Writing:
        try:
            return await asyncio.to_thread(Writing, config, crawl)
        except Unavailable as error:
            if waits.over():
                raise BadInput(str(error)) from None
            raise

    with await when_there(begun, waits.seconds, config) as writing:
        generation = used or generations.next_one(folder, writing.newest())
        number = int(generation.name)
        index = writing.open(number, letters(config, stats))

        def use() -> None:
            writing.use(number)
            generations.use(generation)

        if used is not None:
            use()  # a rebuild may have been cut short between the two
        yield generation, index, use
