"""What is particular to the frontier log in Kafka: what others see of it, and what happens when Kafka misbehaves."""

import asyncio
import functools
import uuid
from collections.abc import Awaitable, Callable

import msgspec
import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourceType,
)
from confluent_kafka.cimpl import NewTopic

from gregor.partitioner.hashing import partition_of
from gregor.schemas import topics
from gregor.schemas.events import ItemEvent
from gregor.schemas.items import StoredItem
from gregor.schemas.messages import Page, Ticket, encode
from gregor.worker.adapters.cluster.kafka_client import KafkaFailed
from gregor.worker.adapters.cluster.kafka_setup import check_topics, create_topics
from gregor.worker.adapters.cluster.log import KafkaLog
from gregor.worker.base.errors import BadInput
from gregor.worker.borders.errors import Unavailable
from gregor.worker.borders.log import FrontierRecord, RecordsLost, Unreadable, Vanished
from gregor.worker.config.servers import Servers
from tests.cluster.conftest import stoppable
from tests.cluster.kafka_engine import KafkaFactory, settings
from tests.cluster.servers import Service
from tests.cluster.servers.certificates import CA_FILE
from tests.cluster.servers.kafka import PASSWORD, USER
from tests.cluster.servers.process import Process
from tests.contract.world import ticket

HOST = "example.org"
PARTITIONS = 4
HOME = partition_of(HOST, PARTITIONS)


class Crawl:
    """A crawl's topics, and a log that is open."""

    def __init__(self, factory: KafkaFactory, log: KafkaLog) -> None:
        self.servers = factory.servers
        self.name = factory.crawl
        self.topic = topics.frontier(self.name, 2)
        self.log = log

    async def offsets(self, start: int, limit: int = 100) -> list[int]:
        return [record.offset for record in await self.log.read(HOME, 2, start, limit)]

    def produce(self, *values: bytes, partition: int = -1, key: str | None = None) -> None:
        """As another program does it; without a partition its partitioner decides."""
        producer = Producer({**self.client, "partitioner": "murmur2_random"})
        for value in values:
            producer.produce(self.topic, value, key, partition)
        assert producer.flush(60) == 0

    @property
    def client(self) -> dict[str, str | int | float | bool]:
        return {"bootstrap.servers": ",".join(self.servers.kafka), "log_level": 0, "broker.address.family": "v4"}


def over_kafka(case: Callable[[Crawl, Service], Awaitable[None]]) -> Callable[[Service], None]:
    """An asynchronous case over a crawl of its own."""

    @functools.wraps(case)
    def test(kafka: Service) -> None:
        async def whole() -> None:
            factory = KafkaFactory(kafka, PARTITIONS)
            log = await factory.log(trim_interval=0.1)
            try:
                async with asyncio.timeout(120):
                    await case(Crawl(factory, log), kafka)
            finally:
                await log.close()
                await factory.close()

        asyncio.run(whole())

    del test.__wrapped__
    return test


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    """Ask a server until it is so: each question takes a round trip."""
    while not await condition():
        pass


@over_kafka
async def test_other_clients_find_the_partition_of_a_host(crawl: Crawl, kafka: Service) -> None:
    crawl.produce(encode(ticket("a")), key=HOST)
    await until(lambda: has(crawl, 1))
    assert await crawl.offsets(0) == [0]


async def has(crawl: Crawl, end: int) -> bool:
    return (await crawl.log.ends(HOME))[2] == end


