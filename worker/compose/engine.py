"""What remembers a crawl: one protocol, two implementations, and the only place that asks which one runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from gregor.worker.config.settings import Config

if TYPE_CHECKING:  # whoever opens one engine need not load all that any command asks of it
    import asyncio
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
    from contextlib import AbstractAsyncContextManager, AsyncExitStack

    from gregor.schemas.messages import DeadLetter
    from gregor.worker.adapters.cluster.rebuild import Rebuilt
    from gregor.worker.borders.addresses import AddressTurns
    from gregor.worker.borders.changes import ChangeFeed
    from gregor.worker.borders.clock import Clock
    from gregor.worker.borders.coordinator import Coordinator
    from gregor.worker.borders.errors import TellDamage
    from gregor.worker.borders.items import ItemWriter
    from gregor.worker.borders.log import FrontierLog
    from gregor.worker.borders.members import ClusterStatus, FolderStatus, Members
    from gregor.worker.borders.reader import Part, Reader
    from gregor.worker.borders.seen import SeenSet
    from gregor.worker.borders.settlement import Settler
    from gregor.worker.borders.stock import Mending, Stock
    from gregor.worker.borders.store import PageStore
    from gregor.worker.compose.findings import Finding
    from gregor.worker.compose.staleness import StaleUrls
    from gregor.worker.config.sources import Settings
    from gregor.worker.links.known_ranks import HighestRanks
    from gregor.worker.operate.control import Control
    from gregor.worker.operate.erase import Erased, HowFar
    from gregor.worker.operate.sketching import Sketched
    from gregor.worker.orders.model import Change, Orders
    from gregor.worker.run.runtime import Runtime  # heavy: who only reads needs no worker
    from gregor.worker.web.urls import Urls


class CrawlPlace(NamedTuple):
    """Where a crawl is, for people; whether its pages are counted as they are stored."""

    name: str
    counted: bool


class Prepared(NamedTuple):
    """A line for each thing that was made, and for each that was there already and had to be looked at."""

    made: list[str]
    checked: list[str]


class OpenEngine(Protocol):
    """An engine as a worker has it open, until `close`."""

    @property
    def log(self) -> FrontierLog: ...
    @property
    def seen(self) -> SeenSet: ...
    @property
    def store(self) -> PageStore: ...
    @property
    def coordinator(self) -> Coordinator: ...
    @property
    def addresses(self) -> AddressTurns | None: ...
    @property
    def settler(self) -> Settler | None:
        """None where log, seen set and store share no transaction."""

    async def reader(self, stack: AsyncExitStack) -> Reader:
        """What reads beside the worker, until ``stack`` is closed."""

    def members(self, runtime: Runtime, clock: Clock) -> Callable[[], Awaitable[Members]] | None:
        """What says who else runs this crawl; None where nobody can."""

    def housekeeping(
        self, runtime: Runtime, api: str, measure: Callable[[list[str]], None]
    ) -> AbstractAsyncContextManager[None]:
        """What is done beside the crawl, as long as it runs.

        ``api``: the URL at which the worker's API listens, "" if it does not; ``measure`` gets the hosts of the seeds.
        """

    async def stale(self, stack: AsyncExitStack) -> StaleUrls | None:
        """What asks to drop stale URLs, until ``stack`` is closed; None where they are kept."""

    async def known_ranks(self, seen: int) -> HighestRanks | None:
        """How the highest pages and hosts are ranked; None where that is as it was when ``made`` was ``seen``."""

    async def go_on(self, settings: Settings, tell: Callable[[str], None]) -> int:
        """Go on with what is there under these settings, and keep them where they belong to the crawl.

        Publishes what they let in that was turned down before, and gives how many URLs; ``tell`` hears of that.
        """

    async def close(self) -> None:
        """Finish what was called, end all leases and connections. May be repeated."""


class Engine(Protocol):
    """What remembers the crawl of a configuration. Made without touching anything; each method opens what it needs.

    All raise `BadInput` for what the settings cannot be used for, and `Unavailable` while a server is away.
    """

    @property
    def place(self) -> CrawlPlace:
        """Where the crawl is."""

    def there(self) -> None:
        """Raises `BadInput` when it can be seen at once that there is no crawl."""

    def workers(self) -> set[str] | None:
        """The names of the workers that run; None where nobody can say. Waits, so it is not for an event loop."""

    def orders(self) -> Orders:
        """The operator's orders, read where the crawl keeps them. Waits, so it is not for an event loop."""

    def changes(self, before: int, limit: int) -> list[Change]:
        """The record of changes: see `Coordinator.changes`. Waits, so it is not for an event loop."""

    def change_orders(self, change: Callable[[Orders], Orders]) -> Orders:
        """Change the orders, whether the crawl runs or not; its workers hear of it. Waits as `orders` does."""

    async def open(self, *, listening: bool = False) -> OpenEngine:
        """Open it for a worker; ``listening``: the API says meanwhile what is waited for."""

    async def read(self) -> tuple[Reader, Urls]:
        """What the crawl remembers, beside its workers or after them, and how its URLs are written."""

    async def feed(self, on_damage: TellDamage) -> ChangeFeed:
        """What the crawl stores, changes and removes, and what it holds already. Raises `BadInput` on servers."""

    async def identity(self) -> str:
        """A random text that no other crawl has, made with the crawl."""

    def put_letter(self, letter: DeadLetter) -> None:
        """Keep a dead letter of what follows the crawl, beside its workers. Waits. Raises `BadInput` on servers."""

    def controlled(self, *, make: bool = False) -> AbstractAsyncContextManager[Control]:
        """Change a crawl beside its workers; on one machine, while none runs. ``make`` it if it is not there."""

    async def stock(self) -> Stock:
        """What is stored, as it lies there, for a check of it."""

    async def mending(self) -> Mending:
        """What mends what a check found; on one machine, while no crawl runs."""

    async def items(self) -> ItemWriter:
        """What puts items that were made anew with the stored pages, beside the crawl's workers."""

    async def erase(self, target: str, tell: HowFar) -> Erased:
        """Delete what the crawl has of a host or domain, beside its workers; ``tell``: how far it is, on any thread."""

    async def rebuild_near(self, part: Part, tell: Callable[[Sketched], None]) -> Sketched:
        """Make the sketches that pages of earlier versions lack, of a part, beside workers; ``tell``: how far it is."""

    async def serve_console(self, name: str, clock: Clock, stop: asyncio.Event, started: Callable[[str], None]) -> None:
        """Serve the console and the API, being no worker, until ``stop``; ``started`` gets its URL."""

    async def counted(self) -> dict[str, int]:
        """URLs by state, "pages", "pages_200" and "bytes", where they are `CrawlPlace.counted`; else nothing."""

    async def status(self) -> FolderStatus | ClusterStatus:
        """How the crawl stands."""

    async def init(self) -> Prepared:
        """Set a crawl up on its servers. Raises `BadInput` without servers."""

    def rebuild_seen(
        self, part: Part, processes: int, tell: Callable[[Part, Rebuilt], None], *, anew: bool
    ) -> list[Rebuilt]:
        """Mark in the seen set what the store knows, or a part of it, in so many processes; what each of them did.

        ``tell``, a function of a module, hears in each process how far it is; ``anew``: whatever an earlier run has
        done. Waits, so it is not for an event loop. Raises `BadInput` without servers.
        """

    def joinable(self) -> None:
        """Raises `BadInput` unless several workers can join the crawl."""

    def check(self, environ: Mapping[str, str]) -> None:
        """Raises `BadInput` if a setting that the engine reads cannot be used."""

    def examine(self, environ: Mapping[str, str]) -> AsyncIterator[Finding]:
        """What could keep the engine from working here."""


def engine_of(config: Config) -> Engine:
    """The engine that a configuration names."""
    if config.engine == "cluster":
        from gregor.worker.compose.cluster import Cluster  # the clients of four servers: only when needed

        return Cluster(config)
    from gregor.worker.compose.embedded import Embedded

    return Embedded(config)
