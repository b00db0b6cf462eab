"""Cassandra, one node."""

from pathlib import Path
from typing import Final

from cassandra import DriverException, OperationTimedOut
from cassandra.cluster import Cluster, NoHostAvailable

from tests.cluster.servers.guard import Guard
from tests.cluster.servers.packages import jars
from tests.cluster.servers.process import Process, free_ports, listens
from tests.cluster.servers.service import Service

_ARTIFACTS: Final = ("org.apache.cassandra:cassandra-all:5.0.6",)
# Batch: what was acknowledged is in the commit log's file, also after SIGKILL.
_CONFIG: Final = """\
cluster_name: gregor
num_tokens: 1
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
    parameters: [{{seeds: "127.0.0.1:{storage}"}}]
listen_address: 127.0.0.1
storage_port: {storage}
start_native_transport: true
rpc_address: 127.0.0.1
native_transport_port: {port}
endpoint_snitch: SimpleSnitch
auto_snapshot: false
concurrent_reads: 8
concurrent_writes: 8
"""
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


def start(folder: Path, guard: Guard | None) -> Service:
    """Start the node; raises `Missing` or `ServerFailed`."""
    library = jars("cassandra", _ARTIFACTS)
    port, storage = free_ports(2)
    home = folder / "cassandra"
    home.mkdir(parents=True, exist_ok=True)
    (home / "cassandra.yaml").write_text(_CONFIG.format(folder=home, port=port, storage=storage))
    (home / "logback.xml").write_text(_LOGGING)
    address = f"127.0.0.1:{port}"
    node = Process("cassandra", _command(library, home), home, guard)
    service = Service(name="cassandra", addresses=(address,), nodes=(node,), answers=lambda: answers((address,)))
    service.start()
    return service


def answers(addresses: tuple[str, ...]) -> bool:
    """Whether all answer a query."""
    return all(listens(address) and _answers(address) for address in addresses)


def _answers(address: str) -> bool:
    host, _, port = address.rpartition(":")
    cluster = Cluster([host], port=int(port), connect_timeout=10, protocol_version=5)
    try:
        cluster.connect().execute("SELECT release_version FROM system.local", timeout=10)
    except (NoHostAvailable, OperationTimedOut, DriverException):
        return False
    finally:
        cluster.shutdown()
    return True


def _command(library: Path, home: Path) -> list[str]:
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
    properties = [f"-D{name}={value}" for name, value in settings.items()]
    heap = ["-Xms256m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", f"-javaagent:{agent}"]
    main = "org.apache.cassandra.service.CassandraDaemon"
    return ["java", *heap, *modules, *properties, "-cp", f"{library}/*", main]
