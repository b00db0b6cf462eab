"""One crawl on the servers of the cluster tests, from `gregor init` to nothing left of it."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from cassandra.cluster import Cluster
from confluent_kafka import OFFSET_END, Consumer, TopicPartition
from confluent_kafka.admin import AdminClient

from benchmarks.measure import GREGOR, RunFailed, processor_seconds
from gregor.schemas import topics
from gregor.schemas.messages import PRIORITIES
from tests.cluster.servers import Servers
from tests.cluster.servers.__main__ import config
from tests.cluster.servers.process import Process
from tests.web.static_server import StaticWeb

NAMES: Final = ("kafka", "zookeeper", "redis", "cassandra")
PARTITIONS: Final = 64
_TIMEOUT: Final = 120.0


class CrawlOnServers:
    """A crawl that is set up and seeded; `worker` is the command line of one that works at it."""

    def __init__(self, servers: Servers, host_table: str | Path, folder: Path, gregor: Path = GREGOR) -> None:
        """``gregor``: the command, of this checkout or of another one."""
        self._command = gregor
        self._services = {name: servers.get(name) for name in NAMES}
        kafka: dict[str, str | int | float | bool] = {
            "bootstrap.servers": self._services["kafka"].address,
            "log_level": 0,
        }
        self._kafka = AdminClient(kafka)
        self._consumer = Consumer(kafka | {"group.id": "benchmarks"})
        self.name = f"bench-{os.getpid()}-{folder.name}"
        self._file = folder / "gregor.toml"
        addresses = config({name: service.addresses for name, service in self._services.items()})
        self._file.write_text(
            f'{addresses}\ncrawl = "{self.name}"\npartitions = {PARTITIONS}\nhost_table = "{host_table}"\n'
            'delay = 0\ndelay_factor = 0\nscope = "any"\n'
        )
        self.worker: Sequence[str | Path] = (gregor, "worker", "--config", self._file)

    def begin(self, seeds: Path) -> None:
        """Make topics, tables and tree, and publish the seeds."""
        self._gregor("init")
        self._gregor("seed", "--seeds", str(seeds))

    def stored(self) -> int:
        """How many pages were stored so far: each is told in the topic of events."""
        wanted = [TopicPartition(topics.events(self.name), number, OFFSET_END) for number in range(PARTITIONS)]
        return sum(found.offset for found in self._consumer.offsets_for_times(wanted, timeout=_TIMEOUT))

    def servers_cpu(self) -> float:
        """Seconds of processor time that the servers took since they started. Raises RunFailed for a container."""
        nodes = [node for service in self._services.values() for node in service.nodes]
        ours = [node for node in nodes if isinstance(node, Process)]
        if not ours or len(ours) < len(nodes):
            raise RunFailed("the servers' processor time can be read of processes of this machine only")
        return sum(processor_seconds(node.group) for node in ours)

    def remove(self) -> None:
        """Topics and keyspace, which would slow down the crawls that follow."""
        self._consumer.close()
        frontier = [topics.frontier(self.name, priority) for priority in PRIORITIES]
        for removed in self._kafka.delete_topics(
            [*frontier, topics.events(self.name), topics.items(self.name), topics.dead(self.name)]
        ).values():
            removed.result()
        host, _, port = self._services["cassandra"].addresses[0].rpartition(":")
        with Cluster([host], port=int(port), protocol_version=4) as cluster:
            cluster.connect().execute(f"DROP KEYSPACE IF EXISTS gregor_{self.name.replace('-', '_')}", timeout=_TIMEOUT)

    def output_of(self, *words: str) -> bytes:
        """What a command of the crawl writes to standard output, whatever its exit code."""
        line: list[str | Path] = [self._command, *words, "--config", self._file]
        return subprocess.run(line, timeout=_TIMEOUT, stdout=subprocess.PIPE, stderr=sys.stderr, check=False).stdout

    def _gregor(self, *words: str) -> None:
        line: list[str | Path] = [self._command, *words, "--config", self._file]
        subprocess.run(line, check=True, timeout=_TIMEOUT, stdout=subprocess.DEVNULL, stderr=sys.stderr)


@contextmanager
def crawl_on(
    servers: Servers, web: StaticWeb, seeds: Path, folder: Path, gregor: Path = GREGOR
) -> Iterator[CrawlOnServers]:
    """A crawl, ready for workers; its data is removed in the end. ``gregor``: see `CrawlOnServers`."""
    crawl = CrawlOnServers(servers, web.host_table, folder, gregor)
    try:
        crawl.begin(seeds)
        yield crawl
    finally:
        crawl.remove()
