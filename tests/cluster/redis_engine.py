"""A crawl's seen set in Redis, for the contract suite and for what is particular to Redis."""

import uuid
from dataclasses import dataclass
from typing import cast

from gregor.worker.adapters.cluster.seen import RedisSeen
from gregor.worker.borders.clock import Clock
from gregor.worker.borders.reader import Reader
from gregor.worker.config.servers import Servers
from tests.contract.engines import Engine


@dataclass(frozen=True)
class SeenEngine:
    """An engine that has a seen set only."""

    seen: RedisSeen

    async def close(self) -> None:
        await self.seen.close()


class RedisFactory:
    """`EngineFactory`, for cases that use the seen set only."""

    def __init__(self, servers: Servers) -> None:
        self.servers = servers
        self.crawl = uuid.uuid4().hex

    async def open(self, clock: Clock | None = None) -> Engine:
        return cast(Engine, SeenEngine(await self.seen()))

    async def seen(self) -> RedisSeen:
        return await RedisSeen.open(self.servers, self.crawl)

    async def reader(self) -> Reader:
        raise NotImplementedError("there is nothing to read but the seen set")

    async def close(self) -> None:
        """The keys end with the server."""
