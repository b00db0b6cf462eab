"""A worker on the embedded engine over a scripted web, with its API on loopback, for tests that operate it."""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests

from gregor.worker.adapters.embedded import EmbeddedEngine, open_engine, open_reader
from gregor.worker.adapters.embedded.reader import EmbeddedReader
from gregor.worker.adapters.resolver import DnsResolver
from gregor.worker.api.archive import StoredCrawl
from gregor.worker.api.serving import serving
from gregor.worker.api.worker_backend import WorkerBackend
from gregor.worker.borders.services import Services
from gregor.worker.compose.extraction import extraction_of
from gregor.worker.compose.process import SystemClock
from gregor.worker.config.settings import Config
from gregor.worker.fetch.host_table import HostTable
from gregor.worker.links.configured import canonical_rules
from gregor.worker.links.scope import Scope, ScopeRules
from gregor.worker.operate.control import Control
from gregor.worker.operate.seeds import Seed, publish
from gregor.worker.run.runtime import Runtime
from gregor.worker.web.urls import Urls
from tests.endtoend import described
from tests.memory_transport import MemoryTransport, Scripted

VIEWER, OPERATOR = "viewer-token-0123456789", "operator-token-0123456789"
ENVIRON = {"VIEW": VIEWER, "OPERATE": OPERATOR}
SETTINGS: dict[str, Any] = {
    "listen": "127.0.0.1:0",
    "viewer_token_env": "VIEW",
    "operator_token_env": "OPERATE",
    "partitions": 2,
    "delay": 0.05,
    "delay_factor": 0.0,
    "linger": True,
    "scope": "any",
    "api_rate": 1000.0,
}


@dataclass
class Operated:
    """The worker, and what is asked of it."""

    runtime: Runtime
    engine: EmbeddedEngine
    transport: MemoryTransport
    url: str
    folder: Path
    reader: EmbeddedReader

    async def ask(self, method: str, path: str, token: str = OPERATOR, **more: Any) -> requests.Response:
        """One request to the API; the answer is as its document says."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        headers.update(more.pop("headers", {}))
        url = self.url.rstrip("/") + path
        answer = await asyncio.to_thread(requests.request, method, url, headers=headers, timeout=10, **more)
        described.check(answer, more.get("json"))
        return answer

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait for what will come."""
        async with asyncio.timeout(30):
            while not holds():  # noqa: ASYNC110 - what is waited for happens in many places
                await asyncio.sleep(0.01)

    async def until_state(self, url: str) -> None:
        """Wait until a URL is settled."""
        async with asyncio.timeout(30):
            while True:
                row = (await self.engine.store.rows([url]))[0]
                if row is not None and row.state != "waiting":
                    return
                await asyncio.sleep(0.01)

    def asked(self, host: str) -> int:
        """How many requests a host saw."""
        return sum(f"//{host}/" in request.href for request in self.transport.requests)


@asynccontextmanager
async def operated(folder: Path, hosts: int = 2, **changes: Any) -> AsyncIterator[Operated]:
    """A worker that crawls long sites, each page with a word of its own: http://h0.example/0, …/1 and so on."""
    config, clock = Config(data=str(folder), **{**SETTINGS, **changes}), SystemClock()
    transport = MemoryTransport()
    for host in range(hosts):
        for page in range(400):
            body = f"<title>{page}</title><a href=/{page + 1}>on</a> word{page} of {host}".encode()
            transport.script(f"http://h{host}.example/{page}", Scripted(body=body))
    engine = await open_engine(folder, config.partitions, canonical_rules(config).fingerprint(), clock)
    resolver = DnsResolver(host_table=HostTable.parse("* 192.0.2.1:80"))
    urls = Urls()
    runtime = Runtime(
        config,
        Services(engine.log, engine.seen, engine.store, engine.coordinator, transport, resolver),
        clock,
        urls=urls,
        scope=Scope(ScopeRules("any")),
        random=random.Random(1),
        name="worker-1",
        extraction=extraction_of(config),
    )

    def measure(hosts: list[str]) -> None:
        runtime.measure(Scope(ScopeRules(config.scope), hosts))

    try:
        seeds = [urls.parse(f"http://h{host}.example/0") for host in range(hosts)]
        await publish(engine.log, engine.store, [Seed(url) for url in seeds if url is not None])
        reader = await open_reader(folder)
        control = Control(engine.log, engine.store, engine.coordinator, reader)
        desk = WorkerBackend(runtime, config, clock, StoredCrawl(reader, urls, config), control, measure)
        async with serving(config, desk, ENVIRON, runtime.stop) as url:
            running = asyncio.create_task(runtime.run())
            try:
                yield Operated(runtime, engine, transport, url, folder, reader)
            finally:
                runtime.stop()
                await running
        await reader.close()
    finally:
        await engine.close()


def over(case: Callable[[Operated], Awaitable[None]], **changes: Any) -> Callable[[Path], None]:
    """Make a test of a case."""

    def test(tmp_path: Path) -> None:
        async def run() -> None:
            async with operated(tmp_path, **changes) as worker:
                await case(worker)

        asyncio.run(run())

    test.__name__, test.__doc__ = case.__name__, case.__doc__
    return test
