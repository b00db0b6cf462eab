"""The engine in one data folder: no server, one process at a time, whoever reads beside it aside."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from gregor.schemas.messages import DeadLetter
from gregor.worker.adapters import embedded
from gregor.worker.adapters.embedded.folder import connect_reading, is_in_use
from gregor.worker.base.errors import BadInput, Occupied
from gregor.worker.borders.changes import ChangeFeed
from gregor.worker.borders.clock import Clock
from gregor.worker.borders.errors import TellDamage
from gregor.worker.borders.items import ItemWriter
from gregor.worker.borders.members import FolderStatus
from gregor.worker.borders.reader import WHOLE, Part, Reader
from gregor.worker.borders.stock import Mending, Stock
from gregor.worker.compose.engine import CrawlPlace, Prepared
from gregor.worker.compose.findings import Finding, data_folder, disk
from gregor.worker.compose.open_folder import OpenFolder, counted, opened, reading
from gregor.worker.config.settings import Config, replace
from gregor.worker.links.configured import canonical_rules
from gregor.worker.orders.model import Change, Orders
from gregor.worker.web.canonical import CanonicalRules
from gregor.worker.web.urls import Urls

if TYPE_CHECKING:  # heavy: each method loads what it alone needs
    from gregor.worker.adapters.cluster.rebuild import Rebuilt
    from gregor.worker.operate.control import Control
    from gregor.worker.operate.erase import Erased, HowFar
    from gregor.worker.operate.sketching import Sketched


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
        return await opened(self._config)

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
                engine = await opened(config)
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

    async def erase(self, target: str, tell: "HowFar") -> "Erased":
        from gregor.worker.adapters.embedded.erasing import erase
        from gregor.worker.operate.erase import Looked, Whose

        _, urls = self._made_for()
        return await asyncio.to_thread(erase, self._path, Whose.of(target, urls), Looked(tell))

    async def rebuild_near(self, part: Part, tell: "Callable[[Sketched], None]") -> "Sketched":
        if part != WHOLE:
            raise BadInput("--part shares the work of a crawl on servers; a data folder is one part")
        from gregor.worker.adapters.embedded.sketching import resketch

        return await asyncio.to_thread(resketch, self._path, tell)

    async def serve_console(self, name: str, clock: Clock, stop: asyncio.Event, started: Callable[[str], None]) -> None:
        """Beside a crawl or after it: the folder is taken only while something is changed that is no order."""
        from gregor.worker.api.folder_backend import FolderBackend, serve
        from gregor.worker.api.kept_rows import KeptRows
        from gregor.worker.compose.stored_crawl import stored_crawl
        from gregor.worker.operate.control import FolderControl

        config, _ = self._made_for()
        async with reading(self._path) as reader:
            archive = stored_crawl(config, reader, clock)
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
        return await counted(self._path)

    async def status(self) -> FolderStatus:
        async with reading(self._path) as reader:
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

        path = self._path
        of_index = index_folder.examine(path / index_folder.FOLDER)
        for finding in (data_folder(path, self.orders), disk(path), *of_index):
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


def _without_servers() -> BadInput:
    return BadInput('this command is for a crawl on servers: set engine = "cluster" and the addresses of the servers')
