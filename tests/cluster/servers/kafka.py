"""Kafka in KRaft mode: brokers that are controllers too."""

import subprocess
from pathlib import Path
from typing import Final

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from tests.cluster.servers.guard import Guard
from tests.cluster.servers.packages import jars
from tests.cluster.servers.process import Process, free_ports, listens
from tests.cluster.servers.service import Service

_VERSION: Final = "4.1.1"
_ARTIFACTS: Final = (f"org.apache.kafka:kafka_2.13:{_VERSION}", f"org.apache.kafka:kafka-tools:{_VERSION}")
# 16 bytes as base64, as Kafka writes ids.
_CLUSTER: Final = "Z3JlZ29yLXRlc3Qta2Fmaw"
_JAVA: Final = ("java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")

# The four timeouts make a killed broker come back in 4 s instead of 11; the rest keeps it small.
_PROPERTIES: Final = """\
process.roles=broker,controller
node.id={node}
controller.quorum.voters={voters}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
log.dirs={folder}/data
broker.session.timeout.ms=2000
broker.heartbeat.interval.ms=500
controller.quorum.election.timeout.ms=300
controller.quorum.fetch.timeout.ms=1000
auto.create.topics.enable=false
offsets.topic.num.partitions=4
offsets.topic.replication.factor={replication}
transaction.state.log.num.partitions=1
transaction.state.log.replication.factor={replication}
transaction.state.log.min.isr=1
share.coordinator.state.topic.num.partitions=1
share.coordinator.state.topic.replication.factor={replication}
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
log.cleaner.dedupe.buffer.size=16777216
num.network.threads=2
num.io.threads=2
controlled.shutdown.max.retries=1
"""


def start(folder: Path, guard: Guard | None, brokers: int = 1) -> Service:
    """Start brokers; raises `Missing` or `ServerFailed`."""
    classpath = f"{jars('kafka', _ARTIFACTS)}/*"
    ports = free_ports(2 * brokers)
    pairs = list(zip(ports[:brokers], ports[brokers:], strict=True))
    voters = ",".join(f"{node}@127.0.0.1:{controller}" for node, (_, controller) in enumerate(pairs, 1))
    nodes = []
    for node, (port, controller) in enumerate(pairs, 1):
        home = folder / f"kafka{node}"
        home.mkdir(parents=True, exist_ok=True)
        properties = home / "server.properties"
        properties.write_text(
            _PROPERTIES.format(
                node=node, voters=voters, port=port, controller=controller, folder=home, replication=brokers
            )
        )
        java = [*_JAVA, "-cp", classpath]
        format_ = [*java, "kafka.tools.StorageTool", "format", "-t", _CLUSTER, "-c", str(properties)]
        subprocess.run(format_, check=True, capture_output=True, timeout=120)
        nodes.append(Process("kafka", [*java, "kafka.Kafka", str(properties)], home, guard))
    addresses = tuple(f"127.0.0.1:{port}" for port, _ in pairs)
    service = Service(name="kafka", addresses=addresses, nodes=tuple(nodes), answers=lambda: answers(addresses))
    service.start()
    return service


def answers(addresses: tuple[str, ...]) -> bool:
    """Whether all brokers are known to the cluster and every partition has a leader."""
    if not all(listens(address) for address in addresses):
        return False
    settings: dict[str, str | int | float | bool] = {
        "bootstrap.servers": ",".join(addresses),
        "log_level": 0,
        "broker.address.family": "v4",
    }
    try:
        found = AdminClient(settings).list_topics(timeout=5)
    except KafkaException:
        return False
    leaders = [part.leader for topic in found.topics.values() for part in topic.partitions.values()]
    return len(found.brokers) >= len(addresses) and -1 not in leaders
