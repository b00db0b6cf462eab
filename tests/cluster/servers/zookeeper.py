"""ZooKeeper: one server, or several that elect a leader."""

import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.cluster.servers.guard import Guard
from tests.cluster.servers.packages import jars
from tests.cluster.servers.process import Process, free_ports
from tests.cluster.servers.service import Service

# The server needs the last two and does not declare them.
_ARTIFACTS: Final = (
    "org.apache.zookeeper:zookeeper:3.9.4",
    "io.dropwizard.metrics:metrics-core:4.2.33",
    "org.xerial.snappy:snappy-java:1.1.10.8",
)
# Its image has them.
_METRICS: Final = (
    "org.apache.zookeeper:zookeeper-prometheus-metrics:3.9.4",
    "org.eclipse.jetty:jetty-server:9.4.57.v20241219",
    "org.eclipse.jetty:jetty-servlet:9.4.57.v20241219",
)
_PROVIDER: Final = """\
metricsProvider.className=org.apache.zookeeper.metrics.prometheus.PrometheusMetricsProvider
metricsProvider.httpHost=127.0.0.1
metricsProvider.httpPort={port}
"""
_CONFIG: Final = """\
tickTime=500
initLimit=20
syncLimit=10
minSessionTimeout=1000
maxClientCnxns=0
dataDir={folder}/data
clientPort={port}
clientPortAddress=127.0.0.1
admin.enableServer=false
4lw.commands.whitelist=*
"""
_MAIN: Final = "org.apache.zookeeper.server.quorum.QuorumPeerMain"


def start(folder: Path, guard: Guard | None, count: int = 1, metrics: Sequence[int] = ()) -> Service:
    """Start servers, which serve Prometheus at ports ``metrics``; raises `Missing` or `ServerFailed`."""
    classpath = f"{jars('zookeeper', (*_ARTIFACTS, *_METRICS) if metrics else _ARTIFACTS)}/*"
    ports = free_ports(3 * count)
    clients = ports[:count]
    members = zip(ports[count : 2 * count], ports[2 * count :], strict=True)
    ensemble = [f"server.{number}=127.0.0.1:{peer}:{vote}" for number, (peer, vote) in enumerate(members, 1)]
    nodes = []
    for number, port in enumerate(clients, 1):
        home = folder / f"zookeeper{number}"
        (home / "data").mkdir(parents=True, exist_ok=True)
        (home / "data" / "myid").write_text(f"{number}\n")
        config = home / "zoo.cfg"
        lines = [_CONFIG.format(folder=home, port=port), *(ensemble if count > 1 else ())]
        lines += [_PROVIDER.format(port=metrics[number - 1])] if metrics else []
        config.write_text("\n".join(lines))
        java = ["java", "-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", classpath, _MAIN, str(config)]
        nodes.append(Process("zookeeper", java, home, guard))
    addresses = tuple(f"127.0.0.1:{port}" for port in clients)
    service = Service(name="zookeeper", addresses=addresses, nodes=tuple(nodes), answers=lambda: answers(addresses))
    service.start()
    return service


def answers(addresses: tuple[str, ...]) -> bool:
    """Whether the servers serve: "srvr" names its mode only then."""
    return all(b"Mode:" in _ask(address) for address in addresses)


def _ask(address: str) -> bytes:
    host, _, port = address.partition("/")[0].rpartition(":")
    try:
        with socket.create_connection((host, int(port)), 5) as connection:
            connection.sendall(b"srvr")
            answer = b""
            while part := connection.recv(4096):
                answer += part
            return answer
    except OSError:
        return b""
