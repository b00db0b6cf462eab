"""One round: set up, crawl with faults until the workers end by themselves, then ask the log and the stores."""

import asyncio
import json
import os
import random
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from gregor.worker.base.errors import BadInput
from gregor.worker.borders.errors import Unavailable
from gregor.worker.compose.comparing import comparing
from gregor.worker.compose.engine import engine_of
from gregor.worker.config.settings import Config
from gregor.worker.config.sources import load
from gregor.worker.demo.child import child
from tests.cluster.chaos import evidence, faults, web, witness
from tests.cluster.chaos.crew import GREGOR, Crew
from tests.cluster.chaos.faults import KINDS
from tests.cluster.chaos.server import Asked
from tests.cluster.servers import Service
from tests.cluster.servers.__main__ import config as servers_config
from tests.cluster.servers.redis import MASTER

NAMES = ("kafka", "zookeeper", "sentinel", "cassandra")
PARTITIONS = 24
TAKE_OVER = 2.0
"""Seconds that a hand-over may take beside the session's end and the host's delay."""
LEASE = 2.0
"""Seconds within which no partition can go to another worker and come back."""
WORKERS = 3
INDEXERS = 2
INDEXED_WITHIN = 180.0
"""Seconds after the crawl's end in which all that it stored is to be in the index."""


@dataclass(frozen=True)
class Plan:
    """What a round is made of. `every`: seconds between two faults; `faults`: how many; `longest`: seconds in all."""

    seed: int
    hosts: int = 60
    pages: int = 1000
    delay: float = 0.5
    faults: int = 9
    every: float = 4.0
    longest: float = 240.0
    kinds: tuple[str, ...] = KINDS
    timed: bool = True
    """Whether a slow hand-over is a violation: not on a machine that does other things too."""

    @property
    def command(self) -> str:
        """What runs this round again."""
        numbers = (f"--{name} {getattr(self, name):g}" for name in ("seed", "hosts", "pages", "delay", "faults"))
        rest = f"--every {self.every:g} --longest {self.longest:g} --kinds {' '.join(self.kinds)}"
        return f"python -m tests.cluster.chaos {' '.join(numbers)} {rest}"


@dataclass
class Result:
    """What was found. Each violation is one line."""

    seed: int
    seconds: float = 0.0
    pages: int = 0
    requests: int = 0
    faults: list[str] = field(default_factory=list)
    handovers: list[witness.Handover] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)

    @property
    def judged(self) -> list[witness.Handover]:
        """The hand-overs during which nothing else was wrong."""
        return [one for one in self.handovers if one.judged]

    @property
    def slowest(self) -> float:
        """Seconds of the longest of them."""
        return max((one.seconds for one in self.judged), default=0.0)


def run(plan: Plan, services: dict[str, Service], folder: Path) -> Result:
    """One round, with everything that it started ended."""
    site = web.make(plan.seed, plan.hosts, plan.pages)
    result = Result(plan.seed)
    log = folder / "requests.jsonl"
    arguments = [str(number) for number in (plan.seed, plan.hosts, plan.pages)]
    with child("tests.cluster.chaos.server", [*arguments, str(log)]) as report:
        config = configure(plan, services, folder, report["port"])
        gregor(config, "init")
        (folder / "seeds.txt").write_text("\n".join(site.seeds) + "\n")
        gregor(config, "seed", "--seeds", str(folder / "seeds.txt"))
        crew = Crew(folder, config, services["zookeeper"].addresses)
        done = faults.Faults(crew, services, random.Random(plan.seed), lambda: _last_asked(log), lambda: _askers(log))
        begun = time.monotonic()
        try:
            _crawl(plan, crew, done, result)
            if faults.INDEX in services:
                result.violations += _not_indexed(config)
        finally:
            crew.close()
            result.violations += done.close()
        result.seconds = time.monotonic() - begun
    result.faults = [kind for _, kind in done.done]
    asked = [msgspec.json.decode(line, type=Asked) for line in log.read_bytes().splitlines()]
    result.requests = len(asked)
    _judge(plan, site, asked, crew, done, result)
    stored(site, config, result)
    evidence.keep(folder, plan.command, begun, done, crew.workers, result.violations)
    return result


def _not_indexed(config: Path) -> list[str]:
    """What differs between index and store at last, by key and version."""
    settings = load(str(config), {}, ()).config
    deadline = time.monotonic() + INDEXED_WITHIN
    while True:
        try:
            differing = asyncio.run(_differences(settings))
        except (Unavailable, BadInput) as error:
            differing = [f"the index cannot be compared: {error}"]
        if not differing or time.monotonic() > deadline:
            return differing
        time.sleep(1.0)  # what other processes do


async def _differences(config: Config) -> list[str]:
    async with comparing(config, lambda what, count: None, lambda damage: None) as opened:
        differences = await opened.comparison.differences()
        return [f"index: {each.kind} {each.key}: {each.why}" for each in differences]


def _last_asked(log: Path) -> float:
    """When the last request of a log began; 0 without one."""
    whole = log.read_bytes().rpartition(b"\n")[0]
    return msgspec.json.decode(whole.rpartition(b"\n")[2], type=Asked).at if whole else 0.0


