"""A whole crawl on virtual time: workers with the production runtime, started again by a supervisor when they end."""

import asyncio
from collections import Counter
from collections.abc import Callable
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from random import Random

from gregor.partitioner.hashing import partition_of
from gregor.worker.borders.clock import Clock
from gregor.worker.borders.errors import Unavailable
from gregor.worker.borders.services import Services
from gregor.worker.compose.extraction import policy_of
from gregor.worker.config.settings import Config
from gregor.worker.extract.crawled import Extraction
from gregor.worker.extract.judges import Judges
from gregor.worker.extract.model import Field, Rule
from gregor.worker.extract.selectors import CssSelector, Fact
from gregor.worker.links.configured import scope_rules
from gregor.worker.links.found_link import FoundLink
from gregor.worker.links.known_ranks import KnownRanks
from gregor.worker.links.ordering.policy import BroughtPage
from gregor.worker.links.ordering.topic import TopicPolicy
from gregor.worker.links.scope import Scope
from gregor.worker.operate.seeds import Seed, publish
from gregor.worker.read.document import Document, Extract
from gregor.worker.read.pdf import TYPE as PDF
from gregor.worker.read.processors import Processors
from gregor.worker.run.ending import Ending
from gregor.worker.run.runtime import Runtime
from gregor.worker.topic.relevance import KeyWords
from gregor.worker.web.urls import Url, Urls
from tests.simulation.clock import PROCESS, Process, VirtualClock, VirtualLoop
from tests.simulation.engine import Machine, World
from tests.simulation.handles import (
    SimulatedAddresses,
    SimulatedLog,
    SimulatedSeen,
    SimulatedSettler,
    SimulatedStore,
)
from tests.simulation.membership import SimulatedCoordinator
from tests.simulation.network import SimulatedResolver, SimulatedTransport
from tests.simulation.watch import Watch
from tests.simulation.web import Exchange, Web

RESTART = 4.0
"""Seconds after which a worker that died is started again."""
MOST_RESTARTS = 20
RULE = Rule(
    "page", "page", None, None, None, (Field("text", (Fact("text"),)), Field("h", (CssSelector("h1"),))), version="1"
)


class InMemoryPdf:
    """Says of a PDF what is written in it, without the process that a real one is read by."""

    types = (PDF,)

    def process(self, document: Document) -> Extract:
        return Extract(text=document.read().decode())


RANKED = KnownRanks(hosts={f"h{number}.site.example": 15 for number in range(1, 40, 2)})


class OwnOrder:
    """A policy of one's own: by the length of URLs, without a word for some."""

    tax = 0.2

    def __init__(self) -> None:
        self.pages = 0

    def learn(self, page: BroughtPage) -> None:
        self.pages += 1

    def worth(self, link: FoundLink, page: BroughtPage) -> float:
        if len(link.url) % 7 == 0:
            raise ValueError("no word for it")
        return self.pages - len(link.url) if page.links else float("nan")


EXTRACTION = Extraction((RULE,), processors=Processors().replacing([InMemoryPdf()]), judges=Judges(ranks=RANKED))
"""Every page with words has one item, which says what the page says; some hosts rank high."""


@dataclass
class Worker:
    """One incarnation of a worker."""

    name: str
    process: Process
    coordinator: SimulatedCoordinator
    transport: SimulatedTransport
    services: Services
    runtime: Runtime
    ending: Ending | None = None
    most: Counter[str] = field(default_factory=Counter)
    """The most that it ever held: records in the window of a topic, URLs in a back queue, URLs in memory."""

    def measure(self) -> None:
        """Look at what it holds now."""
        for owned in self.runtime.owned.values():
            partition = owned.crawl.partition
            spans = [mark.span for mark in partition.marks.values()]
            queues = [len(host.queue) for host in partition.hosts.values()]
            self.most |= Counter(window=max(spans), queue=max(queues, default=0), memory=partition.size)


@dataclass
class Run:
    """A crawl and all that is known of it afterwards."""

    seed: int
    web: Web
    world: World
    config: Config
    seeds: list[str]
    workers: list[Worker] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    """What no run may do: a worker that failed, a task whose error nobody saw, no end."""
    ended: float = 0.0
    finished: bool = False
    stopped: bool = False
    """Whether a budget stopped it: then URLs are left waiting."""

    def __post_init__(self) -> None:
        self.watch = Watch(self.world, self.config)
        self.world.observers.append(self.watch.look)

    def worker(self, name: str) -> Worker:
        """An incarnation by its name."""
        return next(worker for worker in self.workers if worker.name == name)


Prepare = Callable[[Run, Worker], None]
"""What is done to a worker before it runs: doubles replaced, a stop arranged."""


