"""Kafka in KRaft mode: brokers that are controllers too."""

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from tests.cluster.servers.certificates import write_certificates
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


# Appended to the properties; the later of two equal keys counts.
_SECURE: Final = """\
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller},SASL_SSL://127.0.0.1:{secure}
advertised.listeners=PLAINTEXT://127.0.0.1:{port},SASL_SSL://127.0.0.1:{secure}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL_SSL:SASL_SSL
sasl.enabled.mechanisms=SCRAM-SHA-512
listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
ssl.keystore.type=PEM
ssl.keystore.location={folder}/server.pem
"""
USER: Final = "gregor"
PASSWORD: Final = "correct horse"


def start(folder: Path, guard: Guard | None, brokers: int = 1, options: Sequence[str] = ()) -> Service:
    """Start brokers, their JVMs with more ``options``; raises `Missing` or `ServerFailed`."""
    ports = free_ports(2 * brokers)
    pairs = list(zip(ports[:brokers], ports[brokers:], strict=True))
    voters = ",".join(f"{node}@127.0.0.1:{controller}" for node, (_, controller) in enumerate(pairs, 1))
    nodes = []
    for node, (port, controller) in enumerate(pairs, 1):
        home = folder / f"kafka{node}"
        properties = _PROPERTIES.format(
            node=node, voters=voters, port=port, controller=controller, folder=home, replication=brokers
        )
        nodes.append(_broker(home, guard, properties, options=options))
    addresses = tuple(f"127.0.0.1:{port}" for port, _ in pairs)
    return _started(Service(name="kafka", addresses=addresses, nodes=tuple(nodes), answers=lambda: answers(addresses)))


def start_secure(folder: Path, guard: Guard | None) -> Service:
    """Start a broker that clients reach by TLS and SCRAM only, as `USER` with `PASSWORD`."""
    port, controller, secure = free_ports(3)
    home = folder / "kafka-secure"
    home.mkdir(parents=True, exist_ok=True)
    write_certificates(home)
    properties = _PROPERTIES.format(
        node=1, voters=f"1@127.0.0.1:{controller}", port=port, controller=controller, folder=home, replication=1
    ) + _SECURE.format(port=port, controller=controller, secure=secure, folder=home)
    node = _broker(home, guard, properties, f"SCRAM-SHA-512=[name={USER},password={PASSWORD}]")
    address = f"127.0.0.1:{secure}"
    inner = (f"127.0.0.1:{port}",)
    return _started(Service(name="kafka_secure", addresses=(address,), nodes=(node,), answers=lambda: answers(inner)))


def _started(service: Service) -> Service:
    service.start()
    return service


def _broker(home: Path, guard: Guard | None, properties: str, *users: str, options: Sequence[str] = ()) -> Process:
    """Format a broker's folder, with SCRAM users; it does not run yet."""
    java = [*_JAVA, "-cp", f"{jars('kafka', _ARTIFACTS)}/*"]
    home.mkdir(parents=True, exist_ok=True)
    file = home / "server.properties"
    file.write_text(properties)
    format_ = [*java, "kafka.tools.StorageTool", "format", "-t", _CLUSTER, "-c", str(file)]
    scram = [word for user in users for word in ("--add-scram", user)]
    subprocess.run([*format_, *scram], check=True, capture_output=True, timeout=120)
    return Process("kafka", [*java, *options, "kafka.Kafka", str(file)], home, guard)


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
