"""Cassandra: one node, several, or one with passwords and TLS."""

import shutil
import ssl
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from cassandra import DriverException, OperationTimedOut
from cassandra.auth import PlainTextAuthProvider
from cassandra.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile, NoHostAvailable
from cassandra.policies import WhiteListRoundRobinPolicy

from tests.cluster.servers.certificates import write_certificates
from tests.cluster.servers.guard import Guard
from tests.cluster.servers.packages import jars
from tests.cluster.servers.process import Process, free_ports, listens
from tests.cluster.servers.service import Service

_ARTIFACTS: Final = ("org.apache.cassandra:cassandra-all:5.0.6",)
# Batch: what was acknowledged is in the commit log's file, also after SIGKILL.
_CONFIG: Final = """\
cluster_name: gregor
num_tokens: 1
initial_token: {token}
partitioner: org.apache.cassandra.dht.Murmur3Partitioner
commitlog_sync: batch
commitlog_segment_size: 16MiB
commitlog_disk_access_mode: legacy
data_file_directories: [{folder}/data]
commitlog_directory: {folder}/commitlog
hints_directory: {folder}/hints
saved_caches_directory: {folder}/caches
cdc_raw_directory: {folder}/cdc
seed_provider:
  - class_name: org.apache.cassandra.locator.SimpleSeedProvider
    parameters: [{{seeds: "{seeds}"}}]
listen_address: {host}
storage_port: {storage}
start_native_transport: true
rpc_address: {host}
native_transport_port: {port}
endpoint_snitch: SimpleSnitch
auto_snapshot: false
concurrent_reads: 8
concurrent_writes: 8
"""
_SECURE: Final = """\
authenticator: PasswordAuthenticator
authorizer: CassandraAuthorizer
client_encryption_options:
  enabled: true
  optional: false
  ssl_context_factory:
    class_name: org.apache.cassandra.security.PEMBasedSslContextFactory
  keystore: {folder}/server.pem
"""
USER: Final = "cassandra"
PASSWORD: Final = "cassandra"
_LOGGING: Final = """\
<configuration>
  <appender name="OUT" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%d %-5level %logger{20} %msg%n</pattern></encoder>
  </appender>
  <root level="WARN"><appender-ref ref="OUT"/></root>
</configuration>
"""
# As in Cassandra's own jvm17-server.options.
_EXPORTS: Final = (
    *("java.base/jdk.internal.misc", "java.base/jdk.internal.ref", "java.base/jdk.internal.perf"),
    *("java.base/sun.nio.ch", "java.rmi/sun.rmi.registry", "java.rmi/sun.rmi.server", "java.sql/java.sql"),
    *("java.management.rmi/com.sun.jmx.remote.internal.rmi", "java.rmi/sun.rmi.transport.tcp"),
    *("jdk.compiler/com.sun.tools.javac.file", "jdk.naming.dns/com.sun.jndi.dns", "jdk.unsupported/sun.misc"),
)
_OPENS: Final = (
    *("java.io", "java.lang", "java.lang.module", "java.lang.reflect", "java.math", "java.net", "java.nio"),
    *("java.nio.charset", "java.nio.file.spi", "java.util", "java.util.concurrent", "java.util.concurrent.atomic"),
    *("jdk.internal.loader", "jdk.internal.math", "jdk.internal.module", "jdk.internal.ref", "jdk.internal.reflect"),
    *("jdk.internal.util.jar", "jdk.internal.perf", "jdk.internal.misc", "sun.nio.ch"),
)


def start(folder: Path, guard: Guard | None, count: int = 1, options: Sequence[str] = ()) -> Service:
    """Start nodes, each on an address of its own, the JVM with more ``options``; raises `Missing` or `ServerFailed`."""
    port, storage = free_ports(2)
    hosts = [f"127.0.0.{number}" for number in range(1, count + 1)]
    nodes = []
    for number, host in enumerate(hosts):
        # All are seeds, which join at once, with a share of the ring each.
        token = (number << 64) // count - (1 << 63)
        places = {"host": host, "port": port, "storage": storage, "token": token, "seeds": ",".join(hosts)}
        nodes.append(_node(folder / f"cassandra{number + 1}", guard, _CONFIG, places, options=options))
    addresses = tuple(f"{host}:{port}" for host in hosts)
    service = Service(name="cassandra", addresses=addresses, nodes=tuple(nodes), answers=lambda: answers(addresses))
    service.start()
    return service