class Simulation:
    """Runs one crawl to its end."""

    def __init__(
        self, run: Run, *, workers: int = 1, prepare: Prepare | None = None, patience: float = 20_000.0
    ) -> None:
        self.run = run
        self._slots = workers
        self._prepare = prepare
        self._seeded = False
        # What the loop lacks of the abstract class needs an operating system.
        self._loop = VirtualLoop(most_time=patience, most_callbacks=400_000)  # type: ignore[abstract]
        self._chance = Random(f"workers {run.seed}")

    def __call__(self) -> Run:
        """Run it. The result says how it went; nothing is raised for what a crawl did."""
        run = self.run
        run.web.on_request = self._witness
        try:
            self._loop.run_until_complete(self._crawl())
        except Exception as error:  # noqa: BLE001 - whatever ended the run is what the run has to tell
            run.failures.append(f"the run did not end: {error!r}")
        run.ended = self._loop.time()
        run.failures += self._loop.errors
        for worker in run.workers:
            self._loop.kill(worker.process)
            self._loop.bury(worker.process)
        self._loop.close()
        return run

    def _witness(self, exchange: Exchange) -> None:
        """What the request's permission was worth at this moment."""
        world = self.run.world
        partition = partition_of(exchange.host, world.partitions)
        owner = world.zookeeper.owner(partition)
        exchange.owned = owner is not None and owner.client == exchange.client
        worker = self.run.worker(exchange.client)
        exchange.leased = worker.coordinator.leased
        worker.measure()

    async def _crawl(self) -> None:
        slots = {asyncio.ensure_future(self._keep("abcdefgh"[place])) for place in range(self._slots)}
        started = self._slots
        while slots:
            done, slots = await asyncio.wait(slots, timeout=1.0, return_when=asyncio.FIRST_COMPLETED)
            for slot in sorted(done, key=hash):
                slot.result()
            if self.run.world.starts_wanted > started - self._slots and slots:
                slots.add(asyncio.ensure_future(self._keep("abcdefgh"[started])))
                started += 1
        self.run.finished = True

    async def _keep(self, slot: str) -> None:
        """Start a worker, and again when it was killed or failed, until the crawl has ended."""
        for incarnation in range(1, MOST_RESTARTS):
            if await self._live(f"{slot}{incarnation}"):
                return
            await asyncio.sleep(RESTART)
        raise RuntimeError(f"worker {slot} was started {MOST_RESTARTS} times in vain")

    async def _live(self, name: str) -> bool:
        """One incarnation, to its end. True when nothing is left to do for another one."""
        process = Process(name)
        gone = self._loop.create_future()

        def dead() -> None:
            self.run.web.close_connections(name, self._loop.time())
            if not gone.done():
                gone.set_result(None)

        process.at_death.append(dead)
        context = copy_context()
        context.run(PROCESS.set, process)
        task = self._loop.create_task(self._work(name, process), context=context)
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not process.alive:
            return False
        self.run.world.happen(name, "ended")
        self._loop.kill(process)
        if task.exception() is None:
            ending = self.run.worker(name).ending
            return ending is not None and ending.reason != "stopped"
        if not isinstance(task.exception(), Unavailable):
            self.run.failures.append(f"{name} failed: {task.exception()!r}")
        return False

    async def _work(self, name: str, process: Process) -> None:
        """What a worker's process does."""
        run, world = self.run, self.run.world
        clock = VirtualClock(self._loop, booted=self._chance.uniform(0, 1e5))
        machine = Machine(name, process, clock.jump)
        worker = build(run, machine, process, clock, Random(f"{run.seed} {name}"))
        run.workers.append(worker)
        if self._prepare is not None:
            self._prepare(run, worker)
        if not self._seeded:
            await publish(SimulatedLog(world, machine), SimulatedStore(world, machine), map(Seed, seed_urls(run)))
            self._seeded = True
        worker.ending = await worker.runtime.run()
        run.stopped = run.stopped or worker.ending.reason == "budget"


def build(run: Run, machine: Machine, process: Process, clock: Clock, chance: Random) -> Worker:
    """A worker over its own connections to the world and the web."""
    world = run.world
    coordinator = SimulatedCoordinator(world, machine, clock)
    transport = SimulatedTransport(world, machine, run.web)
    services = Services(
        log=SimulatedLog(world, machine),
        seen=SimulatedSeen(world, machine),
        store=SimulatedStore(world, machine),
        coordinator=coordinator,
        transport=transport,
        resolver=SimulatedResolver(world, machine, run.web, clock),
        addresses=SimulatedAddresses(world, machine),
        settler=SimulatedSettler(world, machine) if world.at_once else None,
    )
    scope = Scope(scope_rules(run.config), [url.host for url in seed_urls(run)])
    topic = KeyWords(["p*", "1*"])  # which URLs of the simulated web have here and there
    policy = policy_of(run.config.ordering, {"own": OwnOrder()}, TopicPolicy(topic, 0.5, 0.5))
    extraction = replace(EXTRACTION, judges=replace(EXTRACTION.judges, policy=policy))
    if run.config.ordering == TopicPolicy.name:
        extraction = replace(extraction, topic=topic)
    runtime = Runtime(
        run.config, services, clock, urls=Urls(), scope=scope, random=chance, name=machine.name, extraction=extraction
    )
    return Worker(machine.name, process, coordinator, transport, services, runtime)


def seed_urls(run: Run) -> list[Url]:
    """The seeds, parsed."""
    return [url for url in map(Urls().parse, run.seeds) if url is not None]