@over_kafka
async def test_items_are_told_each_by_itself_and_so_are_those_of_a_page_that_vanished(
    crawl: Crawl, kafka: Service
) -> None:
    items = [StoredItem("job", "job", "1", b'{"n":%d}' % number, f"[{number}]") for number in (1, 2)]
    page = Page("http://example.org/", "http://example.org/", HOST, 1, "new", 200, 1.0, items=items)
    gone = msgspec.structs.replace(page, visit=2, items=[msgspec.structs.replace(items[1], change="gone")])
    await crawl.log.announce(page)
    await crawl.log.announce(Vanished(gone))
    consumer = Consumer({**crawl.client, "group.id": "items", "enable.auto.commit": False})
    try:
        consumer.assign([TopicPartition(topics.items(crawl.name), HOME, 0)])
        messages = await asyncio.to_thread(consumer.consume, 3, 60)
        told = [msgspec.json.decode(message.value() or b"", type=ItemEvent) for message in messages]
        assert [(event.id, event.change, event.visit, event.fields) for event in told] == [
            ([1], "new", 1, {"n": 1}),
            ([2], "new", 1, {"n": 2}),
            ([2], "gone", 2, {"n": 2}),
        ]
    finally:
        consumer.close()


@over_kafka
async def test_lag_tools_see_the_watermarks(crawl: Crawl, kafka: Service) -> None:
    await crawl.log.publish([ticket("a"), ticket("b")])
    await crawl.log.commit(HOME, {2: 1}, epoch=7)
    consumer = Consumer({**crawl.client, "group.id": topics.group(crawl.name)})
    (found,) = consumer.committed([TopicPartition(crawl.topic, HOME)], timeout=20)
    consumer.close()
    assert (found.offset, found.metadata) == (1, "epoch=7")


@over_kafka
async def test_records_below_a_committed_watermark_are_deleted(crawl: Crawl, kafka: Service) -> None:
    await crawl.log.publish([ticket(str(number)) for number in range(5)])
    await crawl.log.commit(HOME, {2: 3}, epoch=1)

    async def trimmed() -> bool:
        return (await crawl.log.starts(HOME))[2] == 3

    await until(trimmed)
    assert await crawl.offsets(0) == [3, 4]
    assert await crawl.offsets(3) == [3, 4]


@over_kafka
async def test_an_offset_beyond_the_end_is_a_loss(crawl: Crawl, kafka: Service) -> None:
    await crawl.log.publish([ticket("a")])
    assert await crawl.offsets(1) == []
    with pytest.raises(RecordsLost, match=r"ends at 1, but was read up to 7"):
        await crawl.log.read(HOME, 2, 7, 10)


@over_kafka
async def test_a_watermark_beyond_the_end_tells_of_a_loss(crawl: Crawl, kafka: Service) -> None:
    await crawl.log.publish([ticket("a")])
    await crawl.log.commit(HOME, {2: 9}, epoch=1)
    assert (await crawl.log.committed(HOME))[2] == 9 > (await crawl.log.ends(HOME))[2]
    await crawl.log.commit(HOME, {2: 1}, epoch=1)
    assert (await crawl.log.committed(HOME))[2] == 1


@over_kafka
async def test_garbage_is_unreadable_and_stops_nothing(crawl: Crawl, kafka: Service) -> None:
    news = asyncio.Event()
    crawl.log.on_news(lambda partition: news.set() if partition == HOME else None)
    assert await crawl.offsets(0) == []
    crawl.produce(b"\xff garbage", encode(ticket("a")), b"", partition=HOME)
    await news.wait()
    await until(lambda: has(crawl, 3))
    first, second, third = await read(crawl, 3)
    assert isinstance(first, Unreadable)
    assert first.data == b"\xff garbage"
    assert isinstance(second, Ticket)
    assert isinstance(third, Unreadable)


async def read(crawl: Crawl, count: int) -> list[Ticket | Unreadable]:
    records: list[FrontierRecord] = []
    while len(records) < count:
        records = await crawl.log.read(HOME, 2, 0, count)
    return [record.ticket for record in records]


@over_kafka
async def test_a_slow_reader_misses_nothing_and_holds_little(crawl: Crawl, kafka: Service) -> None:
    count = 20_000
    await crawl.log.publish([ticket(str(number)) for number in range(count)])
    found: list[int] = []
    while len(found) < count:
        found += await crawl.offsets(len(found), 100)
        assert all(len(buffer.rest(count)) < 1000 for buffer in crawl.log._reader._buffers.values())
    assert found == list(range(count))


