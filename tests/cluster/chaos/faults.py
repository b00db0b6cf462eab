"""What is done to the crew and the servers, at seeded random moments."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.cluster.chaos.crew import Crew, Worker
from tests.cluster.servers import Service

SESSION = 4.0
"""The workers' session time-out, in seconds."""


@dataclass
class Faults:
    """Strikes one fault after another. `done` lists them: (monotonic time, what)."""

    crew: Crew
    services: dict[str, Service]
    chance: random.Random
    done: list[tuple[float, str]] = field(default_factory=list)
    kills: list[tuple[float, str]] = field(default_factory=list)
    """SIGKILLs of workers: when, and whose."""
    _later: list[tuple[float, Callable[[], None]]] = field(default_factory=list)

    def strike(self, kind: str) -> None:
        """One fault now."""
        self.done.append((time.monotonic(), kind))
        victims = [worker for worker in self.crew.alive if not self._pending(worker)]
        match kind:
            case "kill" if len(victims) > 1:
                worker = self.chance.choice(victims)
                self.crew.kill(worker)
                self.kills.append((worker.ended, worker.name))
                self._after(2.0, self.crew.start)
            case "stop" if len(victims) > 1:
                worker = self.chance.choice(victims)
                worker.away = True
                self.crew.stop(worker)
                self._after(1.6 * SESSION, lambda: self.crew.resume(worker))
            case "cut" if len(victims) > 1:
                worker = self.chance.choice(victims)
                worker.away = True
                worker.hurt.append(time.monotonic())
                worker.cable.cut()
                self._after(2.0 * SESSION, lambda: self._mend(worker))
            case "join" if len(victims) < 5:
                self.crew.start()
            case "kafka" | "zookeeper" | "redis" | "cassandra":
                if kind == "zookeeper":  # everybody's leases may end
                    for worker in self.crew.alive:
                        worker.hurt.append(time.monotonic())
                service = self.services[kind]
                service.nodes[0].kill()
                service.start()

    def _pending(self, worker: Worker) -> bool:
        """Whether it was hurt so lately that it is still on its way back."""
        return worker.away and time.monotonic() - worker.hurt[-1] < 3.0 * SESSION

    def _mend(self, worker: Worker) -> None:
        worker.cable.mend()
        worker.hurt.append(time.monotonic())

    def _after(self, seconds: float, call: Callable[[], object]) -> None:
        self._later.append((time.monotonic() + seconds, lambda: _drop(call())))

    def tick(self) -> None:
        """What was put off and is due now."""
        due = [one for one in self._later if one[0] <= time.monotonic()]
        self._later = [one for one in self._later if one not in due]
        for _, call in due:
            call()

    @property
    def settled(self) -> bool:
        """Whether nothing is put off any more."""
        return not self._later


def _drop(_: object) -> None:
    """A result that nobody needs."""


KINDS = ("kill", "stop", "cut", "join", "kill", "kafka", "zookeeper", "redis", "cassandra")
