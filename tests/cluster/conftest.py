"""Servers by name, one set a test run. Without a way to get one its tests are skipped; with CI=1 they fail."""

import os
from collections.abc import Iterator

import pytest

from tests.cluster.servers import Missing, Servers, Service


@pytest.fixture(scope="session")
def servers() -> Iterator[Servers]:
    with Servers() as servers:
        yield servers


@pytest.fixture(autouse=True)
def _running(servers: Servers) -> None:
    """A test before this one may have failed while a server was stopped."""
    servers.mend()


@pytest.fixture(scope="session")
def kafka(servers: Servers) -> Service:
    """One broker."""
    return need(servers, "kafka")


@pytest.fixture(scope="session")
def kafka3(servers: Servers) -> Service:
    """Three brokers."""
    return need(servers, "kafka3")


@pytest.fixture(scope="session")
def kafka_secure(servers: Servers) -> Service:
    """A broker with TLS and SCRAM."""
    return need(servers, "kafka_secure")


@pytest.fixture(scope="session")
def zookeeper(servers: Servers) -> Service:
    return need(servers, "zookeeper")


@pytest.fixture(scope="session")
def zookeeper3(servers: Servers) -> Service:
    """Three servers."""
    return need(servers, "zookeeper3")


@pytest.fixture(scope="session")
def redis(servers: Servers) -> Service:
    """A primary (the first address and node) and its replica. A test that changes their roles takes `sentinel`."""
    return need(servers, "redis")


@pytest.fixture(scope="session")
def sentinel(servers: Servers) -> Service:
    """A primary, its replica and a Sentinel."""
    return need(servers, "sentinel")


@pytest.fixture(scope="session")
def cassandra(servers: Servers) -> Service:
    return need(servers, "cassandra")


@pytest.fixture(scope="session")
def cassandra3(servers: Servers) -> Service:
    """Three nodes."""
    return need(servers, "cassandra3")


@pytest.fixture(scope="session")
def cassandra_secure(servers: Servers) -> Service:
    """A node with TLS and passwords."""
    return need(servers, "cassandra_secure")


@pytest.fixture(scope="session")
def opensearch(servers: Servers) -> Service:
    return need(servers, "opensearch")


@pytest.fixture(scope="session")
def opensearch3(servers: Servers) -> Service:
    """Three nodes."""
    return need(servers, "opensearch3")


def need(servers: Servers, name: str) -> Service:
    """A service; the test is skipped, visibly, when there is no way to it."""
    try:
        return servers.get(name)
    except Missing as error:
        if os.environ.get("CI"):
            pytest.fail(f"no {name} in CI: {error}", pytrace=False)
        pytest.skip(str(error))


def stoppable(service: Service) -> Service:
    """Skip the test when the servers were given by the environment: they are not ours to stop."""
    if not service.nodes:
        pytest.skip(f"{service.name} was given by the environment; this test would stop it")
    return service
