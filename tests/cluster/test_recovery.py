"""What was lost is to be had again, as docs/operations.md says: Redis from Cassandra, a crawl from its backup."""

import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest
from redis import Redis

from gregor.worker.demo.child import child
from tests.cluster.chaos import web, witness
from tests.cluster.chaos.crew import GREGOR, Crew, Worker
from tests.cluster.chaos.round import Plan, Result, configure, gregor, stored
from tests.cluster.chaos.server import Asked
from tests.cluster.conftest import stoppable
from tests.cluster.servers import Service
from tests.cluster.servers.process import Process

PLAN = Plan(seed=8, hosts=25, pages=200)
LONGEST = 300.0
"""Seconds that anything may take."""


@dataclass
class Crawl:
    """A seeded crawl, the web that it is about and the web server's log."""

    site: web.Web
    config: Path
    log: Path
    crew: Crew
    services: dict[str, Service]

    def asked(self, by: Worker | None = None) -> list[Asked]:
        """The requests so far, of one worker or of all."""
        lines = self.log.read_bytes().split(b"\n")[:-1]
        found = [msgspec.json.decode(line, type=Asked) for line in lines]
        return [one for one in found if by is None or witness.name_of(one) == by.name]

    def work(self, requests: int) -> Worker:
        """A worker that makes so many requests and then ends as it is told to."""
        worker = self.crew.start()
        until(lambda: len(self.asked(worker)) >= requests)
        self.crew.retire(worker)
        until(lambda: not worker.alive)
        assert not worker.failed
        return worker

    def finish(self) -> Worker:
        """A worker that makes what is left."""
        worker = self.crew.start()
        until(lambda: not worker.alive)
        assert not worker.failed
        return worker

    def forget(self) -> None:
        """Empty Redis."""
        host, _, port = self.services["sentinel"].addresses[-1].rpartition(":")
        with Redis(host, int(port)) as sentinel:
            primary = sentinel.sentinel_get_master_addr_by_name("gregor")
        with Redis(*primary) as client:
            client.flushall()

    def rebuild(self) -> int:
        """How many URLs `gregor rebuild-seen` marked."""
        line = [*GREGOR, "rebuild-seen", "--config", str(self.config)]
        done = subprocess.run(line, check=True, timeout=LONGEST, stdout=subprocess.PIPE, text=True)
        return int(done.stdout.split()[0])

    def judge(self) -> None:
        """Everything is stored, and nobody was disturbed."""
        result = Result(PLAN.seed)
        stored(self.site, self.config, result)
        violations = result.violations + witness.impolite(self.site, self.asked(), PLAN.delay)
        assert not violations, "\n".join(violations[:20])


@pytest.fixture
def crawl(kafka: Service, zookeeper: Service, sentinel: Service, cassandra: Service, tmp_path: Path) -> Iterator[Crawl]:
    services = {"kafka": kafka, "zookeeper": zookeeper, "sentinel": sentinel, "cassandra": cassandra}
    with _crawling(services, tmp_path) as crawl:
        yield crawl


@contextmanager
def _crawling(services: dict[str, Service], folder: Path) -> Iterator[Crawl]:
    log = folder / "requests.jsonl"
    site = web.make(PLAN.seed, PLAN.hosts, PLAN.pages)
    with child("tests.cluster.chaos.server", [*map(str, (PLAN.seed, PLAN.hosts, PLAN.pages)), str(log)]) as report:
        config = configure(PLAN, services, folder, report["port"])
        (folder / "seeds.txt").write_text("\n".join(site.seeds) + "\n")
        gregor(config, "init")
        gregor(config, "seed", "--seeds", str(folder / "seeds.txt"))
        crew = Crew(folder, config, services["zookeeper"].addresses)
        try:
            yield Crawl(site, config, log, crew, services)
        finally:
            crew.close()


def test_redis_is_restored_from_cassandra_beside_a_worker(crawl: Crawl) -> None:
    """It forgets everything in the middle of a crawl: what that costs is reads, not requests."""
    first = crawl.work(60)
    worker = crawl.crew.start()
    until(lambda: len(crawl.asked(worker)) >= 30)
    crawl.forget()
    assert crawl.rebuild() >= len({one.url for one in crawl.asked(first) if one.status == 200}) - PLAN.hosts
    until(lambda: not worker.alive)
    assert not worker.failed
    crawl.judge()
    assert not witness.extra(crawl.site, crawl.asked(), {})


def test_a_crawl_goes_on_from_a_backup(crawl: Crawl, tmp_path: Path) -> None:
    """Kafka, ZooKeeper and Cassandra as they were while no worker ran; Redis is made from them."""
    kept = [stoppable(crawl.services[name]) for name in ("kafka", "zookeeper", "cassandra")]
    nodes = [node for service in kept for node in service.nodes]
    folders = [node.folder for node in nodes if isinstance(node, Process)]
    if len(folders) < len(nodes):
        pytest.skip("the servers' files are in containers")
    before = crawl.work(60)
    for service in kept:
        service.stop()
    for number, folder in enumerate(folders):
        shutil.copytree(folder, tmp_path / f"backup{number}")
    for service in kept:
        service.start()
    lost = crawl.work(60)
    for service in kept:
        service.kill()
    for number, folder in enumerate(folders):
        shutil.rmtree(folder)
        shutil.copytree(tmp_path / f"backup{number}", folder)
    for service in kept:
        service.start()
    crawl.forget()
    crawl.rebuild()
    after = crawl.finish()
    crawl.judge()
    again = _pages(crawl, before) & (_pages(crawl, lost) | _pages(crawl, after))
    assert not again, "what was stored before the backup was asked for again"


def _pages(crawl: Crawl, worker: Worker) -> set[str]:
    return {one.url for one in crawl.asked(worker) if one.status != 503 and one.path != "/robots.txt"}


def until(holds: Callable[[], bool]) -> None:
    """Wait for what other processes do."""
    deadline = time.monotonic() + LONGEST
    while not holds():
        assert time.monotonic() < deadline, "it never came to that"
        time.sleep(0.1)
