"""The engine in one data folder as a worker has it open, alone or as one of several processes."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from gregor.worker.adapters import embedded
from gregor.worker.base.tasks import beside
from gregor.worker.borders.addresses import AddressTurns
from gregor.worker.borders.clock import Clock
from gregor.worker.borders.reader import Reader
from gregor.worker.compose.kept import take_up
from gregor.worker.compose.process import SystemClock
from gregor.worker.config.settings import Config
from gregor.worker.config.sources import Settings
from gregor.worker.frontier.ahead import MARGIN, days
from gregor.worker.links.configured import canonical_rules
from gregor.worker.links.known_ranks import HighestRanks

if TYPE_CHECKING:  # heavy: each method loads what it alone needs
    from gregor.worker.compose.staleness import StaleUrls
    from gregor.worker.run.runtime import Runtime


class OpenFolder:
    """The engine as one worker has it open; see `OpenEngine`."""

    def __init__(
        self,
        path: Path,
        engine: embedded.EmbeddedEngine,
        stale_after: float | None = None,
        addresses: AddressTurns | None = None,
        *,
        visits_again: bool = False,
        partitions: int = 1,
    ) -> None:
        """``stale_after``: None where stale URLs are kept, or another process drops them; ``addresses``: where several
        processes have the folder."""
        self._stale_after, self._visits_again, self._partitions = stale_after, visits_again, partitions
        self.addresses = addresses
        self._engine = engine
        self.stored = engine.stored
        self.log, self.seen, self.store, self.coordinator = engine.log, engine.seen, engine.store, engine.coordinator
        self.settler = engine.settler
        self.close = engine.close
        self._set_back = engine.set_back
        self._path = path

    async def reader(self, stack: AsyncExitStack) -> Reader:
        """A connection of its own, which writes nothing."""
        return await stack.enter_async_context(reading(self._path))

    def members(self, runtime: "Runtime", clock: Clock) -> None:
        """Nobody else."""

    @asynccontextmanager
    async def housekeeping(
        self, runtime: "Runtime", api: str, measure: Callable[[list[str]], None]
    ) -> AsyncIterator[None]:
        """What the folder holds is counted once; nobody else adds to it."""
        runtime.stats.before = await counted(self._path)
        async with AsyncExitStack() as stack:
            if (stale := await self.stale(stack)) is not None:
                await stack.enter_async_context(beside(stale.keep(SystemClock.monotonic)))
            yield

    async def stale(self, stack: AsyncExitStack) -> "StaleUrls | None":
        """What drops stale URLs; None where they are kept."""
        if (after := self._stale_after) is None:
            return None
        from gregor.worker.adapters.embedded.dropping import collect
        from gregor.worker.compose.staleness import LOOSE_FOR, StaleUrls
        from gregor.worker.run.ending import has_ended

        path, reader, now = self._path, await self.reader(stack), self.coordinator.now
        collecting = partial(asyncio.to_thread, collect, path, min(LOOSE_FOR, after))
        return StaleUrls(
            after,
            log=self.log,
            reader=reader,
            now=now,
            collect=collecting,
            visits_again=self._visits_again,
            has_ended=partial(has_ended, self.log, self.store, self._partitions),
        )

    async def known_ranks(self, seen: int) -> HighestRanks | None:
        """Those of the index in the folder, if there is one."""
        from gregor.worker.compose import index_folder  # heavy: search

        return await asyncio.to_thread(index_folder.known_ranks, self._path, seen)

    async def go_on(self, settings: Settings, tell: Callable[[str], None]) -> int:
        """They are kept in the folder."""
        now = self.coordinator.now()
        if self._set_back:
            tell(
                f"the dates of this crawl were {days(self._set_back)} ahead of this machine's clock, which "
                "was ahead in an earlier run: they have been set back by as much"
            )
        if (ahead := now - SystemClock().wall()) > MARGIN:
            tell(
                f"the dates of this crawl are {days(ahead)} ahead of this machine's clock, which was ahead "
                "in an earlier run: they go on from there, since a crawl's time never goes back; `gregor check --mend` "
                "sets them right"
            )
        return await take_up(settings, lambda: reading(self._path), self.log, now, tell)

    @property
    def lock(self) -> int:
        """See `EmbeddedEngine.lock`."""
        return self._engine.lock


async def opened(
    config: Config,
    *,
    shared: bool = False,
    place: embedded.ProcessPlace | None = None,
    addresses: AddressTurns | None = None,
) -> OpenFolder:
    """Open it, for one process, for the one that begins several (``shared``), or for one of these (``place``).

    Raises `FolderInUse`, `FolderError`, `DiskFull`.
    """
    path, canonical = Path(config.data), canonical_rules(config).fingerprint()
    engine = await embedded.open_engine(
        path, config.partitions, canonical, SystemClock(), config.bucket_width, shared=shared, place=place
    )
    drops = place is None or place.number == 0  # one of several is enough
    stale_after, again = config.stale_after if drops else None, config.revisit is not None
    return OpenFolder(path, engine, stale_after, addresses, visits_again=again, partitions=config.partitions)


@asynccontextmanager
async def reading(path: Path) -> AsyncIterator[embedded.EmbeddedReader]:
    """A data folder, read beside a running crawl or after it."""
    reader = await embedded.open_reader(path)
    try:
        yield reader
    finally:
        await reader.close()


async def counted(path: Path) -> dict[str, int]:
    async with reading(path) as reader:
        return await reader.settled()
