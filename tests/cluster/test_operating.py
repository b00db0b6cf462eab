"""Orders, seeds, re-crawls and dead letters over the real servers: two workers, asked by the API of one of them."""

import asyncio
import random
import uuid
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec
import pytest
import requests

from gregor.partitioner.hashing import partition_of
from gregor.schemas.messages import Row
from gregor.worker.adapters.cluster import engine as cluster
from gregor.worker.adapters.cluster.engine import ClusterEngine
from gregor.worker.adapters.resolver import DnsResolver
from gregor.worker.api.archive import StoredCrawl
from gregor.worker.api.serving import serving
from gregor.worker.api.worker_backend import WorkerBackend
from gregor.worker.borders.services import Services
from gregor.worker.commands import cli
from gregor.worker.compose.engine import engine_of
from gregor.worker.compose.housekeeping import keep_house
from gregor.worker.compose.process import SystemClock
from gregor.worker.config.settings import Config
from gregor.worker.config.sources import load
from gregor.worker.fetch.host_table import HostTable
from gregor.worker.links.configured import canonical_rules
from gregor.worker.links.scope import Scope, ScopeRules
from gregor.worker.operate.control import Control
from gregor.worker.run.runtime import Runtime
from gregor.worker.web.urls import Urls
from tests.cluster.servers import Service
from tests.cluster.servers.__main__ import config as reaching
from tests.endtoend.operated import OPERATOR
from tests.memory_transport import MemoryTransport, Scripted

PARTITIONS, HOSTS = 8, 6
SETTINGS = """
partitions = 8
delay = 0.05
delay_factor = 0
first_contact_delay = 0
retries = 0
linger = true
scope = "any"
session_timeout = 6
operator_token_env = "OPERATE"
listen = "127.0.0.1:0"
"""


@dataclass
class Member:
    """A worker of the crawl."""

    runtime: Runtime
    engine: ClusterEngine


