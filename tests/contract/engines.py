"""The engines that the contract suite runs over. An engine is added here, and nowhere else."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final, Protocol

from gregor.worker.adapters.embedded import open_engine, open_reader
from gregor.worker.borders.clock import Clock
from gregor.worker.borders.coordinator import Coordinator
from gregor.worker.borders.log import FrontierLog
from gregor.worker.borders.reader import Reader
from gregor.worker.borders.seen import SeenSet
from gregor.worker.borders.settlement import Settler
from gregor.worker.borders.store import PageStore
from tests.simulation.contract import SimulatedFactory

PARTITIONS: Final = 8


class Engine(Protocol):
    """The four borders, opened."""

    @property
    def log(self) -> FrontierLog: ...
    @property
    def seen(self) -> SeenSet: ...
    @property
    def store(self) -> PageStore: ...
    @property
    def coordinator(self) -> Coordinator: ...
    @property
    def settler(self) -> Settler | None: ...
    async def close(self) -> None: ...


class EngineFactory(Protocol):
    """One crawl's data, of `PARTITIONS` partitions, empty at first."""

    async def open(self, clock: Clock) -> Engine:
        """Open the crawl; again after the engine was closed, with all that was acknowledged."""

    async def reader(self) -> Reader:
        """Open the crawl for reading, beside an open engine or not."""

    async def close(self) -> None:
        """Remove the data."""


class EmbeddedFactory:
    def __init__(self, folder: Path) -> None:
        self._folder = folder / "crawl"

    async def open(self, clock: Clock) -> Engine:
        return await open_engine(self._folder, PARTITIONS, "rules 1", clock)

    async def reader(self) -> Reader:
        return await open_reader(self._folder)

    async def close(self) -> None:
        """The folder goes with the test."""


FACTORIES: Final[dict[str, Callable[[Path], EngineFactory]]] = {
    "embedded": EmbeddedFactory,
    "simulated": SimulatedFactory,
    "simulated at once": partial(SimulatedFactory, at_once=True),
}
