"""The same servers as containers, where a Docker daemon answers. Host ports are fixed, so that a restart keeps them."""

import os
from functools import cache
from typing import TYPE_CHECKING, Final

from tests.cluster.servers import cassandra, kafka, redis, zookeeper
from tests.cluster.servers.process import free_ports
from tests.cluster.servers.service import Service

if TYPE_CHECKING:
    from testcontainers.core.container import DockerContainer

_KAFKA: Final = "apache/kafka:4.1.1"
_ZOOKEEPER: Final = "zookeeper:3.9"
_REDIS: Final = "redis:7"
_CASSANDRA: Final = "cassandra:5.0"
_TAIL: Final = 4000


class Container:
    """A `Node`."""

    def __init__(self, container: "DockerContainer") -> None:
        container.start()
        self._container = container.get_wrapped_container()
        self._id = str(self._container.id)

    @property
    def id(self) -> str:
        return self._id

    @property
    def running(self) -> bool:
        self._container.reload()
        status: str = self._container.status
        return status in ("created", "running", "paused", "restarting")

    def start(self) -> None:
        self._container.start()

    def stop(self) -> None:
        self._container.stop(timeout=30)

    def kill(self) -> None:
        if self.running:
            self._container.kill()
        self._container.wait()

    def pause(self) -> None:
        self._container.pause()

    def resume(self) -> None:
        self._container.unpause()

    def tail(self) -> str:
        log: bytes = self._container.logs(tail=100)
        return log[-_TAIL:].decode(errors="replace")


@cache
def available() -> bool:
    """Whether a Docker daemon answers."""
    from docker.errors import DockerException  # type: ignore[import-not-found]  # our folder docker/ hides it
    from testcontainers.core.docker_client import DockerClient

    try:
        return bool(DockerClient(timeout=5).client.ping())
    except (DockerException, OSError):
        return False


def keep() -> None:
    """Let containers outlive this process: no reaper. Call it before the first start."""
    os.environ["TESTCONTAINERS_RYUK_DISABLED"] = "true"


def start(name: str) -> Service:
    """Start a server by its name; raises `ServerFailed`."""
    return _STARTS[name]()


def _kafka(brokers: int = 1) -> Service:
    ports = free_ports(2 * brokers)
    pairs = list(zip(ports[:brokers], ports[brokers:], strict=True))
    voters = ",".join(f"{node}@127.0.0.1:{controller}" for node, (_, controller) in enumerate(pairs, 1))
    nodes = []
    for node, (port, controller) in enumerate(pairs, 1):
        settings = {
            "KAFKA_NODE_ID": str(node),
            "KAFKA_PROCESS_ROLES": "broker,controller",
            "KAFKA_CONTROLLER_QUORUM_VOTERS": voters,
            "KAFKA_LISTENERS": f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}",
            "KAFKA_ADVERTISED_LISTENERS": f"PLAINTEXT://127.0.0.1:{port}",
            "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "KAFKA_CONTROLLER_LISTENER_NAMES": "CONTROLLER",
            "KAFKA_INTER_BROKER_LISTENER_NAME": "PLAINTEXT",
            "KAFKA_BROKER_SESSION_TIMEOUT_MS": "2000",
            "KAFKA_BROKER_HEARTBEAT_INTERVAL_MS": "500",
            "KAFKA_AUTO_CREATE_TOPICS_ENABLE": "false",
            "KAFKA_OFFSETS_TOPIC_NUM_PARTITIONS": "4",
            "KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR": str(brokers),
            "KAFKA_HEAP_OPTS": "-Xmx256m",
        }
        # The brokers and their controllers reach each other and the tests by the same loopback addresses.
        nodes.append(_run(_KAFKA, settings, network_mode="host"))
    addresses = tuple(f"127.0.0.1:{port}" for port, _ in pairs)
    return _up(Service(name="kafka", addresses=addresses, nodes=tuple(nodes), answers=lambda: kafka.answers(addresses)))


