"""OpenSearch: one node or several, from Maven's jars.

A node of a package of its own refuses to run as root, which it finds out by native code: without that it does not ask.
"""

import re
import shutil
import tempfile
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Final

from tests.cluster.servers.guard import Guard
from tests.cluster.servers.packages import jars
from tests.cluster.servers.process import Process, free_ports
from tests.cluster.servers.service import Missing, Node, Service

_VERSION: Final = "3.9.0"
_OLDEST_JAVA: Final = 21
# What bin/opensearch has beside its dependencies: two jars that the server needs and names nowhere, and a logger.
_CORE: Final = (
    f"org.opensearch:opensearch:{_VERSION}",
    f"org.opensearch:opensearch-plugin-classloader:{_VERSION}",
    f"org.opensearch:opensearch-agent-bootstrap:{_VERSION}",
    "org.apache.logging.log4j:log4j-core:2.25.5",
)
_HTTP: Final = (f"org.opensearch.plugin:transport-netty4-client:{_VERSION}",)
_DESCRIPTOR: Final = f"""\
name=transport-netty4
description=HTTP
version={_VERSION}
opensearch.version={_VERSION}
java.version={_OLDEST_JAVA}
classname=org.opensearch.transport.Netty4ModulePlugin
has.native.controller=false
"""
_LOGGING: Final = """\
status = error
appender.c.type = Console
appender.c.name = c
appender.c.layout.type = PatternLayout
appender.c.layout.pattern = [%d{ISO8601}][%-5p][%c{1.}] %m%n
rootLogger.level = warn
rootLogger.appenderRef.c.ref = c
"""
_CONFIG: Final = """\
cluster.name: gregor-test
node.name: n{number}
path.data: {home}/data
path.logs: {home}/logs
network.host: 127.0.0.1
http.port: {http}
transport.port: {transport}
cluster.routing.allocation.disk.threshold_enabled: false
"""
_OPTIONS: Final = (
    *("-XX:+UseSerialGC", "-Djna.nosys=true", "-Djna.nounpack=true"),
    *("-Djna.noclasspath=true", "-Dio.netty.noUnsafe=true", "-Dlog4j2.disable.jmx=true"),
    *("-Dlog4j.shutdownHookEnabled=false", "-Djava.awt.headless=true", "--enable-native-access=ALL-UNNAMED"),
    "--add-modules=jdk.incubator.vector",
)


_QUICK: Final = "-XX:TieredStopAtLevel=1"
"""Halves the start, and what it is worth afterwards."""


def start(folder: Path, guard: Guard | None, count: int = 1, *, optimised: bool = False) -> Service:
    """Start nodes, ``optimised`` as for work instead of for a quick start; raises `Missing` or `ServerFailed`."""
    java, library, modules = _java(), jars("opensearch", _CORE), _modules()
    ports = free_ports(2 * count)
    pairs = list(zip(ports[:count], ports[count:], strict=True))
    nodes = []
    for number, (http, transport) in enumerate(pairs, 1):
        home = folder / f"opensearch{number}"
        for name in ("config", "data", "logs", "tmp", "plugins", "extensions"):
            (home / name).mkdir(parents=True, exist_ok=True)
        if not (home / "modules").exists():
            (home / "modules").symlink_to(modules)
        (home / "config/jvm.options").touch()
        (home / "config/log4j2.properties").write_text(_LOGGING)
        config = _CONFIG.format(number=number, home=home, http=http, transport=transport)
        (home / "config/opensearch.yml").write_text(config + _discovery([at for _, at in pairs]))
        places = {"opensearch.path.home": home, "opensearch.path.conf": home / "config", "java.io.tmpdir": home / "tmp"}
        heap = "384m" if count == 1 else "256m"
        heap = "1g" if optimised else heap
        options = [*_OPTIONS, *([] if optimised else [_QUICK])]
        command = [java, f"-Xms{heap}", f"-Xmx{heap}", *options, *(f"-D{name}={at}" for name, at in places.items())]
        main = ["-cp", f"{library}/*", "org.opensearch.bootstrap.OpenSearch"]
        nodes.append(Process("opensearch", [*command, *main], home, guard))
    addresses = tuple(f"127.0.0.1:{http}" for http, _ in pairs)
    service = Service(name="opensearch", addresses=addresses, nodes=tuple(nodes), answers=lambda: answers(addresses))
    service.start()
    return service


def answers(addresses: tuple[str, ...]) -> bool:
    """Whether every node answers, and knows all others."""
    for address in addresses:
        try:
            with urllib.request.urlopen(f"http://{address}/_cluster/health", timeout=5) as answer:
                if f'"number_of_nodes":{len(addresses)},'.encode() not in answer.read():
                    return False
        except OSError:
            return False
    return True


def leader(service: Service) -> Node:
    """The node that leads the cluster now; the first where nobody says so."""
    for address in service.addresses:
        with (
            suppress(OSError),
            urllib.request.urlopen(f"http://{address}/_cat/cluster_manager?h=node", timeout=5) as answer,
        ):
            return service.nodes[int(answer.read().decode().strip().removeprefix("n")) - 1]
    return service.nodes[0]


def _discovery(transports: list[int]) -> str:
    if len(transports) == 1:
        return "discovery.type: single-node\n"
    seeds = ", ".join(f'"127.0.0.1:{port}"' for port in transports)
    names = ", ".join(f"n{number}" for number in range(1, len(transports) + 1))
    checks = "".join(f"cluster.fault_detection.{name}_check.interval: 500ms\n" for name in ("leader", "follower"))
    return f"discovery.seed_hosts: [{seeds}]\ncluster.initial_cluster_manager_nodes: [{names}]\n{checks}"


def _java() -> str:
    """The newest Java that is installed; raises `Missing`."""
    javas = Path("/usr/lib/jvm").glob("*/bin/java")
    versions = ((re.search(r"-(?:1\.)?([0-9]{2,3})\b", java.parts[-3]), java) for java in javas)
    found = {int(version[1]): java for version, java in versions if version is not None}
    if not found or max(found) < _OLDEST_JAVA:
        raise Missing(f"opensearch: no Java {_OLDEST_JAVA} or newer here")
    return str(found[max(found)])


def _modules() -> Path:
    """The folder with what a node speaks HTTP by; a jar that the node has too is left out, or it refuses to start."""
    core, http = jars("opensearch", _CORE), jars("opensearch-http", _HTTP)
    folder = http.with_suffix(".modules")
    if not folder.exists():
        part = Path(tempfile.mkdtemp(dir=http.parent))
        module = part / "transport-netty4"
        module.mkdir()
        there = {jar.name for jar in core.iterdir()}
        for jar in http.glob("*.jar"):
            if jar.name not in there and "native-quic" not in jar.name:
                shutil.copy2(jar, module)
        (module / "plugin-descriptor.properties").write_text(_DESCRIPTOR)
        part.chmod(0o755)
        try:
            part.rename(folder)
        except OSError:  # another run was faster
            shutil.rmtree(part)
    return folder
