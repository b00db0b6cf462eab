"""A crawl's seen set in Redis, for the contract suite and for what is particular to Redis."""

import uuid
from dataclasses import dataclass
from typing import cast

from gregor.worker.adapters.cluster.contents import number_of
from gregor.worker.adapters.cluster.seen import RedisSeen
from gregor.worker.borders.clock import Clock
from gregor.worker.borders.reader import Reader
from gregor.worker.config.servers import Servers
from tests.contract.engines import Engine


class Named:
    """`Claimants` in memory: what Cassandra has in a crawl."""

    def __init__(self) -> None:
        self.keys: dict[tuple[bytes, int], str] = {}

    async def put(self, fingerprint: bytes, key: str) -> None:
        self.keys[fingerprint, number_of(key)] = key

    async def key(self, fingerprint: bytes, owner: int) -> str | None:
        return self.keys.get((fingerprint, owner))

    async def drop(self, fingerprint: bytes, key: str) -> None:
        self.keys.pop((fingerprint, number_of(key)), None)


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
        self.named = Named()

    async def open(self, clock: Clock | None = None) -> Engine:
        return cast(Engine, SeenEngine(await self.seen()))

    async def seen(self) -> RedisSeen:
        return await RedisSeen.open(self.servers, self.crawl, self.named)

    async def reader(self) -> Reader:
        raise NotImplementedError("there is nothing to read but the seen set")

    async def close(self) -> None:
        """The keys end with the server."""
