"""Which crawl a seed stands for: its web, settings, workers and faults."""

import asyncio
from dataclasses import replace
from random import Random

from gregor.worker.config.settings import Config
from tests.simulation import webs
from tests.simulation.crawl import Prepare, Run, Simulation, Worker
from tests.simulation.engine import World
from tests.simulation.faults import Fault, Faults, drawn
from tests.simulation.web import Web

SESSION_TIMEOUT = 10.0
ORDERINGS = (*("depth",) * 2, "opic", *("depth",) * 2, "opic", "own", "topic")
"""Seeds take turns in the policies of the order."""
_OF_A_SETTLE = ("mark", "claim", "put_page", "put_rows")
"""Calls that are one with the others of a settle, where an engine can."""


def config(**changes: object) -> Config:
    """The settings of a simulated crawl: small bounds, so that they are met."""
    return Config(**{**_SMALL, **changes})  # type: ignore[arg-type]


_SMALL: dict[str, object] = {
    "partitions": 4,
    "scope": "domain",
    "max_depth": 12,
    "delay": 1.0,
    "retries": 5,
    "retry_pause": 4.0,
    "retry_pause_max": 60.0,
    "retry_after_max": 100.0,
    "host_failures": 6,
    "concurrency": 8,
    "read_timeout": 10.0,
    "connect_timeout": 5.0,
    "queue_size": 4,
    "queue_low": 2,
    "window": 64,
    "chunk_size": 8,
    "bucket_size": 16,
}


def of_seed(seed: int) -> Simulation:
    """The crawl of a seed. Every fourth has no fault, the others a few; some are stopped and go on later. Of
    every third the visits are settled at once."""
    chance = Random(f"scenario {seed}")
    faults = [drawn(chance, SESSION_TIMEOUT) for _ in range(0 if seed % 4 == 0 else chance.choice((1, 2, 3, 6)))]
    settings = config(
        delay=chance.choice((0.5, 1.0, 3.0)),
        partitions=chance.choice((1, 4, 8)),
        queue_size=chance.choice((4, 64)),
        window=chance.choice((16, 64)),
        robots_ttl=chance.choice((10.0, 86_400.0)),
        per_address=chance.choice((None, 1, 2)),
        per_address_delay=chance.choice((None, None, 0.0, 0.4, 2.0)),
        ordering=ORDERINGS[seed % len(ORDERINGS)],
    )
    workers = chance.choice((1, 1, 2, 3))
    stops = [chance.expovariate(1 / 40)] if chance.random() < 0.25 else []

    def stop_once(_: Run, worker: Worker) -> None:
        if stops:
            asyncio.get_running_loop().call_later(stops.pop(), worker.runtime.stop)

    at_once = seed % 3 == 1
    if at_once:
        faults = [
            replace(fault, service="store", op="settle") if fault.op in _OF_A_SETTLE else fault for fault in faults
        ]
    web = webs.drawn(seed)
    return scripted(web, faults, seed=seed, settings=settings, workers=workers, prepare=stop_once, at_once=at_once)


def scripted(
    web: Web,
    faults: list[Fault],
    *,
    seed: int = 0,
    settings: Config | None = None,
    workers: int = 1,
    seeds: list[str] | None = None,
    prepare: Prepare | None = None,
    patience: float = 20_000.0,
    at_once: bool = False,
) -> Simulation:
    """A crawl of a given web with given faults, given up after ``patience`` virtual seconds; ``at_once``: a visit is
    settled in one call."""
    settings = settings or config()
    world = World(
        partitions=settings.partitions,
        seed=seed,
        faults=Faults(faults),
        session_timeout=SESSION_TIMEOUT,
        at_once=at_once,
    )
    run = Run(seed, web, world, settings, seeds or [webs.SEED])
    return Simulation(run, workers=workers, prepare=prepare, patience=patience)
