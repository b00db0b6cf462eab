"""What is done to the crew and the servers, at seeded random moments."""

import random
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

from redis import Redis

from tests.cluster.chaos.crew import Crew, Worker
from tests.cluster.servers import Node, Service
from tests.cluster.servers.opensearch import leader
from tests.cluster.servers.redis import MASTER

SESSION = 4.0
"""The workers' session time-out, in seconds."""
RECOVERY = 5.0
"""Seconds after a server answers again until its clients have surely asked again: their time-out."""
KINDS = ("kill", "stop", "cut", "join", "kafka", "zookeeper", "promote", "cassandra")
INDEXED = ("indexer", "opensearch", "leader")
"""SIGKILL for who indexes the crawl: a worker of the index, a node of OpenSearch, the one that leads these."""
OPERATED = ("join", "leave", "upgrade")
"""What operators do on purpose: nothing that is lost, repeated or impolite then is anybody's misfortune."""
INDEX = "opensearch"
SERVICES = {"leader": INDEX}
"""Whose node a kind of fault ends, where it is not named after it."""
AWAY = 5.0
"""Seconds that one of several nodes is away at least, and until the crawl has gone on without it."""
LONGEST_AWAY = 120.0
"""Seconds after which it comes back all the same: nothing went on."""


def kinds(chance: random.Random, among: Sequence[str], count: int) -> list[str]:
    """So many faults in random order, every kind before any comes again."""
    found: list[str] = []
    while len(found) < count:
        found += chance.sample(among, len(among))
    return found[:count]


