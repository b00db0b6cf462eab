"""A crawl of a test's own on servers, whose pages are stored without a crawl, as its owners would do it."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import msgspec

from gregor.schemas.messages import Changed, Page, State, stamp
from gregor.search.borders import Unusable
from gregor.worker.adapters.cluster import engine as cluster
from gregor.worker.adapters.cluster.engine import ClusterEngine
from gregor.worker.borders.errors import Unavailable
from gregor.worker.commands.cli import main
from gregor.worker.compose.opensearch import searched, shape_of
from gregor.worker.compose.process import SystemClock
from gregor.worker.config.settings import Config
from gregor.worker.config.sources import load
from gregor.worker.links.configured import canonical_rules
from tests.cluster.servers import Service
from tests.cluster.servers.__main__ import config as servers_config
from tests.search.opensearch import client_of
from tests.search.stored import row

PARTITIONS: Final = 4


class Crawl:
    """A crawl of its own on the servers."""

    def __init__(self, services: dict[str, Service], folder: Path) -> None:
        self.name = f"indexed-{os.getpid()}-{id(self) % 10_000_000}"
        self.file = folder / "gregor.toml"
        settings = servers_config({name: service.addresses for name, service in services.items()})
        more = "server_timeout = 30.0\nsession_timeout = 4.0\nlease_margin = 1.0"
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

    def writes(self) -> int:
        """A number that changes whenever the index is written; -1 while it cannot be asked."""
        try:
            return searched(self.config).write_count()
        except (Unavailable, Unusable):
            return -1

    def documents(self) -> dict[str, int]:
        """What is in the index: URLs, each with the version that its document was made of."""
        alias = shape_of(self.config).alias
        try:
            return self._documents(alias)
        except Unavailable:
            return {}

    def _documents(self, alias: str) -> dict[str, int]:
        if not self.client.there(f"/_alias/{alias}"):
            return {}
        query = {"query": {"exists": {"field": "name"}}, "size": 10_000, "stored_fields": ["shown"]}
        self.client.ask("POST", f"/{alias}/_refresh")
        hits = self.client.ask("POST", f"/{alias}/_search", query)["hits"]["hits"]
        shown = [msgspec.json.decode(hit["fields"]["shown"][0]) for hit in hits]
        return {hit["key"]: hit["visit"] for hit in shown}


def follow(crawl: Crawl, *words: str) -> subprocess.Popen[bytes]:
    line = [sys.executable, "-m", "gregor", "index", "--config", str(crawl.file), *words]
    with crawl.file.with_name("index.log").open("ab") as log:
        return subprocess.Popen(line, stderr=log)