def _askers(log: Path) -> set[str]:
    """The workers that have asked for something."""
    whole = log.read_bytes().rpartition(b"\n")[0]
    return {witness.name_of(msgspec.json.decode(line, type=Asked)) for line in whole.splitlines()}


def _judge(plan: Plan, site: web.Web, asked: list[Asked], crew: Crew, done: faults.Faults, result: Result) -> None:
    """What the request log says."""
    hurt = {worker.name: worker.hurt for worker in crew.workers}
    least = faults.SESSION + TAKE_OVER + plan.delay
    result.handovers = witness.handovers(site, asked, done.kills, done.troubles, PARTITIONS, least)
    result.violations += witness.unseen(done.kills, result.handovers)
    result.violations += witness.impolite(site, asked, plan.delay)
    result.violations += witness.extra(site, asked, hurt, done.outages)
    result.violations += witness.two_owners(asked, PARTITIONS, LEASE)
    result.violations += witness.silent(asked, done.away, faults.AWAY)
    result.violations += [
        f"partition {one.partition} waited {one.seconds:.2f} s for its new owner, {one.allowed:g} s allowed"
        for one in result.judged
        if plan.timed and one.seconds > one.allowed
    ]


def _crawl(plan: Plan, crew: Crew, done: faults.Faults, result: Result) -> None:
    """Until all workers have ended by themselves; a worker that failed is started again, and is a violation."""
    chance = random.Random(f"faults {plan.seed}")
    kinds = faults.kinds(chance, plan.kinds, plan.faults)
    for _ in range(WORKERS):
        crew.start()
    if faults.INDEX in done.services:
        for _ in range(INDEXERS):
            crew.start_indexer()
    begun = time.monotonic()
    strikes = [5.0 + plan.every * number * (0.75 + 0.5 * chance.random()) for number in range(plan.faults)]
    told: set[str] = set()
    at_work = 0.0  # when the first request was made: a fault before it disturbs nobody
    while time.monotonic() - begun < plan.longest:
        at_work = at_work or done.last_asked()
        while strikes and at_work and time.monotonic() >= at_work + strikes[0]:
            strikes.pop(0)
            done.strike(kinds.pop(0))
        done.tick()
        for worker in crew.workers:
            if worker.failed and worker.name not in told:
                told.add(worker.name)
                code = worker.process.returncode
                result.violations.append(f"worker {worker.name} ended with {code}: see {worker.name}.log")
                crew.start()
        if not crew.alive and done.settled:
            return
        time.sleep(0.05)  # a look at processes and the clock: there is no event to await
    result.violations.append(f"the crawl did not end within {plan.longest:g} s")


def configure(plan: Plan, services: dict[str, Service], folder: Path, port: int) -> Path:
    """Write the config of a round's crawl, whose web is served at ``port``; its file."""
    replication = min(len(services[name].nodes) for name in ("kafka", "cassandra"))
    (folder / "hosts.table").write_text(f"*:80 127.0.0.1:{port}\n")
    file = folder / "gregor.toml"
    file.write_text(
        servers_config({name: services[name].addresses for name in NAMES if name != "sentinel"}, replication)
        + f"""
redis = ["{services["sentinel"].addresses[-1]}"]
redis_sentinel = "{MASTER}"
crawl = "chaos-{plan.seed}-{os.getpid()}-{int(time.time())}"
partitions = {PARTITIONS}
delay = {plan.delay}
delay_factor = 0
scope = "any"
host_table = "{folder / "hosts.table"}"
session_timeout = {faults.SESSION}
lease_margin = 1.0
retry_pause = 1.0
retries = 5
server_timeout = 5.0
concurrency = 64
"""
    )
    if faults.INDEX in services:
        nodes = services[faults.INDEX].addresses
        index = f"opensearch = {json.dumps(list(nodes))}\nopensearch_replicas = {min(1, len(nodes) - 1)}\n"
        file.write_text(file.read_text() + index)
    return file


def gregor(config: Path, *words: str) -> None:
    """Run a command that must not fail."""
    line = [*GREGOR, *words, "--config", str(config)]
    subprocess.run(line, check=True, timeout=120, stdout=subprocess.DEVNULL, stderr=sys.stderr)


def stored(site: web.Web, config: Path, result: Result) -> None:
    """Every page that can be reached is stored, with the body that was sent; every URL is in a terminal state."""
    asyncio.run(_stored(site, config, result))


async def _stored(site: web.Web, config: Path, result: Result) -> None:
    expected = web.expected(site)
    settings = load(str(config), {}, ()).config
    reader, _ = await engine_of(settings).read()
    try:
        found = {page.href: page.body async for page in reader.pages()}
        waiting = [row.href async for row in reader.rows("waiting", None)]
        dead = [f"{row.href} {row.outcome}" async for row in reader.rows("dead", None)]
    finally:
        await reader.close()
    result.pages = len(found)
    result.violations += [f"{url} is lost" for url in expected if url not in found]
    result.violations += [f"{url} has another body" for url, body in expected.items() if found.get(url, body) != body]
    result.violations += [f"{url} was never linked" for url in found if url not in expected]
    result.violations += [f"{url} still waits" for url in waiting]
    result.violations += [f"{url} was given up" for url in dead]