@over_kafka
async def test_a_dead_thread_is_noticed(crawl: Crawl, kafka: Service) -> None:
    def fail() -> None:
        raise MemoryError("out of it")

    crawl.log._thread.call(fail)
    with pytest.raises(KafkaFailed, match="out of it"):
        await crawl.log.read(HOME, 2, 0, 1)
    with pytest.raises(KafkaFailed, match="out of it"):
        await crawl.log.publish([ticket("a")])


def test_topics_are_made_once_with_one_number_of_partitions(kafka: Service) -> None:
    servers, crawl = settings(kafka), f"test-{uuid.uuid4().hex[:12]}"
    with pytest.raises(BadInput, match=r"not set up in Kafka.*gregor init"):
        check_topics(servers, crawl, 2)
    assert len(create_topics(servers, crawl, 2)) == 8
    assert create_topics(servers, crawl, 2) == []
    for refused in (create_topics, check_topics):
        with pytest.raises(BadInput, match=r"was made for partitions = 2, not 3; it is fixed once per crawl"):
            refused(servers, crawl, 3)
    too_many = msgspec.structs.replace(servers, kafka_replication=100)
    with pytest.raises(BadInput, match="does not make topic"):
        create_topics(too_many, f"{crawl}-2", 2)


LOSING = {
    "cleanup.policy": "compact",
    "retention.ms": "604800000",
    "retention.bytes": "1073741824",
    "unclean.leader.election.enable": "true",
}


def test_a_topic_that_may_lose_what_is_unfinished_is_refused(kafka: Service) -> None:
    servers, crawl = settings(kafka), f"test-{uuid.uuid4().hex[:12]}"
    admin = AdminClient({"bootstrap.servers": ",".join(servers.kafka), "log_level": 0})
    name = topics.frontier(crawl, 3)
    admin.create_topics([NewTopic(name, 2, 1, config=topics.KEEPS)])[name].result()

    def set_to(setting: str, value: str) -> None:
        entry = ConfigEntry(setting, value, incremental_operation=AlterConfigOpType.SET)
        resource = ConfigResource(ResourceType.TOPIC, name, incremental_configs=[entry])
        admin.incremental_alter_configs([resource])[resource].result()

    assert LOSING.keys() == topics.KEEPS.keys()
    for setting, value in LOSING.items():
        set_to(setting, value)
        with pytest.raises(
            BadInput, match=rf"{name} may lose .*: set its {setting} to {topics.KEEPS[setting]}, not {value}"
        ):
            create_topics(servers, crawl, 2)
        set_to(setting, topics.KEEPS[setting])
    assert name not in create_topics(servers, crawl, 2)


def test_no_kafka_is_unavailable() -> None:
    servers = Servers(kafka=("127.0.0.1:9",), server_timeout=0.5)
    with pytest.raises(Unavailable, match="Kafka is unavailable"):
        create_topics(servers, "nowhere", 1)


def test_tls_and_scram(kafka_secure: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    node = stoppable(kafka_secure).nodes[0]
    assert isinstance(node, Process)
    factory = KafkaFactory(kafka_secure, PARTITIONS)
    factory.servers = msgspec.structs.replace(
        factory.servers,
        kafka_security="sasl_ssl",
        kafka_username=USER,
        kafka_password_env="KAFKA_SECRET",
        kafka_ca_file=str(node.folder / CA_FILE),
    )

    async def whole() -> None:
        log = await factory.log()
        await log.publish([ticket("a")])
        assert len(await log.read(HOME, 2, 0, 10)) == 1
        await log.commit(HOME, {2: 1}, epoch=1)
        assert (await log.committed(HOME))[2] == 1
        await log.close()

    monkeypatch.setenv("KAFKA_SECRET", PASSWORD)
    asyncio.run(asyncio.wait_for(whole(), 120))
    for change in ({"kafka_ca_file": ""}, {"kafka_username": "other"}, {"kafka_security": "plaintext"}):
        other = msgspec.structs.replace(factory.servers, server_timeout=2.0, **change)
        with pytest.raises(Unavailable) as refused:
            check_topics(other, factory.crawl, PARTITIONS)
        assert PASSWORD not in str(refused.value)
