"""Kafka at its worst: a broker that is away, one that is killed, one that lost its data."""

import asyncio
import shutil
from collections.abc import Awaitable, Callable

import msgspec
import pytest

from gregor.partitioner.hashing import partition_of
from gregor.schemas import topics
from gregor.schemas.messages import Ticket
from gregor.worker.adapters.cluster.kafka_client import KafkaFailed
from gregor.worker.adapters.cluster.log import KafkaLog
from gregor.worker.borders.errors import Unavailable
from gregor.worker.borders.log import RecordsLost
from tests.cluster.conftest import stoppable
from tests.cluster.kafka_engine import KafkaFactory
from tests.cluster.servers import Service
from tests.cluster.servers.process import Process
from tests.contract.world import ticket

HOST = "example.org"
PARTITIONS = 4
HOME = partition_of(HOST, PARTITIONS)


def test_while_the_broker_is_away(kafka: Service) -> None:
    """Calls fail in time, and the same calls work when it is back."""
    stoppable(kafka)

    async def whole() -> None:
        factory = KafkaFactory(kafka, PARTITIONS)
        factory.servers = msgspec.structs.replace(factory.servers, server_timeout=2.0)
        log = await factory.log()
        await log.publish([ticket("a")])
        assert len(await log.read(HOME, 2, 0, 10)) == 1
        await asyncio.to_thread(kafka.kill)
        calls: list[Callable[[], Awaitable[object]]] = [
            lambda: log.publish([ticket("b")]),
            lambda: log.read(HOME, 3, 0, 10),
            lambda: log.commit(HOME, {2: 1}, 1),
            lambda: log.ends(HOME),
        ]
        for call in calls:
            with pytest.raises(Unavailable, match="Kafka is unavailable"):
                await call()
        blind = KafkaLog(factory.servers, factory.crawl, PARTITIONS)
        with pytest.raises(Unavailable, match="Kafka is unavailable"):
            await blind.committed(HOME)
        lost = asyncio.create_task(blind.publish([ticket("c")]))
        await asyncio.sleep(0)
        await blind.close()
        with pytest.raises((KafkaFailed, Unavailable)):
            await lost
        await asyncio.to_thread(kafka.start)
        for call in calls:
            await patiently(call)
        assert (await log.committed(HOME))[2] == 1
        found = [record.ticket.key for record in await log.read(HOME, 2, 0, 10) if isinstance(record.ticket, Ticket)]
        assert found[0].endswith("/a")
        assert found[-1].endswith("/b")
        await log.close()
        await factory.close()

    asyncio.run(asyncio.wait_for(whole(), 240))


def test_data_that_a_broker_lost_is_reported(kafka: Service) -> None:
    """The directory of a partition is gone after a restart: whoever read it hears of it, and a new owner goes on."""
    node = stoppable(kafka).nodes[0]
    if not isinstance(node, Process):
        pytest.skip("the broker's files are in a container")

    async def whole() -> None:
        factory = KafkaFactory(kafka, PARTITIONS)
        log = await factory.log()
        topic = topics.frontier(factory.crawl, 2)
        await log.publish([ticket(str(number)) for number in range(5)])
        assert len(await log.read(HOME, 2, 0, 10)) == 5
        assert await log.read(HOME, 2, 5, 10) == []
        await log.commit(HOME, {2: 3}, epoch=1)
        await asyncio.to_thread(kafka.kill)
        shutil.rmtree(node.folder / "data" / f"{topic}-{HOME}")
        await asyncio.to_thread(kafka.start)
        with pytest.raises(RecordsLost, match=r"ends at 0, but was read up to 5"):
            while True:
                await patiently(lambda: log.read(HOME, 2, 5, 10))
        await log.close()
        log = await factory.log()
        assert (await log.committed(HOME))[2] == 3 > (await log.ends(HOME))[2]
        await log.publish([ticket("new")])
        assert [record.offset for record in await log.read(HOME, 2, 0, 10)] == [0]
        await log.close()
        await factory.close()

    asyncio.run(asyncio.wait_for(whole(), 240))


async def patiently(call: Callable[[], Awaitable[object]]) -> None:
    while True:
        try:
            await call()
        except Unavailable:
            continue
        return


def test_one_broker_of_three_is_killed(kafka3: Service) -> None:
    """Whatever was acknowledged is there, in a log that goes on."""
    stoppable(kafka3)

    async def whole() -> None:
        factory = KafkaFactory(kafka3, PARTITIONS)
        log = await factory.log()

        async def ask() -> None:
            while True:  # also at the moment in which partitions have no leader
                await asyncio.gather(*(log.ends(partition) for partition in range(PARTITIONS)))

        asking = asyncio.create_task(ask())
        killed = asyncio.create_task(asyncio.to_thread(kafka3.nodes[0].kill))
        for batch in range(30):
            await log.publish([ticket(f"{batch}-{number}", f"h{number}.example") for number in range(40)])
        await killed
        for _ in range(3):
            # One that was asked after the kill may have met that moment, and holds up those behind it.
            await log.ends(HOME)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        found: set[str] = set()
        for partition in range(PARTITIONS):
            records = await log.read(partition, 2, 0, 1000)
            while records:
                found |= {record.ticket.key for record in records if isinstance(record.ticket, Ticket)}
                records = await log.read(partition, 2, records[-1].offset + 1, 1000)
        assert len(found) == 1200
        await log.commit(HOME, {2: 1}, 1)
        await log.close()
        await factory.close()

    asyncio.run(asyncio.wait_for(whole(), 240))
