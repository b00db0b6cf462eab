"""The servers of one test run: each is started when the first test asks for it, and ends with the run."""

import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from tests.cluster.servers import cassandra, docker, kafka, opensearch, redis, zookeeper
from tests.cluster.servers.guard import Guard
from tests.cluster.servers.service import Missing, Service

Start = Callable[[Path, Guard | None], Service]
Answers = Callable[[tuple[str, ...]], bool]

_STARTS: Final[Mapping[str, Start]] = {
    "kafka": kafka.start,
    "kafka3": lambda folder, guard: kafka.start(folder / "three", guard, brokers=3),
    "kafka_secure": kafka.start_secure,
    "zookeeper": zookeeper.start,
    "zookeeper3": lambda folder, guard: zookeeper.start(folder / "three", guard, count=3),
    "redis": redis.start,
    "sentinel": redis.start_sentinel,
    "cassandra": cassandra.start,
    "cassandra3": lambda folder, guard: cassandra.start(folder / "three", guard, count=3),
    "cassandra_secure": cassandra.start_secure,
    "opensearch": opensearch.start,
    "opensearch3": lambda folder, guard: opensearch.start(folder / "three", guard, count=3),
}
# What the environment can give; GREGOR_TEST_SENTINEL and the like have no use, since nobody could stop those servers.
ANSWERS: Final[Mapping[str, Answers]] = {
    "kafka": kafka.answers,
    "zookeeper": zookeeper.answers,
    "redis": redis.answers,
    "cassandra": cassandra.answers,
    "opensearch": opensearch.answers,
}
NAMES: Final = tuple(_STARTS)
"""Kafka, Cassandra: one, three, one with TLS and passwords. ZooKeeper, OpenSearch: one, three. Redis: a pair, one
watched."""


class Servers:
    """Starts what is asked for, once, and ends it on exit."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="gregor-servers-"))
        self._guard = Guard(self._folder)
        self._found: dict[str, Service | Missing] = {}

    @property
    def guard(self) -> Guard:
        """Ends what a test starts by itself, should the run be killed."""
        return self._guard

    def get(self, name: str) -> Service:
        """One of `NAMES`; raises `Missing` when there is no way to it, `ServerFailed` when it does not come up."""
        if name not in self._found:
            try:
                self._found[name] = find(name, self._folder, self._guard)
            except Missing as error:
                self._found[name] = error
        found = self._found[name]
        if isinstance(found, Missing):
            raise found
        return found

    def mend(self) -> None:
        """Start again what does not run."""
        for service in self._found.values():
            if isinstance(service, Service) and not all(node.running for node in service.nodes):
                service.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for service in self._found.values():
            for node in service.nodes if isinstance(service, Service) else ():
                node.kill()
        self._guard.close()


def find(name: str, folder: Path, guard: Guard | None) -> Service:
    """What the environment gives, else a container, else a process; raises `Missing` or `ServerFailed`."""
    given = os.environ.get(f"GREGOR_TEST_{name.upper()}")
    if given and name in ANSWERS:
        addresses = tuple(part.strip() for part in given.split(",") if part.strip())
        service = Service(name=name, addresses=addresses, answers=lambda: ANSWERS[name](addresses))
        service.ready()
        return service
    if name in docker.NAMES and docker.available():
        return docker.start(name)
    return _STARTS[name](folder, guard)
