"""The workers of a round: processes that are started, retired, killed, stopped and cut off from ZooKeeper."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from gregor.worker.commands import FINISHED, INTERRUPTED
from tests.cluster.chaos.cable import Cable

GREGOR: Final = (sys.executable, "-m", "gregor.worker.commands.cli")


@dataclass
class Worker:
    """One incarnation. `hurt`: when (monotonic) it was killed, stopped, cut off, or its leases were in danger.

    `away`: it was stopped or cut off last. `leaving`: it was asked to end.
    """

    name: str
    process: subprocess.Popen[bytes]
    cables: list[Cable]
    hurt: list[float] = field(default_factory=list)
    away: bool = False
    leaving: bool = False
    ended: float = 0.0

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self.process.poll() is None

    @property
    def failed(self) -> bool:
        """Whether it ended, and neither as the crawl did nor as it was made to."""
        fine = [None, FINISHED, -signal.SIGKILL]
        if self.leaving:
            fine += [INTERRUPTED, -signal.SIGTERM]  # by the signal itself while it was being started
        return self.process.poll() not in fine


class Crew:
    """Starts workers and remembers every incarnation."""

    def __init__(self, folder: Path, config: Path, zookeeper: Sequence[str]) -> None:
        self.workers: list[Worker] = []
        self.indexers: list[subprocess.Popen[bytes]] = []
        self._folder = folder
        self._config = config
        self._zookeeper = zookeeper

    @property
    def alive(self) -> list[Worker]:
        """Those whose process runs."""
        return [worker for worker in self.workers if worker.alive]

    def start(self) -> Worker:
        """One more worker, with connections to ZooKeeper of its own that can be cut."""
        name = f"w{len(self.workers) + 1}"
        cables = [Cable(address) for address in self._zookeeper]
        addresses = ",".join(cable.address for cable in cables)
        agent = f"gregor/0 (+http://chaos.example/; {name})"
        line = [*GREGOR, "worker", "--user-agent", agent, "--set", f"zookeeper={addresses}"]
        with (self._folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                line,
                env={**os.environ, "GREGOR_CONFIG": str(self._config)},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        worker = Worker(name, process, cables)
        self.workers.append(worker)
        return worker

    def start_indexer(self) -> None:
        """One more worker of the index."""
        with (self._folder / "index.log").open("ab") as log:
            self.indexers.append(
                subprocess.Popen(
                    [*GREGOR, "index"],
                    env={**os.environ, "GREGOR_CONFIG": str(self._config)},
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
            )

    def kill_indexer(self, chance: random.Random) -> None:
        """SIGKILL of one of them."""
        if well := [indexer for indexer in self.indexers if indexer.poll() is None]:
            victim = chance.choice(well)
            victim.kill()
            victim.wait()

    def retire(self, worker: Worker) -> None:
        """SIGTERM: it hands its partitions on and ends."""
        worker.leaving = True
        worker.process.terminate()

    def kill(self, worker: Worker) -> None:
        """SIGKILL."""
        worker.hurt.append(time.monotonic())
        worker.process.kill()
        worker.process.wait()
        worker.ended = time.monotonic()
        _close(worker.cables)

    def stop(self, worker: Worker) -> None:
        """SIGSTOP; `resume` it later."""
        worker.hurt.append(time.monotonic())
        worker.process.send_signal(signal.SIGSTOP)

    def resume(self, worker: Worker) -> None:
        """SIGCONT."""
        if worker.alive:
            worker.process.send_signal(signal.SIGCONT)
            worker.hurt.append(time.monotonic())

    def close(self) -> None:
        """End everybody."""
        for indexer in self.indexers:
            indexer.kill()
            indexer.wait()
        for worker in self.workers:
            if worker.alive:
                worker.process.kill()
            worker.process.wait()
            _close(worker.cables)


def _close(cables: Sequence[Cable]) -> None:
    for cable in cables:
        cable.close()
