"""The topics of a crawl: made once, never with another number of partitions."""

import os
import time
from typing import Final

from confluent_kafka import OFFSET_END, Consumer, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, ResourceType  # type: ignore[attr-defined]
from confluent_kafka.cimpl import NewTopic

from gregor.schemas import topics
from gregor.schemas.messages import PRIORITIES
from gregor.worker.adapters.cluster.kafka_client import client_settings, unavailable
from gregor.worker.adapters.cluster.made_for import compare
from gregor.worker.base.errors import BadInput
from gregor.worker.base.printable import one_line
from gregor.worker.config.servers import Servers

_RETRY: Final = 0.1
_UNSEEN: Final = frozenset({KafkaError.TOPIC_AUTHORIZATION_FAILED, KafkaError.CLUSTER_AUTHORIZATION_FAILED})
_REFUSED: Final = frozenset({KafkaError.INVALID_REPLICATION_FACTOR, KafkaError.POLICY_VIOLATION})
# Of several causes those that waiting does not mend are told.
_REFUSALS: Final = frozenset({KafkaError._AUTHENTICATION, KafkaError._SSL})


def create_topics(servers: Servers, crawl: str, partitions: int) -> list[str]:
    """Make the topics that are missing; their names. Blocks.

    Raises BadInput when one is there with another number of partitions, or set to lose what is unfinished, or can't be
    made like this; `Unavailable`.
    """
    missing = _missing(servers, crawl, partitions)
    _check_kept(servers, crawl, missing)
    if not missing:
        return []
    admin = AdminClient(client_settings(servers, os.environ))
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
    missing = _missing(servers, crawl, partitions)
    if missing:
        raise BadInput(f"crawl {crawl} is not set up in Kafka: topic {missing[0]} is missing; run gregor init")


def _check_kept(servers: Servers, crawl: str, missing: list[str]) -> None:
    """See that nothing unfinished expires from the frontier's topics that are there: others may have made them.

    Whoever may not see a topic's settings knows no better. Raises BadInput, `Unavailable`.
    """
    there = [name for priority in PRIORITIES if (name := topics.frontier(crawl, priority)) not in missing]
    if not there:
        return
    admin = AdminClient(client_settings(servers, os.environ))
    asked = [ConfigResource(ResourceType.TOPIC, name) for name in there]
    for resource, answer in admin.describe_configs(asked, request_timeout=servers.server_timeout).items():
        try:
            settings = answer.result()
        except KafkaException as error:
            if error.args[0].code() in _UNSEEN:
                continue
            raise unavailable(error) from None
        for setting, wanted in topics.KEEPS.items():
            # A broker of another make may not have every setting.
            if setting in settings and settings[setting].value != wanted:
                set_it = f"set its {setting} to {wanted}, not {one_line(str(settings[setting].value))}"
                raise BadInput(f"topic {resource.name} may lose URLs that are not finished: {set_it}")


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


def all_topics(servers: Servers) -> dict[str, int]:
    """Every topic's number of partitions. Raises `Unavailable` with what kept a broker from being reached. Blocks."""
    # What the call itself raises does not say why no broker was reached: connections tell of that beside it.
    errors: list[KafkaError] = []
    admin = AdminClient(client_settings(servers, os.environ) | {"error_cb": errors.append})
    try:
        topics = admin.list_topics(timeout=servers.server_timeout).topics
    except KafkaException as error:
        admin.poll(0)
        causes = [each for each in errors if each.code() != KafkaError._ALL_BROKERS_DOWN]
        raise unavailable(min(causes, key=lambda each: each.code() not in _REFUSALS, default=error)) from None
    return {name: len(topic.partitions) for name, topic in topics.items()}


def _missing(servers: Servers, crawl: str, partitions: int) -> list[str]:
    there = all_topics(servers)
    for name in _settings(crawl):
        if name in there:
            compare(f"topic {name}", {"partitions": str(partitions)}, {"partitions": str(there[name])})
    return [name for name in _settings(crawl) if name not in there]


def _settings(crawl: str) -> dict[str, dict[str, str]]:
    frontier = {topics.frontier(crawl, priority): topics.FRONTIER for priority in PRIORITIES}
    return {
        **frontier,
        topics.events(crawl): topics.PUBLISHED,
        topics.items(crawl): topics.PUBLISHED,
        topics.index(crawl): topics.PUBLISHED,
        topics.dead(crawl): topics.PUBLISHED,
    }