@dataclass
class Faults:
    """Strikes faults; servers come back on threads, so that faults overlap. Times are monotonic seconds."""

    crew: Crew
    services: dict[str, Service]
    chance: random.Random
    last_asked: Callable[[], float] = lambda: 0.0
    """When the web server was asked last."""
    askers: Callable[[], set[str]] = set
    """Names of the workers that have asked for something. Only one of these is killed: what never owned a partition
    hands none over."""
    done: list[tuple[float, str]] = field(default_factory=list)
    kills: list[tuple[float, str]] = field(default_factory=list)
    """SIGKILLs of workers: when, and whose."""
    troubles: list[tuple[float, float]] = field(default_factory=list)
    """From when until when something other than a SIGKILL of a worker may hold the crawl up."""
    outages: list[tuple[float, float]] = field(default_factory=list)
    """Those of them in which a server was away."""
    away: list[tuple[float, float, str]] = field(default_factory=list)
    """From when until when which service had one node less than all, and others that could go on."""
    _later: list[tuple[float, Callable[[], object]]] = field(default_factory=list)
    _pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(4))
    _restarts: dict[str, Future[None]] = field(default_factory=dict)

    def strike(self, kind: str) -> None:
        """One fault now; nothing when too few workers are well, or that server is still coming back."""
        now = time.monotonic()
        if self._hit(kind, now):
            self.done.append((now, kind))

    def _hit(self, kind: str, now: float) -> bool:
        victims = [worker for worker in self.crew.alive if not worker.leaving and not self._pending(worker)]
        if kind in ("kill", "stop", "cut"):
            alone = len(victims) < 2
            if kind == "kill":
                at_work = self.askers()
                victims = [worker for worker in victims if worker.name in at_work]
            if alone or not victims:
                return False
            self._hurt(kind, self.chance.choice(victims), now)
            return True
        match kind:
            case "join":
                self.crew.start()
                return True
            case "leave" if len(victims) > 1:
                self.crew.retire(self.chance.choice(victims))
                return True
            case "upgrade" if victims:
                self.crew.retire(victims[0])
                self._replace(victims[0])
                return True
            case "leave" | "upgrade":
                return False
            case "indexer":
                self.crew.kill_indexer(self.chance)
                self._after(1.0, self.crew.start_indexer)
                return True
        return self._restart(kind, now)

    def _replace(self, worker: Worker) -> None:
        """Start another as soon as this one has ended."""
        if worker.alive:
            self._after(0.1, lambda: self._replace(worker))
        else:
            self.crew.start()

    def _hurt(self, kind: str, worker: Worker, now: float) -> None:
        match kind:
            case "kill":
                self.crew.kill(worker)
                self.kills.append((worker.ended, worker.name))
                self._after(2.0, self.crew.start)
            case "stop":
                worker.away = True
                self.crew.stop(worker)
                self._after(1.6 * SESSION, lambda: self.crew.resume(worker))
                self.troubles.append((now, now + 2.6 * SESSION))
            case "cut":
                worker.away = True
                worker.hurt.append(now)
                for cable in worker.cables:
                    cable.cut()
                self._after(2.0 * SESSION, lambda: self._mend(worker))
                self.troubles.append((now, now + 3.0 * SESSION))

    def _restart(self, kind: str, now: float) -> bool:
        of_it = [other for other in self._restarts if SERVICES.get(other, other) == SERVICES.get(kind, kind)]
        if any(not self._restarts[other].done() for other in of_it):
            return False
        if kind == "zookeeper":  # everybody's leases may end
            for worker in self.crew.alive:
                worker.hurt.append(now)
        service = self.services.get(SERVICES.get(kind, kind))
        node = self.chance.choice(service.nodes) if service is not None else None
        if kind == "leader" and service is not None:
            node = leader(service)
        self._restarts[kind] = self._pool.submit(self._bring_back, kind, node, now)
        return True

    def _bring_back(self, kind: str, node: Node | None, now: float) -> None:
        if node is None:
            promote(self.services["sentinel"])
        else:
            service = self.services[SERVICES.get(kind, kind)]
            node.kill()
            if service.name == INDEX:
                time.sleep(AWAY)  # the crawl asks nothing of it; the index goes on with the others meanwhile
                service.start()
                return
            if len(service.nodes) > 1:
                self._miss(now)
                self.away.append((now, time.monotonic(), kind))
            service.start()
        self.outages.append((now, time.monotonic() + RECOVERY))
        self.troubles.append(self.outages[-1])

    def _miss(self, since: float) -> None:
        """Wait until the crawl went on without a node for a while, or ended."""
        while self.last_asked() < since + AWAY and self.crew.alive and time.monotonic() < since + LONGEST_AWAY:
            time.sleep(0.2)  # what other processes do

    def _pending(self, worker: Worker) -> bool:
        """Whether it was hurt so lately that it is still on its way back."""
        return worker.away and time.monotonic() - worker.hurt[-1] < 3.0 * SESSION

    def _mend(self, worker: Worker) -> None:
        for cable in worker.cables:
            cable.mend()
        worker.hurt.append(time.monotonic())

    def _after(self, seconds: float, call: Callable[[], object]) -> None:
        self._later.append((time.monotonic() + seconds, call))

    def tick(self) -> None:
        """What was put off and is due now."""
        due = [one for one in self._later if one[0] <= time.monotonic()]
        self._later = [one for one in self._later if one not in due]
        for _, call in due:
            call()

    @property
    def settled(self) -> bool:
        """Whether nothing is put off any more, and every server is back."""
        return not self._later and all(restart.done() for restart in self._restarts.values())

    def close(self) -> list[str]:
        """Wait for the servers; a line for each that could not be brought back."""
        self._pool.shutdown()
        failures = {kind: restart.exception() for kind, restart in self._restarts.items()}
        return [f"{kind} failed: {failure!r}" for kind, failure in failures.items() if failure]


def promote(pair: Service) -> None:
    """End the primary, let the Sentinel promote the replica, and bring the old one back as the new one's replica."""
    host, _, port = pair.addresses[-1].rpartition(":")
    with Redis(host, int(port), socket_timeout=5, decode_responses=True) as sentinel:
        primary = sentinel.sentinel_get_master_addr_by_name(MASTER)
        pair.nodes[pair.addresses.index(f"{primary[0]}:{primary[1]}")].kill()
        end = time.monotonic() + 30.0
        while sentinel.sentinel_get_master_addr_by_name(MASTER) == primary and time.monotonic() < end:
            time.sleep(0.1)  # the Sentinel decides in its own time
    pair.start()
