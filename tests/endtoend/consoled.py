"""A console over two workers that run and one that does not answer, for tests of it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path

from gregor.worker.adapters.embedded import open_reader
from gregor.worker.api.archive import StoredCrawl
from gregor.worker.api.crawl_backend import CrawlBackend
from gregor.worker.api.peers import Peers
from gregor.worker.api.serving import serving
from gregor.worker.borders.errors import Unavailable
from gregor.worker.borders.members import Members, Owner, Worker
from gregor.worker.compose.process import SystemClock
from gregor.worker.config.settings import Config
from gregor.worker.frontier.counts import total
from gregor.worker.operate.control import Control
from gregor.worker.web.urls import Urls
from tests.endtoend.operated import ENVIRON, SETTINGS, VIEWER, Operated, operated


class Crowd:
    """Who the workers are, as a test has it."""

    def __init__(self, urls: list[str]) -> None:
        self.away = False
        self.stopped = asyncio.Event()
        self.workers = [Worker(f"w{at}", 1.0, 1, 1, 0, 0.0, 0.0, "", url) for at, url in enumerate(urls)]

    async def members(self) -> Members:
        if self.away:
            raise Unavailable("ZooKeeper", "by the test")
        return Members(self.workers, [Owner(0, "w0", 3, 1.0, 2), Owner(1)])


@asynccontextmanager
async def consoled(folder: Path) -> AsyncIterator[tuple[Operated, list[Operated], Crowd]]:
    """A console over two workers and one that does not answer; the console as if it were a worker."""
    async with AsyncExitStack() as stack:
        workers = [
            await stack.enter_async_context(operated(folder / name, hosts=hosts, retries=0))
            for name, hosts in (("a", 2), ("b", 3))
        ]
        crowd = Crowd([*(one.url for one in workers), "http://127.0.0.1:1/"])
        config, engine, clock = Config(data=str(folder / "a"), **SETTINGS), workers[0].engine, SystemClock()
        reader = await open_reader(folder / "a")
        stack.push_async_callback(reader.close)
        peers = Peers(VIEWER)
        stack.callback(peers.close)
        archive, control = (
            StoredCrawl(reader, Urls(), config),
            Control(engine.log, engine.store, engine.coordinator, reader),
        )
        others = await open_reader(folder / "b")
        stack.push_async_callback(others.close)

        async def counts() -> dict[str, int]:
            return total([record.counts for one in (reader, others) async for record in one.partitions()])

        desk = CrawlBackend(
            "console",
            config.crawl,
            engine.coordinator,
            clock,
            archive,
            control,
            peers,
            members=crowd.members,
            counts=counts,
            stop=crowd.stopped.set,
        )
        url = await stack.enter_async_context(serving(config, desk, ENVIRON, crowd.stopped.set))
        yield replace(workers[0], url=url), workers, crowd
