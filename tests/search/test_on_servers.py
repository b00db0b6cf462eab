"""A crawl on servers is indexed from its events, by any number of workers, and searched."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from gregor.schemas.messages import Changed, Page, State, stamp
from gregor.search.adapters import opensearch_schema as schema
from gregor.worker.adapters.cluster import engine as cluster
from gregor.worker.adapters.cluster.engine import ClusterEngine
from gregor.worker.commands.cli import main
from gregor.worker.compose.opensearch import shape_of
from gregor.worker.compose.process import SystemClock
from gregor.worker.config.settings import Config
from gregor.worker.config.sources import load
from gregor.worker.links.configured import canonical_rules
from tests.cluster.servers import Service
from tests.cluster.servers.__main__ import config as servers_config
from tests.search.opensearch import client_of
from tests.search.stored import link, page, row

PARTITIONS = 4
A, B, C = "http://a.example.org/", "http://b.example.org/", "http://c.example.org/"


class Crawl:
    """A crawl of its own on the servers."""

    def __init__(self, services: dict[str, Service], folder: Path) -> None:
        self.name = f"indexed-{os.getpid()}-{id(self) % 10_000_000}"
        self.file = folder / "gregor.toml"
        settings = servers_config({name: service.addresses for name, service in services.items()})
        more = "opensearch_replicas = 0\nserver_timeout = 30.0\nsession_timeout = 4.0\nlease_margin = 1.0"
        self.file.write_text(f'{settings}\n{more}\ncrawl = "{self.name}"\npartitions = {PARTITIONS}\n')
        self.client = client_of(services["opensearch"])
        self._count = 0

    @property
    def config(self) -> Config:
        return load(str(self.file), {}, ()).config

    def run(self, command: str, *words: str) -> int:
        return main([command, "--config", str(self.file), *words])

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[ClusterEngine]:
        config = self.config
        engine = await cluster.open_engine(config, canonical_rules(config).fingerprint(), "w", SystemClock(), {})
        try:
            yield engine
        finally:
            await engine.close()

    def stamp(self) -> int:
        self._count += 1
        return stamp(1, self._count)

    async def store(self, engine: ClusterEngine, *pages: Page, state: State | None = None) -> None:
        """Settle pages in the order of a settle; with ``state`` they are found so, and nothing is stored."""
        for one in pages:
            if state is None:
                await engine.store.put_page(one, None, None, self.stamp())
                await engine.log.announce(one)
            else:
                await engine.log.announce(Changed(one.key, one.href, one.host, one.visit, state, 1e9))
            settled = msgspec.structs.replace(row(one.key, one.visit, state or one.state), page=1)
            await engine.store.put_rows([settled], self.stamp())

    def settle(self, *pages: Page, state: State | None = None) -> None:
        async def whole() -> None:
            async with self.opened() as engine:
                await self.store(engine, *pages, state=state)

        asyncio.run(whole())

    def documents(self) -> dict[str, int]:
        """What is in the index: URLs, each with the version that its document was made of."""
        query = {"query": {"exists": {"field": "name"}}, "size": 10_000}
        alias = shape_of(self.config).alias
        if not self.client.there(f"/_alias/{alias}"):
            return {}
        self.client.ask("POST", f"/{alias}/_refresh")
        hits = self.client.ask("POST", f"/{alias}/_search", query)["hits"]["hits"]
        found = [(hit["_source"]["shown"]["key"], hit["_source"]["shown"]["visit"]) for hit in hits]
        assert len(dict(found)) == len(found)
        return dict(found)


@pytest.fixture
def crawl(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Crawl]:
    names = ("kafka", "zookeeper", "redis", "cassandra", "opensearch")
    made = Crawl({name: request.getfixturevalue(name) for name in names}, tmp_path)
    assert made.run("init") == 0
    yield made
    schema_names = [generation.index for generation in schema.generations(made.client, shape_of(made.config))]
    for name in schema_names:
        made.client.ask("DELETE", f"/{name}")


def searched(crawl: Crawl, capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    capsys.readouterr()
    assert crawl.run("search", "--jsonl", *words) == 0
    return [json.loads(line)["key"] for line in capsys.readouterr().out.splitlines()]


def test_what_a_crawl_tells_is_found_and_what_is_gone_is_not(crawl: Crawl, capsys: pytest.CaptureFixture[str]) -> None:
    hidden = page(f"{A}hidden", "secret zebras", directives=("noindex",))
    crawl.settle(
        page(A, "A fox jumps", 1, link(B, "animals that bark")),
        page(f"{C}copy", "A fox jumps", 1, state="duplicate"),
        page(B, "Dogs sleep", 1, link(C, "quiet yaks")),
        page(C, "Cows graze"),
        hidden,
    )
    assert crawl.run("index", "--once") == 0
    assert searched(crawl, capsys, "fox") == [A] and searched(crawl, capsys, "bark") == [B]
    assert searched(crawl, capsys, "zebras") == [] and searched(crawl, capsys, "yaks") == [C]
    crawl.settle(page(A, "A cat jumps", 2), page(C, visit=2))
    crawl.settle(page(C, visit=3), state="gone")
    assert crawl.run("index", "--once") == 0
    assert searched(crawl, capsys, "fox") == [f"{C}copy"] and searched(crawl, capsys, "cat") == [A]
    assert searched(crawl, capsys, "bark") == [] and searched(crawl, capsys, "cows") == []  # the link went with it
    assert crawl.run("optout", "b.example.org", "--wait", "0") == 0
    assert searched(crawl, capsys, "dogs") == []
    before = crawl.documents()
    assert crawl.run("index", "--once", "--rebuild") == 0
    assert crawl.documents() == before == {A: 2, f"{C}copy": 1}
    (used,) = schema.generations(crawl.client, shape_of(crawl.config))
    assert used.number == 2


def follow(crawl: Crawl) -> subprocess.Popen[bytes]:
    line = [sys.executable, "-m", "gregor", "index", "--config", str(crawl.file)]
    return subprocess.Popen(line, stderr=subprocess.DEVNULL)


def test_workers_share_the_partitions_and_nothing_is_lost_or_doubled_when_one_is_killed(crawl: Crawl) -> None:
    def some(first: int, visit: int) -> list[Page]:
        return [page(f"http://h{number}.org/", f"text {number} {visit}", visit) for number in range(first, first + 40)]

    crawl.settle(*some(0, 1))
    workers = [follow(crawl), follow(crawl)]
    try:
        until(lambda: len(crawl.documents()) == 40)
        for visit in (2, 3):
            crawl.settle(*some(0, visit), *some(40 * visit, 1))
            workers[0].send_signal(signal.SIGKILL)
            workers[0].wait()
            workers = [workers[1], follow(crawl)]
        wanted = {one.key: one.visit for one in (*some(0, 3), *some(80, 1), *some(120, 1))}
        until(lambda: crawl.documents() == wanted)
        assert all(worker.poll() is None for worker in workers)
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()


def until(holds: Callable[[], bool]) -> None:
    patience = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < patience
        time.sleep(0.2)
