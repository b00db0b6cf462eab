"""The topics of a crawl: made once, never with another number of partitions."""

import os
import time
from typing import Final

from confluent_kafka import OFFSET_END, Consumer, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from gregor.schemas import topics
from gregor.schemas.messages import PRIORITIES
from gregor.worker.adapters.cluster.kafka_client import client_settings, unavailable
from gregor.worker.config_servers import Servers
from gregor.worker.errors import BadInput

_RETRY: Final = 0.1
_REFUSED: Final = frozenset({KafkaError.INVALID_REPLICATION_FACTOR, KafkaError.POLICY_VIOLATION})


def create_topics(servers: Servers, crawl: str, partitions: int) -> list[str]:
    """Make the topics that are missing; their names. Blocks.

    Raises BadInput when one is there with another number of partitions or can't be made like this, `Unavailable`.
    """
    admin = AdminClient(client_settings(servers, os.environ))
    missing = _missing(admin, servers, crawl, partitions)
    if not missing:
        return []
    acknowledging = {"min.insync.replicas": str(max(1, servers.kafka_replication - 1))}
    settings = _settings(crawl)
    wanted = [
        NewTopic(name, partitions, servers.kafka_replication, config=settings[name] | acknowledging) for name in missing
    ]
    for name, made in admin.create_topics(wanted, request_timeout=servers.server_timeout).items():
        try:
            made.result()
        except KafkaException as failure:
            error = failure.args[0]
            if error.code() in _REFUSED:
                raise BadInput(f"Kafka does not make topic {name}: {error.str()}") from None
            if error.code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise unavailable(failure) from None
    _await_leaders(servers, crawl, partitions)
    check_topics(servers, crawl, partitions)
    return missing


def check_topics(servers: Servers, crawl: str, partitions: int) -> None:
    """Raises BadInput when a topic is missing or has another number of partitions, `Unavailable`. Blocks."""
    missing = _missing(AdminClient(client_settings(servers, os.environ)), servers, crawl, partitions)
    if missing:
        raise BadInput(f"crawl {crawl} is not set up in Kafka: topic {missing[0]} is missing; run gregor init")


def _await_leaders(servers: Servers, crawl: str, partitions: int) -> None:
    """Wait until every partition of the topics is served, which takes a moment after they are made."""
    consumer = Consumer(client_settings(servers, os.environ) | {"group.id": topics.group(crawl)})
    wanted = [TopicPartition(name, number, OFFSET_END) for name in _settings(crawl) for number in range(partitions)]
    deadline = time.monotonic() + servers.start_timeout
    try:
        while True:
            try:
                consumer.offsets_for_times(wanted, timeout=servers.server_timeout)
            except KafkaException as error:
                if time.monotonic() > deadline:
                    raise unavailable(error) from None
                time.sleep(_RETRY)
            else:
                return
    finally:
        consumer.close()


def _missing(admin: AdminClient, servers: Servers, crawl: str, partitions: int) -> list[str]:
    try:
        there = admin.list_topics(timeout=servers.server_timeout).topics
    except KafkaException as error:
        raise unavailable(error) from None
    for name in _settings(crawl):
        if name in there and len(there[name].partitions) != partitions:
            raise BadInput(
                f"topic {name} has {len(there[name].partitions)} partitions, not {partitions}: "
                "the number of partitions is fixed once per crawl"
            )
    return [name for name in _settings(crawl) if name not in there]


def _settings(crawl: str) -> dict[str, dict[str, str]]:
    frontier = {topics.frontier(crawl, priority): topics.FRONTIER for priority in PRIORITIES}
    return {**frontier, topics.events(crawl): topics.PUBLISHED, topics.dead(crawl): topics.PUBLISHED}
