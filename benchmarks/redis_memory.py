"""What a URL and a content cost in Redis, in memory and in time: `python -m benchmarks.redis_memory [MILLIONS]`.

Fills a Redis server of its own by `RedisSeen.mark`, asks `RedisSeen.seen`, and prints one JSON object: bytes a URL are
the server's ``used_memory`` above that of the empty server; microseconds are CPU time a URL, of worker and of server.

The members of a bucket swing between half the limit and the limit as the set grows, and the bytes a URL with them. They
depend on the URLs a group only, so 10 million are measured by 1.25 million in an eighth of the groups.
"""

import asyncio
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import msgspec
from redis import Redis

from gregor.worker.adapters.cluster import redis_scripts
from gregor.worker.adapters.cluster.redis_client import RedisClient
from gregor.worker.adapters.cluster.redis_contents import Claim, RedisContents
from gregor.worker.adapters.cluster.seen import RedisSeen
from gregor.worker.config.servers import Servers
from tests.cluster.redis_engine import Named
from tests.cluster.servers import Service
from tests.cluster.servers.process import Process, free_ports, listens

_BATCH = 500
"""About what one intake asks at once."""
_SCALE = 8
_GROUPS = 1 << (64 - redis_scripts.MEMBER_BITS)
_BITS = redis_scripts.MEMBER_BITS + (_GROUPS // _SCALE - 1).bit_length()
_CRAWL = "0123456789abcdef0123456789abcdef"


async def measure(address: str, urls: int) -> dict[str, Any]:
    """Fill and ask, as if it were `_SCALE` times as many; the memory after every tenth."""
    host, _, port = address.rpartition(":")
    chance = random.Random(1)
    seen = await RedisSeen.open(Servers(redis=(address,)), _CRAWL, Named())
    seen_client, tenth = RedisClient(Servers(redis=(address,)), {}), urls // 10
    with Redis(host, int(port)) as server:
        await seen.mark([0])
        empty = server.info("memory")["used_memory"]
        steps = {}
        mark, numbers = _Cpu(server), []
        for step in range(1, 11):
            numbers = [chance.getrandbits(_BITS) for _ in range(tenth)]
            mark.begin()
            for at in range(0, tenth, _BATCH):
                await seen.mark(numbers[at : at + _BATCH])
            mark.end()
            steps[step * tenth * _SCALE] = round((server.info("memory")["used_memory"] - empty) / (step * tenth), 2)
        ask = _Cpu(server)
        asked = [*numbers, *(chance.getrandbits(_BITS) for _ in numbers)]
        ask.begin()
        for at in range(0, len(asked), _BATCH):
            await seen.seen(asked[at : at + _BATCH])
        ask.end()
        contents = await _contents(seen_client, server, chance, urls)
        results = {
            "urls": urls * _SCALE,
            "bytes_a_url": steps,
            "keys": server.dbsize() * _SCALE,
            "mark_us": mark.each(urls),
            "seen_us": ask.each(len(asked)),
            **contents,
        }
    await seen.close()
    await seen_client.close()
    return results


async def _contents(client: RedisClient, server: Redis, chance: random.Random, pages: int) -> dict[str, Any]:
    """What the owner of a content takes beside them, and a claim with the look before it."""
    contents = RedisContents(client, _CRAWL)
    before, used, tenth = server.info("memory")["used_memory"], _Cpu(server), pages // 10
    steps = {}
    for step in range(1, 11):
        claims = [Claim(chance.getrandbits(_BITS).to_bytes(8, "big"), chance.getrandbits(64) | 1) for _ in range(tenth)]
        used.begin()
        for at in range(0, tenth, _BATCH):
            some = claims[at : at + _BATCH]
            await contents.owners([claim.fingerprint for claim in some])
            await contents.claim(some)
        used.end()
        steps[step * tenth * _SCALE] = round((server.info("memory")["used_memory"] - before) / (step * tenth), 2)
    return {"bytes_a_content": steps, "claim_us": used.each(pages)}


class _Cpu:
    """CPU seconds of this process and of the server, over one or more stretches."""

    def __init__(self, server: Redis) -> None:
        self._server = server
        self._used = {"worker": 0.0, "server": 0.0}

    def begin(self) -> None:
        self._add(-1)

    def end(self) -> None:
        self._add(1)

    def each(self, urls: int) -> dict[str, float]:
        """Microseconds a URL."""
        return {whose: round(seconds / urls * 1e6, 2) for whose, seconds in self._used.items()}

    def _add(self, sign: int) -> None:
        cpu = self._server.info("cpu")
        self._used["server"] += sign * (cpu["used_cpu_user"] + cpu["used_cpu_sys"])
        self._used["worker"] += sign * time.process_time()


def main() -> None:
    millions = float(sys.argv[1]) if len(sys.argv) > 1 else 1.25
    with tempfile.TemporaryDirectory() as folder:
        (port,) = free_ports(1)
        command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", ""]
        server = Process("redis", command, Path(folder), None)
        address = f"127.0.0.1:{port}"
        Service(name="redis", addresses=(address,), nodes=(server,), answers=lambda: listens(address)).start()
        try:
            results = asyncio.run(measure(address, int(millions * 1e6)))
        finally:
            server.kill()
    print(msgspec.json.encode(results).decode())


if __name__ == "__main__":
    main()
