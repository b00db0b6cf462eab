"""`gregor check` over real Cassandra and Redis: what is damaged or missing is found, and mended beside workers."""

import asyncio
import io
import uuid
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import cast

import msgspec
import pytest

from gregor.partitioner.hashing import partition_of
from gregor.schemas.messages import encode, url_fingerprint
from gregor.worker.adapters.cluster.cassandra_client import Cassandra
from gregor.worker.adapters.cluster.contents import Contents
from gregor.worker.adapters.cluster.reader import ClusterReader
from gregor.worker.adapters.cluster.seen import RedisSeen
from gregor.worker.adapters.cluster.stock import ClusterMending, ClusterStock
from gregor.worker.adapters.cluster.store import ClusterStore
from gregor.worker.adapters.cluster.store_pages import _compress
from gregor.worker.adapters.differences import Differences
from gregor.worker.borders.log import FrontierLog
from gregor.worker.config.servers import Servers
from gregor.worker.inspect.check import StockCheck, StockFinding
from gregor.worker.inspect.mend import Mender
from gregor.worker.web.urls import Urls
from tests.cluster.keyspaces import keyspace
from tests.cluster.servers import Service
from tests.contract.engines import PARTITIONS
from tests.contract.world import ManualClock
from tests.reading import page, row, ticket
from tests.simulation.contract import SimulatedFactory

_KEYSPACE = "gregor_check"
HOST = "a.test"
HOME = partition_of(HOST, PARTITIONS)
BODY = bytes(range(256)) * 5000


@pytest.fixture
def settings(cassandra: Service, redis: Service) -> Iterator[Servers]:
    """Empty at first."""
    with keyspace(cassandra, _KEYSPACE, {"crawl": "test", "partitions": "8"}) as settings:
        yield msgspec.structs.replace(settings, redis=redis.addresses[:1])


def test_what_is_damaged_or_missing_is_found_and_mended(settings: Servers) -> None:
    async def case() -> None:
        cassandra = await Cassandra.connect(settings, _KEYSPACE, {})
        seen = await RedisSeen.open(settings, uuid.uuid4().hex, Contents(cassandra), {})
        log = cast(FrontierLog, (await SimulatedFactory(Path("none"), PARTITIONS).open(ManualClock())).log)
        store, reader = ClusterStore(cassandra), ClusterReader(cassandra, PARTITIONS, log=log)
        reader.on_damage = lambda _: None

        async def check() -> list[StockFinding]:
            stock = ClusterStock(cassandra, log, seen, PARTITIONS, 1.0)
            return [one async for one in StockCheck(stock, Urls(), Differences, lambda *_: None).findings()]

        pages = {name: page(f"http://{HOST}/{name}", BODY + name.encode()) for name in ("whole", "flipped", "row")}
        for name, made in pages.items():
            await store.put_page(made, io.BytesIO(BODY + name.encode()), None, 5)
            await store.put_rows([row(made, page=1)], 5)
        await seen.mark([url_fingerprint(made.key) for made in pages.values()])
        assert await check() == []

        body = sha256(BODY + b"flipped").digest()
        chunk = "INSERT INTO body_chunks (sha256, chunk, data) VALUES (?, 1, ?)"
        await cassandra.write(chunk, (body, _compress(b"other")))
        await cassandra.write("UPDATE rows USING TIMESTAMP 6 SET data = 0xc1 WHERE key = ?", (pages["row"].key,))
        lost = ticket(f"http://{HOST}/indexless")
        entry = "INSERT INTO calendar (partition, bucket, id, data) VALUES (?, 70, ?, ?) USING TIMESTAMP 9"
        await cassandra.write(entry, (HOME, lost.id, encode(lost)))

        found = await check()
        assert {(one.place[0], one.mend) for one in found} == {
            ("bodies", "drop"),
            ("pages", "fetch again"),
            ("rows", "rebuild"),
            ("calendar", "right"),
        }
        mender = Mender(ClusterMending(cassandra, log, seen), reader, Urls())
        assert await mender.mend_all(found) == 4
        assert await store.buckets(HOME, 0, 100, 10) == [70]
        assert await store.read_bucket(HOME, 70) == [lost]
        rows = await store.rows([made.key for made in pages.values()])
        assert [one is not None and one.state for one in rows] == ["fetched"] * 3
        ends = await log.ends(HOME)
        assert sum(ends.values()) == 2  # the flipped one and the one without a row are visited again
        await seen.close()
        await cassandra.close()

    async def whole() -> None:
        async with asyncio.timeout(120):
            await case()

    asyncio.run(whole())
