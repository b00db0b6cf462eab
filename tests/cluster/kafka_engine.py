"""A crawl's data in Kafka, for the contract suite and for what is particular to Kafka."""

import asyncio
import uuid
from dataclasses import dataclass
from typing import Final, cast

from confluent_kafka.admin import AdminClient

from gregor.schemas import topics
from gregor.schemas.messages import PRIORITIES
from gregor.worker.adapters.cluster.kafka_setup import create_topics
from gregor.worker.adapters.cluster.log import KafkaLog
from gregor.worker.borders.clock import Clock
from gregor.worker.borders.reader import Reader
from gregor.worker.config.servers import Servers
from tests.cluster.servers import Service
from tests.contract.engines import PARTITIONS, Engine

# A case of the contract may read from a start that it asked for before a deletion.
_NEVER: Final = 1e6


@dataclass(frozen=True)
class LogEngine:
    """An engine that has a log only."""

    log: KafkaLog

    async def close(self) -> None:
        await self.log.close()


class KafkaFactory:
    """`EngineFactory`, for cases that use the log only."""

    def __init__(self, service: Service, partitions: int = PARTITIONS) -> None:
        self.servers = settings(service)
        self.crawl = f"test-{uuid.uuid4().hex[:12]}"
        self.partitions = partitions

    async def open(self, clock: Clock | None = None) -> Engine:
        return cast(Engine, LogEngine(await self.log(trim_interval=_NEVER)))

    async def log(self, *, trim_interval: float = 10.0) -> KafkaLog:
        await asyncio.to_thread(create_topics, self.servers, self.crawl, self.partitions)
        return KafkaLog(self.servers, self.crawl, self.partitions, trim_interval=trim_interval)

    async def reader(self) -> Reader:
        raise NotImplementedError("there is nothing to read but the log")

    async def close(self) -> None:
        frontier = [topics.frontier(self.crawl, priority) for priority in PRIORITIES]
        names = [*frontier, topics.events(self.crawl), topics.items(self.crawl), topics.dead(self.crawl)]
        admin = AdminClient({"bootstrap.servers": ",".join(self.servers.kafka), "log_level": 0})
        for answer in admin.delete_topics(names).values():
            await asyncio.wrap_future(answer)


def settings(service: Service) -> Servers:
    """Settings that reach the brokers, with as many replicas as there are brokers."""
    return Servers(kafka=service.addresses, kafka_replication=len(service.addresses), server_timeout=20.0)
