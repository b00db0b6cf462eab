"""Puts together what compares an index with the store, and mends it, whichever engines keep them."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from gregor.search.adapters import generations
from gregor.search.borders import Unusable
from gregor.search.comparing import ComparingProgress, Comparison, Difference
from gregor.worker.adapters.differences import Differences
from gregor.worker.base.errors import BadInput
from gregor.worker.borders.changes import UrlChange
from gregor.worker.borders.errors import Damaged, TellDamage
from gregor.worker.borders.reader import Reader
from gregor.worker.compose.engine import engine_of
from gregor.worker.compose.index_folder import BOOK
from gregor.worker.compose.search import catch_up, index_folder, indexer_of, opened
from gregor.worker.config.settings import Config

if TYPE_CHECKING:
    from gregor.search.borders import Index

_LOOK: Final = 0.2
_IDLE: Final = 5.0
"""Seconds without a change taken in after which nobody is taken to follow the crawl."""
_LONGEST: Final = 60.0
"""Seconds for which who follows the crawl is waited for."""

IndexReach = Callable[[], Awaitable[tuple[int, int]]]
"""How far the index is, and how far the crawl, in changes."""
MendDifferences = Callable[[Sequence[Difference]], Awaitable[None]]


class Following:
    """Waits for who follows the crawl, if anybody does."""

    def __init__(self, places: IndexReach) -> None:
        self._places = places
        self._nobody = False
        self.behind = 0
        """Changes that were not taken in when it was waited for last."""

    async def __call__(self) -> None:
        loop = asyncio.get_running_loop()
        at, end = await self._places()
        begun = moved = loop.time()
        while at < end and not self._nobody:
            await asyncio.sleep(_LOOK)
            before, (at, _) = at, await self._places()
            moved = loop.time() if at != before else moved
            self._nobody = loop.time() - moved > _IDLE or loop.time() - begun > _LONGEST
        self.behind = max(0, end - at)


class Comparing:
    """What `gregor check --index` asks."""

    def __init__(self, comparison: Comparison, following: Following, mend: MendDifferences) -> None:
        self.comparison = comparison
        self.mend = mend
        """Writes anew what differs, and takes out what is not stored any more."""
        self._following = following

    @property
    def behind(self) -> int:
        """Changes of the crawl that the index has not taken in, and nobody does."""
        return self._following.behind


@asynccontextmanager
async def comparing(config: Config, progress: ComparingProgress, on_damage: TellDamage) -> AsyncIterator[Comparing]:
    """Open index and store. Raises `BadInput`, `Unavailable`."""
    try:
        await asyncio.to_thread(lambda: opened(config).close())  # nothing is made where there is no index
        if config.on_one_machine:
            async with _in_folder(config, progress, on_damage) as parts:
                yield parts
        else:
            async with _on_servers(config, progress, on_damage) as parts:
                yield parts
    except Unusable as error:
        raise BadInput(str(error)) from None


@asynccontextmanager
async def _in_folder(config: Config, progress: ComparingProgress, on_damage: TellDamage) -> AsyncIterator[Comparing]:
    from gregor.search.adapters.damage import check_whole

    generation = generations.current(index_folder(config))
    if generation is not None and not config.opensearch:
        await asyncio.to_thread(check_whole, generation / BOOK)
    engine = engine_of(config)
    feed = await engine.feed(on_damage)
    try:
        reader, _ = await engine.read()
        reader.on_damage = on_damage

        async def places() -> tuple[int, int]:
            end = await feed.end()
            return await asyncio.to_thread(_position, config), end

        async def mend(differences: Sequence[Difference]) -> None:
            try:
                async with indexer_of(config, on_damage, rebuild=False) as (indexer, _):
                    await catch_up(indexer, asyncio.Event())
                    keys = dict.fromkeys(difference.key for difference in differences if difference.key)
                    as_they_are = [await _as_it_is(reader, key) for key in keys]
                    await indexer.mend(as_they_are, [each.content for each in differences if each.content])
            except generations.InUse as error:
                raise BadInput(f"the index is mended while nobody follows the crawl: {error}") from None

        try:
            following = Following(places)
            comparison = Comparison(reader, lambda: opened(config), following, Differences, progress)
            yield Comparing(comparison, following, mend)
        finally:
            await reader.close()
    finally:
        await feed.close()


@asynccontextmanager
async def _on_servers(config: Config, progress: ComparingProgress, on_damage: TellDamage) -> AsyncIterator[Comparing]:
    from gregor.worker.compose import search_cluster
    from gregor.worker.observe.indexing import IndexStats

    async with search_cluster.indexing_of(config, on_damage, IndexStats()) as parts:
        reader, _ = await engine_of(config).read()
        reader.on_damage = on_damage

        async def mend(differences: Sequence[Difference]) -> None:
            keys = dict.fromkeys(difference.key for difference in differences if difference.key)
            contents = dict.fromkeys(difference.content for difference in differences if difference.content)
            await parts.tell(list(keys), list(contents))
            await search_cluster.taken_in(config, on_damage)

        try:
            following = Following(parts.places)
            comparison = Comparison(reader, lambda: _refreshed(config), following, Differences, progress)
            yield Comparing(comparison, following, mend)
        finally:
            await reader.close()


def _position(config: Config) -> int:
    index = opened(config)
    try:
        return index.position()
    finally:
        index.close()


def _refreshed(config: Config) -> "Index":
    """The index with all that was acknowledged."""
    from gregor.worker.compose.opensearch import searched

    index = searched(config, patient=True)
    index.refresh()
    return index


async def _as_it_is(reader: Reader, key: str) -> UrlChange:
    """How a URL stands; what is damaged is not there."""
    try:
        return UrlChange(0, key, await reader.page(key), await reader.row(key))
    except Damaged as damage:
        reader.on_damage(damage)
        return UrlChange(0, key, None, None)