def _zookeeper() -> Service:
    (port,) = free_ports(1)
    settings = {"ZOO_TICK_TIME": "500", "ZOO_CFG_EXTRA": "minSessionTimeout=1000", "ZOO_4LW_COMMANDS_WHITELIST": "*"}
    addresses = (f"127.0.0.1:{port}",)
    nodes = (_run(_ZOOKEEPER, settings, ports={2181: port}),)
    return _up(
        Service(name="zookeeper", addresses=addresses, nodes=nodes, answers=lambda: zookeeper.answers(addresses))
    )


def _redis() -> Service:
    ports = free_ports(2)
    nodes = []
    for port in ports:
        follow = () if port == ports[0] else (f"replicaof 127.0.0.1 {ports[0]}",)
        lines = ("bind 127.0.0.1", f"port {port}", "dir /data", *redis.SETTINGS, *follow)
        nodes.append(_run(_REDIS, {}, command=_configured("redis-server", lines), network_mode="host"))
    addresses = tuple(f"127.0.0.1:{port}" for port in ports)
    return _up(Service(name="redis", addresses=addresses, nodes=tuple(nodes), answers=lambda: redis.answers(addresses)))


def _configured(program: str, lines: tuple[str, ...]) -> list[str]:
    """Run with a file of these lines; what the program writes there itself is kept over a restart."""
    script = f"[ -e /data/s.conf ] || printf '%s\\n' {' '.join(map(repr, lines))} > /data/s.conf"
    return ["sh", "-c", f"{script}; exec {program} /data/s.conf"]


def _sentinel() -> Service:
    pair = _redis()
    (port,) = free_ports(1)
    primary = pair.addresses[0].rpartition(":")[2]
    lines = (
        "bind 127.0.0.1",
        f"port {port}",
        f"sentinel monitor {redis.MASTER} 127.0.0.1 {primary} 1",
        f"sentinel down-after-milliseconds {redis.MASTER} 1000",
        f"sentinel failover-timeout {redis.MASTER} 5000",
    )
    node = _run(_REDIS, {}, command=_configured("redis-sentinel", lines), network_mode="host")
    addresses = (*pair.addresses, f"127.0.0.1:{port}")
    return _up(
        Service(
            name="sentinel",
            addresses=addresses,
            nodes=(*pair.nodes, node),
            answers=lambda: redis.sentinel_answers(addresses),
        )
    )


def _cassandra() -> Service:
    (port,) = free_ports(1)
    settings = {
        "MAX_HEAP_SIZE": "512M",
        "HEAP_NEWSIZE": "128M",
        "CASSANDRA_NUM_TOKENS": "1",
        "JVM_EXTRA_OPTS": "-Dcassandra.ring_delay_ms=100 -Dcassandra.skip_wait_for_gossip_to_settle=0",
    }
    addresses = (f"127.0.0.1:{port}",)
    nodes = (_run(_CASSANDRA, settings, ports={9042: port}),)
    return _up(
        Service(name="cassandra", addresses=addresses, nodes=nodes, answers=lambda: cassandra.answers(addresses))
    )


_STARTS: Final = {
    "kafka": _kafka,
    "kafka3": lambda: _kafka(3),
    "zookeeper": _zookeeper,
    "redis": _redis,
    "sentinel": _sentinel,
    "cassandra": _cassandra,
}

NAMES: Final = frozenset(_STARTS)


def _run(
    image: str,
    settings: dict[str, str],
    *,
    ports: dict[int, int] | None = None,
    command: str | list[str] | None = None,
    network_mode: str | None = None,
) -> Container:
    from testcontainers.core.container import DockerContainer

    container = DockerContainer(image)
    for name, value in settings.items():
        container.with_env(name, value)
    for inside, outside in (ports or {}).items():
        container.ports[f"{inside}/tcp"] = ("127.0.0.1", outside)  # type: ignore[assignment]  # docker-py takes it
    if command is not None:
        container.with_command(command)
    if network_mode is not None:
        container.with_kwargs(network_mode=network_mode)
    return Container(container)


def _up(service: Service) -> Service:
    service.ready()
    return service