def start_secure(folder: Path, guard: Guard | None) -> Service:
    """Start a node that clients reach by TLS and as `USER` with `PASSWORD` only."""
    home = folder / "cassandra-secure"
    home.mkdir(parents=True, exist_ok=True)
    authority = write_certificates(home)
    port, storage = free_ports(2)
    places = {"host": "127.0.0.1", "port": port, "storage": storage, "token": 0, "seeds": "127.0.0.1"}
    node = _node(home, guard, _CONFIG + _SECURE, places)
    address = f"127.0.0.1:{port}"
    context = ssl.create_default_context(cafile=str(authority))
    secret = {"ssl_context": context, "auth_provider": PlainTextAuthProvider(USER, PASSWORD)}
    service = Service(
        name="cassandra_secure", addresses=(address,), nodes=(node,), answers=lambda: answers((address,), **secret)
    )
    service.start()
    return service


class Ring:
    """Nodes that join one after another and may be replaced, as the machines of the Terraform modules do."""

    def __init__(self, folder: Path, guard: Guard | None, count: int) -> None:
        self._folder, self._guard = folder, guard
        self._port, self._storage = free_ports(2)
        self.hosts = [f"127.0.0.{number}" for number in range(1, count + 1)]

    def others(self, host: str) -> tuple[str, ...]:
        """The seeds of a node: never itself."""
        return tuple(other for other in self.hosts if other != host)

    def node(self, host: str, seeds: Sequence[str], *properties: str) -> Service:
        """A node in its folder, where its data may be from before; it does not run yet."""
        config = _CONFIG.replace("num_tokens: 1\ninitial_token: {token}", "num_tokens: 4")
        home = self._folder / host
        places = {"host": host, "port": self._port, "storage": self._storage, "seeds": ",".join(seeds)}
        # Who joins must have heard of a seed within that time.
        settled = ("cassandra.ring_delay_ms=5000", *properties)
        process = _node(home, self._guard, config, places, settled)
        address = f"{host}:{self._port}"
        return Service(name=host, addresses=(address,), nodes=(process,), answers=lambda: listens(address))

    def lose(self, host: str) -> None:
        """What a lost disk takes along."""
        for kept in ("data", "commitlog", "hints", "caches", "cdc"):
            shutil.rmtree(self._folder / host / kept, ignore_errors=True)  # not all are made at once

    def joined(self, count: int) -> bool:
        """Whether so many, the first of them, answer and see each other."""
        return all(_answers(f"{host}:{self._port}", count, {}) for host in self.hosts[:count])

    @property
    def port(self) -> int:
        """Of clients."""
        return self._port


def answers(addresses: tuple[str, ...], **secret: Any) -> bool:
    """Whether all answer a query, and see all the others."""
    return all(listens(address) and _answers(address, len(addresses), secret) for address in addresses)


def _answers(address: str, count: int, secret: Mapping[str, Any]) -> bool:
    host, _, port = address.rpartition(":")
    policy = WhiteListRoundRobinPolicy([host])
    profiles = {EXEC_PROFILE_DEFAULT: ExecutionProfile(load_balancing_policy=policy)}
    cluster = Cluster(
        [host], port=int(port), connect_timeout=10, protocol_version=5, execution_profiles=profiles, **secret
    )
    try:
        peers = cluster.connect().execute("SELECT peer FROM system.peers_v2", timeout=10).all()
    except (NoHostAvailable, OperationTimedOut, DriverException):
        return False
    finally:
        cluster.shutdown()
    return len(peers) == count - 1


def _node(
    home: Path,
    guard: Guard | None,
    config: str,
    places: Mapping[str, object],
    properties: Sequence[str] = (),
    options: Sequence[str] = (),
) -> Process:
    """A node in a folder of its own; it does not run yet. ``properties``: NAME=VALUE of its JVM, ``options`` more."""
    library = jars("cassandra", _ARTIFACTS)
    home.mkdir(parents=True, exist_ok=True)
    (home / "cassandra.yaml").write_text(config.format(folder=home, **places))
    (home / "logback.xml").write_text(_LOGGING)
    java, *arguments = _command(library, home, properties)
    return Process("cassandra", [java, *options, *arguments], home, guard)


def _command(library: Path, home: Path, further: Sequence[str]) -> list[str]:
    (agent,) = library.glob("jamm-*.jar")
    modules = [f"--add-exports={name}=ALL-UNNAMED" for name in _EXPORTS]
    modules += [f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in _OPENS]
    modules.append("--add-opens=jdk.management/com.sun.management.internal=ALL-UNNAMED")
    settings = {
        "cassandra.config": (home / "cassandra.yaml").as_uri(),
        "cassandra.storagedir": str(home),
        "cassandra.ring_delay_ms": "100",
        "cassandra.skip_wait_for_gossip_to_settle": "0",
        "cassandra.memtable_row_overhead_computation_step": "100",
        "logback.configurationFile": str(home / "logback.xml"),
    }
    properties = [f"-D{name}={value}" for name, value in settings.items()] + [f"-D{one}" for one in further]
    heap = ["-Xms256m", "-Xmx1g", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", f"-javaagent:{agent}"]
    main = "org.apache.cassandra.service.CassandraDaemon"
    return ["java", *heap, *modules, *properties, "-cp", f"{library}/*", main]
