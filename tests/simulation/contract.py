"""The in-memory engine as the contract suite opens it: the doubles keep what the borders promise."""

from dataclasses import dataclass
from itertools import count
from pathlib import Path

from gregor.worker.borders.clock import Clock
from tests.simulation.clock import WALL_EPOCH
from tests.simulation.engine import Machine, World
from tests.simulation.handles import SimulatedLog, SimulatedSeen, SimulatedSettler, SimulatedStore
from tests.simulation.membership import SimulatedCoordinator
from tests.simulation.reading import SimulatedReader


@dataclass(frozen=True)
class SimulatedEngine:
    """One worker's handles."""

    log: SimulatedLog
    seen: SimulatedSeen
    store: SimulatedStore
    coordinator: SimulatedCoordinator
    settler: SimulatedSettler | None

    async def close(self) -> None:
        await self.coordinator.close()


class SimulatedFactory:
    """A world that outlives its engines."""

    def __init__(self, folder: Path, partitions: int = 8, *, at_once: bool = False) -> None:
        """``at_once``: a visit is settled in one call."""
        self._at_once = at_once
        self._world: World | None = None
        self._partitions = partitions
        self._names = count()

    async def open(self, clock: Clock) -> SimulatedEngine:
        if self._world is None:
            self._world = World(partitions=self._partitions, latency=0.0, now=lambda: WALL_EPOCH + clock.monotonic())
        machine = Machine(f"engine {next(self._names)}")
        coordinator = SimulatedCoordinator(self._world, machine, clock)
        await coordinator.connect()
        return SimulatedEngine(
            SimulatedLog(self._world, machine),
            SimulatedSeen(self._world, machine),
            SimulatedStore(self._world, machine),
            coordinator,
            SimulatedSettler(self._world, machine) if self._at_once else None,
        )

    async def reader(self) -> SimulatedReader:
        assert self._world is not None
        return SimulatedReader(self._world)

    async def close(self) -> None: ...
