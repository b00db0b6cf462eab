"""The contract of `PageStore` and `Reader` over Cassandra: plainly, after a reopen, after a kill of the server.

One keyspace serves all plain cases, one after another; what a case wrote is truncated after it. For the restart several
cases at a time write what they write before their reopen, each in a keyspace of its own; then the server is killed, and
they go on. The other borders of an engine are doubles here.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
from cassandra.query import PreparedStatement

from gregor.worker.adapters.cluster.cassandra_client import Cassandra
from gregor.worker.adapters.cluster.cassandra_setup import set_up
from gregor.worker.adapters.cluster.reader import ClusterReader
from gregor.worker.adapters.cluster.store import ClusterStore
from gregor.worker.borders.clock import Clock
from gregor.worker.borders.store import PageStore
from gregor.worker.config.servers import Servers
from tests.cluster.conftest import stoppable
from tests.cluster.keyspaces import keyspace
from tests.cluster.servers import Service
from tests.contract import test_reader, test_settlement, test_store
from tests.contract.engines import PARTITIONS, Engine
from tests.contract.world import World
from tests.simulation.contract import SimulatedEngine, SimulatedFactory

Case = Callable[[World], Awaitable[None]]

CASES: Final[dict[str, Case]] = {
    f"{module.__name__.rpartition('_')[2]}-{name[5:]}": case.__wrapped__
    for module in (test_store, test_reader, test_settlement)
    for name, case in vars(module).items()
    if name.startswith("test_")
}
_AT_ONCE: Final = 7
_WAVES: Final = [list(CASES)[start : start + _AT_ONCE] for start in range(0, len(CASES), _AT_ONCE)]


@dataclass(frozen=True)
class MixedEngine:
    """The store in Cassandra, the rest in memory."""

    rest: SimulatedEngine
    store: PageStore

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rest, name)

    async def close(self) -> None:
        await self.store.close()
        await self.rest.close()


class Watched(Cassandra):
    """Notes the tables that are written, also those that hold nothing but deletes."""

    written: set[str]

    async def _prepare(self, statement: str) -> PreparedStatement:
        if found := re.match(r"(?:INSERT INTO|DELETE FROM) (\w+)", statement):
            self.written.add(found[1])
        return await super()._prepare(statement)


class Factory:
    """One keyspace, empty at first and again at the end."""

    def __init__(self, settings: Servers, keyspace: str, folder: Path) -> None:
        self._settings = settings
        self._keyspace = keyspace
        self._rest = SimulatedFactory(folder, PARTITIONS)
        self._log: Any = None
        self._written: set[str] = set()

    async def open(self, clock: Clock) -> Engine:
        rest = await self._rest.open(clock)
        self._log = rest.log
        return MixedEngine(rest, ClusterStore(await self._connect()))

    async def reader(self) -> ClusterReader:
        return ClusterReader(await self._connect(), PARTITIONS, log=self._log)

    async def close(self) -> None:
        cassandra = await self._connect()
        try:
            for table in self._written:
                await cassandra.write(f"TRUNCATE {table}", ())
        finally:
            await cassandra.close()

    async def _connect(self) -> Cassandra:
        cassandra = await Watched.connect(self._settings, self._keyspace, {})
        cassandra.written = self._written
        return cassandra


class Gate:
    """Opens when everybody is at it or has gone home, after the server was killed and started again."""

    def __init__(self, service: Service, cases: int) -> None:
        self._service = service
        self._expected = cases
        self._waiting = 0
        self._open = asyncio.Event()

    async def pass_(self) -> None:
        self._waiting += 1
        await self._look()
        await self._open.wait()

    async def go_home(self) -> None:
        """Who never came to the gate waits until it opens, too: what it tidies up needs the server."""
        if not self._open.is_set():
            self._expected -= 1
            await self._look()
            await self._open.wait()

    async def _look(self) -> None:
        if self._waiting == self._expected:
            await asyncio.to_thread(self._service.restart, kill=True)
            self._open.set()


class RestartedWorld(World):
    """A world that goes through the gate before its first reopen."""

    def __init__(self, factory: Factory, gate: Gate) -> None:
        super().__init__(factory, reopens=True)
        self._gate: Gate | None = gate

    async def again(self) -> Engine:
        if self._gate is not None:
            gate, self._gate = self._gate, None
            await gate.pass_()
        return await super().again()


@pytest.fixture(scope="module")
def settings(cassandra: Service) -> Iterator[Servers]:
    with keyspace(cassandra, "contract", {}) as settings:
        yield settings


@pytest.mark.parametrize("reopens", [False, True], ids=["plain", "reopen"])
@pytest.mark.parametrize("name", CASES)
def test_contract(settings: Servers, tmp_path: Path, name: str, reopens: bool) -> None:
    async def play() -> None:
        world = World(Factory(settings, "contract", tmp_path), reopens=reopens)
        try:
            async with asyncio.timeout(60):
                await CASES[name](world)
        finally:
            await world.close()

    asyncio.run(play())


@pytest.mark.parametrize("names", _WAVES, ids=[f"{names[0]}..." for names in _WAVES])
def test_contract_over_a_kill_of_the_server(cassandra: Service, tmp_path: Path, names: list[str]) -> None:
    stoppable(cassandra)
    settings = Servers(cassandra=cassandra.addresses, cassandra_replication=1)

    async def play(gate: Gate, number: int, name: str) -> None:
        world = RestartedWorld(Factory(settings, f"contract_{number}", tmp_path / str(number)), gate)
        try:
            await CASES[name](world)
        finally:
            await gate.go_home()
            await world.close()

    async def play_all() -> None:
        await asyncio.gather(*[set_up(settings, f"contract_{number}", {}, {}) for number in range(len(names))])
        gate = Gate(cassandra, len(names))
        async with asyncio.timeout(120):
            await asyncio.gather(*[play(gate, number, name) for number, name in enumerate(names)])

    asyncio.run(play_all())
