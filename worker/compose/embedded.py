"""The engine in one data folder: no server, one process at a time, whoever reads beside it aside."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gregor.schemas.messages import DeadLetter
from gregor.worker.adapters import embedded
from gregor.worker.adapters.embedded.folder import connect_reading, is_in_use
from gregor.worker.base.errors import BadInput, Occupied
from gregor.worker.borders.changes import ChangeFeed
from gregor.worker.borders.clock import Clock
from gregor.worker.borders.errors import Damaged, TellDamage
from gregor.worker.borders.items import ItemWriter
from gregor.worker.borders.members import FolderStatus
from gregor.worker.borders.reader import WHOLE, Part, Reader
from gregor.worker.borders.stock import Mending, Stock
from gregor.worker.compose.engine import CrawlPlace, Prepared
from gregor.worker.compose.findings import Finding, disk
from gregor.worker.compose.kept import take_up
from gregor.worker.compose.process import SystemClock
from gregor.worker.config.settings import Config, replace
from gregor.worker.config.sources import Settings
from gregor.worker.links.configured import canonical_rules
from gregor.worker.links.known_ranks import HighestRanks
from gregor.worker.orders.model import Change, Orders
from gregor.worker.web.canonical import CanonicalRules
from gregor.worker.web.urls import Urls

if TYPE_CHECKING:  # heavy: each method loads what it alone needs
    from gregor.worker.adapters.cluster.rebuild import Rebuilt
    from gregor.worker.operate.control import Control
    from gregor.worker.operate.erase import Erased
    from gregor.worker.operate.sketching import Sketched
    from gregor.worker.run.runtime import Runtime

_AHEAD: Final = 3600.0  # seconds, more than summer time and drift


class OpenFolder:
    """The engine as one worker has it open; see `OpenEngine`."""

    def __init__(self, path: Path, engine: embedded.EmbeddedEngine) -> None:
        self.log, self.seen, self.store, self.coordinator = engine.log, engine.seen, engine.store, engine.coordinator
        self.close = engine.close
        self._set_back = engine.set_back
        self._path = path

    async def reader(self, stack: AsyncExitStack) -> Reader:
        """A connection of its own, which writes nothing."""
        return await stack.enter_async_context(_reading(self._path))

    def members(self, runtime: "Runtime", clock: Clock) -> None:
        """Nobody else."""

    @asynccontextmanager
    async def housekeeping(
        self, runtime: "Runtime", api: str, measure: Callable[[list[str]], None]
    ) -> AsyncIterator[None]:
        """What the folder holds is counted once; nobody else adds to it."""
        runtime.stats.before = await _counted(self._path)
        yield

    async def known_ranks(self, seen: int) -> HighestRanks | None:
        """Those of the index in the folder, if there is one."""
        from gregor.worker.compose import index_folder  # heavy: search, and numpy with it

        return await asyncio.to_thread(index_folder.known_ranks, self._path, seen)

    async def go_on(self, settings: Settings, tell: Callable[[str], None]) -> int:
        """They are kept in the folder."""
        now = self.coordinator.now()
        if self._set_back:
            tell(
                f"the dates of this crawl were {self._set_back / 86400:.1f} days ahead of this machine's clock, which "
                "was ahead in an earlier run: they have been set back by as much"
            )
        if (ahead := now - SystemClock().wall()) > _AHEAD:
            tell(
                f"the dates of this crawl are {ahead / 86400:.1f} days ahead of this machine's clock, which was ahead "
                "in an earlier run: they go on from there, since a crawl's time never goes back; `gregor check --mend` "
                "sets them right"
            )
        return await take_up(settings, lambda: _reading(self._path), self.log, now, tell)


class Embedded:
    """A crawl in the folder that the setting ``data`` names; see `Engine`."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._path = Path(config.data)

    @property
    def place(self) -> CrawlPlace:
        return CrawlPlace(self._config.data, counted=True)

    def there(self) -> None:
        self._made_for()

    def workers(self) -> set[str] | None:
        """Where one runs, only its API can say which."""
        return None if is_in_use(self._path) else set()

    def orders(self) -> Orders:
        return embedded.standing_orders(self._path)

    def changes(self, before: int, limit: int) -> list[Change]:
        return embedded.recorded_changes(self._path, before, limit)

    def change_orders(self, change: Callable[[Orders], Orders]) -> Orders:
        return embedded.change_orders(self._path, change)

    async def open(self, *, listening: bool = False) -> OpenFolder:
        """Nothing is waited for. Raises `FolderInUse`, `FolderError`, `DiskFull`."""
        return await self._open(self._config)

    async def _open(self, config: Config) -> OpenFolder:
        canonical = canonical_rules(config).fingerprint()
        engine = await embedded.open_engine(
            self._path, config.partitions, canonical, SystemClock(), config.bucket_width
        )
        return OpenFolder(self._path, engine)

    async def read(self) -> tuple[Reader, Urls]:
        _, urls = self._made_for()
        return await embedded.open_reader(self._path), urls

    async def feed(self, on_damage: TellDamage) -> ChangeFeed:
        self.there()
        return await asyncio.to_thread(embedded.EmbeddedFeed, self._path, on_damage)

    async def identity(self) -> str:
        return embedded.identity(self._path)

    def put_letter(self, letter: DeadLetter) -> None:
        embedded.put_letter(self._path, letter)

    @asynccontextmanager
    async def controlled(self, *, make: bool = False) -> "AsyncIterator[Control]":
        from gregor.worker.operate.control import Control

        config = self._config if make else self._made_for()[0]
        async with AsyncExitStack() as stack:
            try:
                engine = await self._open(config)
            except embedded.FolderInUse as error:
                raise Occupied(f"{error}; or name the API of that process with --api") from None
            stack.push_async_callback(engine.close)
            yield Control(engine.log, engine.store, engine.coordinator, await engine.reader(stack))

    async def stock(self) -> Stock:
        from gregor.worker.adapters.embedded.stock import EmbeddedStock

        return EmbeddedStock(self._path, self._made_for()[0].partitions)

    async def mending(self) -> Mending:
        from gregor.worker.adapters.embedded.mending import EmbeddedMending

        config, _ = self._made_for()
        canonical = canonical_rules(config).fingerprint()
        try:
            return EmbeddedMending(self._path, config.partitions, canonical, config.bucket_width)
        except embedded.FolderInUse as error:
            raise BadInput(f"{error}; to check beside it, leave --mend out") from None

    async def items(self) -> ItemWriter:
        from gregor.worker.adapters.embedded.item_writer import EmbeddedItems

        self.there()
        return EmbeddedItems(self._path)

    async def erase(self, target: str) -> "Erased":
        from gregor.worker.adapters.embedded.erasing import erase
        from gregor.worker.operate.erase import Whose

        _, urls = self._made_for()
        return await asyncio.to_thread(erase, self._path, Whose.of(target, urls))

    async def rebuild_near(self, part: Part, tell: "Callable[[Sketched], None]") -> "Sketched":
        if part != WHOLE:
            raise BadInput("--part shares the work of a crawl on servers; a data folder is one part")
        from gregor.worker.adapters.embedded.sketching import resketch

        return await asyncio.to_thread(resketch, self._path, tell)

    async def serve_console(self, name: str, clock: Clock, stop: asyncio.Event, started: Callable[[str], None]) -> None:
        """Beside a crawl or after it: the folder is taken only while something is changed that is no order."""
        from gregor.worker.api.archive import StoredCrawl
        from gregor.worker.api.folder_backend import FolderBackend, serve
        from gregor.worker.api.kept_rows import KeptRows
        from gregor.worker.compose import record_indexes
        from gregor.worker.compose.search import latest
        from gregor.worker.operate.control import FolderControl

        config, urls = self._made_for()
        async with _reading(self._path) as reader:
            archive = StoredCrawl(reader, urls, config, latest(config, clock.monotonic), record_indexes.latest(config))
            book = embedded.FolderBook(self._path, clock)
            control = FolderControl(book, self.controlled)
            backend = FolderBackend(
                name,
                config,
                book,
                clock,
                archive,
                control,
                settled=reader.settled,
                lag=reader.lag,
                stop=stop.set,
                kept=KeptRows(reader),
            )
            await serve(self._config, backend, stop, started)

    async def counted(self) -> dict[str, int]:
        return await _counted(self._path)

    async def status(self) -> FolderStatus:
        async with _reading(self._path) as reader:
            return FolderStatus({**await reader.settled(), "lag": await reader.lag()})

    async def init(self) -> Prepared:
        raise _without_servers()

    def rebuild_seen(
        self, part: Part, processes: int, tell: "Callable[[Part, Rebuilt], None]", *, anew: bool
    ) -> "list[Rebuilt]":
        raise _without_servers()

    def joinable(self) -> None:
        raise _without_servers()

    def check(self, environ: Mapping[str, str]) -> None:
        """Every setting that can be read can be used."""

    async def examine(self, environ: Mapping[str, str]) -> AsyncIterator[Finding]:
        from gregor.worker.compose import index_folder, opensearch_findings

        for finding in (self._folder(), disk(self._path), *index_folder.examine(self._path / index_folder.FOLDER)):
            yield finding
        async for finding in opensearch_findings.examine(self._config, environ):
            yield finding

    def _made_for(self) -> tuple[Config, Urls]:
        """The configuration with what the data folder was made for, and how its URLs are written."""
        connection, facts = connect_reading(self._path)
        connection.close()
        rules = CanonicalRules.of_fingerprint(facts["canonical"])
        config = replace(
            self._config,
            partitions=int(facts["partitions"]),
            bucket_width=float(facts["bucket_width"]),
            canonical=[name for name in rules.__struct_fields__ if getattr(rules, name)],
        )
        return config, Urls(rules, max_length=config.max_url_length)

    def _folder(self) -> Finding:
        path = self._path
        if not path.exists():
            parent = next(folder for folder in path.absolute().parents if folder.exists())
            if os.access(parent, os.W_OK | os.X_OK):
                return Finding("ok", "data folder", f"{path} will be made")
            return Finding("fail", "data folder", f"{path} cannot be made: {parent} cannot be written")
        if not os.access(path, os.W_OK | os.X_OK):
            return Finding("fail", "data folder", f"{path} cannot be written")
        if not any(path.iterdir()):
            return Finding("ok", "data folder", f"{path} is empty")
        try:
            self.orders()
        except (BadInput, Damaged) as error:
            return Finding("fail", "data folder", str(error))
        return Finding("ok", "data folder", f"{path} holds a crawl")


@asynccontextmanager
async def _reading(path: Path) -> AsyncIterator[embedded.EmbeddedReader]:
    """A data folder, read beside a running crawl or after it."""
    reader = await embedded.open_reader(path)
    try:
        yield reader
    finally:
        await reader.close()


async def _counted(path: Path) -> dict[str, int]:
    async with _reading(path) as reader:
        return await reader.settled()


def _without_servers() -> BadInput:
    return BadInput('this command is for a crawl on servers: set engine = "cluster" and the addresses of the servers')
