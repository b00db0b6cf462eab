"""ZooKeeper, one server."""

import socket
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
_CONFIG: Final = """\
tickTime=500
minSessionTimeout=1000
maxClientCnxns=0
dataDir={folder}/data
clientPort={port}
clientPortAddress=127.0.0.1
admin.enableServer=false
4lw.commands.whitelist=*
"""
_MAIN: Final = "org.apache.zookeeper.server.quorum.QuorumPeerMain"


def start(folder: Path, guard: Guard | None) -> Service:
    """Start the server; raises `Missing` or `ServerFailed`."""
    classpath = f"{jars('zookeeper', _ARTIFACTS)}/*"
    (port,) = free_ports(1)
    home = folder / "zookeeper"
    home.mkdir(parents=True, exist_ok=True)
    config = home / "zoo.cfg"
    config.write_text(_CONFIG.format(folder=home, port=port))
    java = ["java", "-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", classpath, _MAIN, str(config)]
    address = f"127.0.0.1:{port}"
    node = Process("zookeeper", java, home, guard)
    service = Service(name="zookeeper", addresses=(address,), nodes=(node,), answers=lambda: answers((address,)))
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