@dataclass
class Crawl:
    """Two workers, one web, and the API of the first."""

    config: Config
    file: Path
    transport: MemoryTransport
    first: Member
    second: Member
    url: str

    async def ask(self, method: str, path: str, json: Any = None) -> Any:
        """The answer of the API."""
        headers = {"Authorization": f"Bearer {OPERATOR}"}
        call = requests.request
        answer = await asyncio.to_thread(call, method, self.url + path, headers=headers, json=json, timeout=60)
        assert answer.ok, answer.text
        return answer.json() if answer.content else None

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait for what will come."""
        async with asyncio.timeout(60):
            while not holds():  # noqa: ASYNC110 - what is waited for happens in many places
                await asyncio.sleep(0.05)

    async def row(self, url: str, state: str, visits: int = 1) -> Row:
        """The row of a URL, when it has a state after so many visits."""
        async with asyncio.timeout(60):
            while True:
                (row,) = await self.first.engine.store.rows([url])
                if row is not None and row.state == state and row.visits >= visits:
                    return row
                await asyncio.sleep(0.05)

    def visits(self, url: str) -> int:
        return sum(request.href == url for request in self.transport.requests)

    async def gregor(self, *words: str) -> None:
        """A command beside the workers, without an API."""
        line = [words[0], "--config", str(self.file), "--set", "listen=", *words[1:]]
        assert await asyncio.to_thread(cli.main, line) == 0


def site(number: int) -> str:
    return f"http://h{number}.example"


@asynccontextmanager
async def member(config: Config, name: str, transport: MemoryTransport) -> AsyncIterator[Member]:
    """A worker that runs."""
    clock = SystemClock()
    engine = await cluster.open_engine(config, canonical_rules(config).fingerprint(), name, clock, {})
    resolver = DnsResolver(host_table=HostTable.parse("* 192.0.2.1:80"))
    services = Services(engine.log, engine.seen, engine.store, engine.coordinator, transport, resolver)
    rules = ScopeRules("any")
    runtime = Runtime(config, services, clock, urls=Urls(), scope=Scope(rules), random=random.Random(name), name=name)
    house = asyncio.create_task(keep_house(config, engine, runtime, "", lambda _: None))
    running = asyncio.create_task(runtime.run())
    try:
        yield Member(runtime, engine)
    finally:
        runtime.stop()
        await running
        house.cancel()
        await engine.close()


@asynccontextmanager
async def crawling(config: Config, file: Path) -> AsyncIterator[Crawl]:
    """A crawl of long sites, each page with a word of its own, that two workers share."""
    transport = MemoryTransport()
    for host in range(HOSTS):
        for page in range(2000):
            body = f"<title>{page}</title><a href=/{page + 1}>on</a> word{page} of {host}".encode()
            transport.script(f"{site(host)}/{page}", Scripted(body=body))
    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(member(config, "first", transport))
        second = await stack.enter_async_context(member(config, "second", transport))
        engine, clock = first.engine, SystemClock()
        archive = StoredCrawl(engine.reader, Urls(), config)
        control = Control(engine.log, engine.store, engine.coordinator, engine.reader)
        desk = WorkerBackend(first.runtime, config, clock, archive, control, lambda _: None, engine.coordinator.members)
        url = await stack.enter_async_context(serving(config, desk, {"OPERATE": OPERATOR}, first.runtime.stop))
        crawl = Crawl(config, file, transport, first, second, url.rstrip("/"))
        await crawl.until(lambda: len(first.runtime.owned) == len(second.runtime.owned) == PARTITIONS // 2)
        yield crawl


Case = Callable[[Crawl], Coroutine[Any, Any, None]]


@pytest.fixture
def run(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kafka: Service,
    zookeeper: Service,
    redis: Service,
    cassandra: Service,
) -> Callable[[Case], None]:
    """Runs a case over a crawl of its own."""
    monkeypatch.setenv("OPERATE", OPERATOR)
    services = {"kafka": kafka, "zookeeper": zookeeper, "redis": redis, "cassandra": cassandra}
    file = tmp_path / "gregor.toml"
    name = f"operate-{uuid.uuid4().hex[:8]}"
    addresses = {service: found.addresses for service, found in services.items()}
    file.write_text(f'crawl = "{name}"\n{reaching(addresses)}\n{SETTINGS}')
    config = load(str(file), {}, ()).config

    def run(case: Case) -> None:
        async def whole() -> None:
            async with asyncio.timeout(240):
                await engine_of(config).init()
                async with crawling(config, file) as crawl:
                    await case(crawl)

        asyncio.run(whole())

    return run


def test_a_crawl_is_operated(run: Callable[[Case], None], capsys: pytest.CaptureFixture[str]) -> None:
    async def case(crawl: Crawl) -> None:
        await _seeds_and_recrawls(crawl)
        await _orders(crawl)
        await _dead_letters(crawl)
        await _drain(crawl)
        await _on_record(crawl, capsys)
        await _told(crawl)
        await _audited(crawl, capsys)

    run(case)


async def _seeds_and_recrawls(crawl: Crawl) -> None:
    seeds = [{"url": f"{site(host)}/0"} for host in range(HOSTS)]
    assert await crawl.ask("POST", "/api/v1/seeds", {"seeds": seeds}) == {"count": HOSTS}
    urls = [f"{site(host)}/0" for host in range(HOSTS)]
    for url in urls:
        await crawl.row(url, "fetched")
    owners = {partition_of(f"h{host}.example", PARTITIONS) in crawl.first.runtime.owned for host in range(HOSTS)}
    assert owners == {True, False}, "some are of the worker that is asked, some of the other"
    answer = await crawl.ask("POST", "/api/v1/recrawl", {"urls": [*urls, "http://nobody.example/"]})
    assert answer == {"count": HOSTS, "unknown": ["http://nobody.example/"]}
    for url in urls:
        assert (await crawl.row(url, "fetched", 2)).visits == 2
        assert crawl.visits(url) == 2


async def _orders(crawl: Crawl) -> None:
    both = (crawl.first, crawl.second)
    await crawl.ask("PUT", "/api/v1/orders/rate/*", {"value": 0.0001})
    await crawl.until(lambda: all(one.runtime.stats.limit == "orders" for one in both))
    await crawl.until(lambda: all(one.runtime.stats.running == 0 for one in both))
    before = len(crawl.transport.requests)
    await asyncio.sleep(1.0)
    assert len(crawl.transport.requests) == before
    await crawl.gregor("rate", "*", "none")
    await crawl.until(lambda: len(crawl.transport.requests) > before + 20)
    await crawl.gregor("budget", "*.example", "5", "--why", "enough")
    await crawl.until(lambda: all(one.runtime.stats.states["denied"] for one in both))
    await crawl.ask("DELETE", "/api/v1/orders/budget/*.example")
    await crawl.until(lambda: not any(one.engine.coordinator.orders().by_name for one in both))


async def _dead_letters(crawl: Crawl) -> None:
    urls = [f"{site(host)}/dead" for host in range(HOSTS)]
    for url in urls:
        crawl.transport.script(url, Scripted(status=500))
    await crawl.ask("POST", "/api/v1/seeds", {"seeds": [{"url": url} for url in urls]})
    for url in urls:
        await crawl.row(url, "dead")
    for url in urls:
        crawl.transport.script(url, Scripted(body=f"{url} is back".encode()))
    dropped = {"cause": "status", "urls": urls[:1]}
    assert await crawl.ask("POST", "/api/v1/deadletters/drop", dropped) == {"count": 1, "more": False}
    assert await crawl.ask("POST", "/api/v1/deadletters/retry", {"cause": "status"}) == {
        "count": HOSTS - 1,
        "more": False,
    }
    for url in urls[1:]:
        assert (await crawl.row(url, "fetched", 2)).visits == 2
    assert (await crawl.row(urls[0], "dead")).visits == 1
    assert [letter async for letter in crawl.first.engine.reader.dead_letters()] == []


async def _drain(crawl: Crawl) -> None:
    first, second = crawl.first.runtime, crawl.second.runtime
    await crawl.gregor("drain", "second", "--why", "new disks")
    await crawl.until(lambda: not second.owned and len(first.owned) == PARTITIONS)
    assert first.stats.leases_lost == second.stats.leases_lost == 0
    await crawl.gregor("undrain", "second")
    await crawl.until(lambda: len(first.owned) == len(second.owned) == PARTITIONS // 2)
    assert first.stats.too_close == second.stats.too_close == 0


async def _on_record(crawl: Crawl, capsys: pytest.CaptureFixture[str]) -> None:
    found = (await crawl.ask("GET", "/api/v1/changes?limit=1000"))["changes"]
    verbs = [one["what"].partition(" ")[0] for one in reversed(found)]
    assert verbs == ["seed", "recrawl", "rate", "took", "budget", "took", "seed", "drop", "retry", "drain", "took"]
    capsys.readouterr()
    await crawl.gregor("orders", "--audit", "--json")
    told = [msgspec.json.decode(line) for line in capsys.readouterr().out.splitlines()]
    assert [one["what"] for one in told] == [one["what"] for one in found]
    assert {one["where"].partition(" ")[0] for one in told} == {"API", "command"}
    assert next(one["why"] for one in told if one["what"] == "drain second") == "new disks"


async def _told(crawl: Crawl) -> None:
    """Hand-overs, and a list of pages, page by page."""
    found = (await crawl.ask("GET", "/api/v1/handovers?limit=500"))["handovers"]
    drained = {one["partition"] for one in found if (one["giver"], one["taker"]) == ("second", "first")}
    back = {one["partition"] for one in found if (one["giver"], one["taker"]) == ("first", "second")}
    assert len(drained) >= PARTITIONS // 2
    assert len(back) >= PARTITIONS // 2
    urls: list[str] = []
    after = ""
    while after or not urls:
        page = await crawl.ask("GET", f"/api/v1/pages?state=dead&limit=1&after={quote(after, safe='')}")
        urls += [one["url"] for one in page["urls"]]
        after = page["next"]
    assert urls == [f"{site(0)}/dead"], "the others were fetched"
    host = await crawl.ask("GET", f"/api/v1/pages?host=h1.example&limit=2&after={quote(f'{site(1)}/0', safe='')}")
    assert f"{site(1)}/0" not in {one["url"] for one in host["urls"]}


async def _audited(crawl: Crawl, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    await crawl.gregor("audit", "--json")
    found = msgspec.json.decode(capsys.readouterr().out)
    assert (found["violations"], found["hosts"]) == (0, HOSTS)
    assert found["requests"] >= 4 * HOSTS
