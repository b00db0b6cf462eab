"""A node of Cassandra whose disk is lost takes its place again, with the seeds that the Terraform modules give it."""

import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from cassandra import ConsistencyLevel, ReadTimeout
from cassandra.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile, Session
from cassandra.policies import WhiteListRoundRobinPolicy

from tests.cluster.servers import Missing, ServerFailed, Servers
from tests.cluster.servers.cassandra import Ring
from tests.cluster.servers.service import START_TIMEOUT, Service

ROWS = 500


@pytest.fixture
def ring(servers: Servers, tmp_path: Path) -> Ring:
    try:
        servers.get("cassandra")  # its jars are there then
    except Missing as error:
        pytest.skip(str(error))
    return Ring(tmp_path, servers.guard, 3)


@pytest.fixture
def nodes(ring: Ring) -> Iterator[dict[str, Service]]:
    """The first began alone, the others joined it: nobody is among its own seeds after that."""
    started: dict[str, Service] = {}
    try:
        for count, host in enumerate(ring.hosts, 1):
            started[host] = ring.node(host, (host,) if count == 1 else ring.others(host))
            started[host].start()
            until(partial(ring.joined, count))
        yield started
    finally:
        for node in started.values():
            node.kill()


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + START_TIMEOUT
    while not holds():
        assert time.monotonic() < deadline, "the ring did not settle"
        time.sleep(0.2)


def session(ring: Ring, host: str, consistency: int) -> Session:
    """A session that asks one node alone."""
    profile = ExecutionProfile(
        load_balancing_policy=WhiteListRoundRobinPolicy([host]), consistency_level=consistency, request_timeout=30
    )
    cluster = Cluster([host], port=ring.port, protocol_version=5, execution_profiles={EXEC_PROFILE_DEFAULT: profile})
    return cluster.connect()


def stored(asked: Session) -> int | None:
    """How many rows there are; None when a node that is asked does not answer."""
    try:
        return len(asked.execute("SELECT key FROM crawl.rows").all())
    except ReadTimeout:
        return None


def test_a_lost_disk_is_filled_by_the_others(ring: Ring, nodes: dict[str, Service]) -> None:
    first = ring.hosts[0]
    asked = session(ring, ring.hosts[1], ConsistencyLevel.QUORUM)
    replication = "{'class': 'SimpleStrategy', 'replication_factor': 3}"
    asked.execute(f"CREATE KEYSPACE crawl WITH replication = {replication}")
    asked.execute("CREATE TABLE crawl.rows (key int PRIMARY KEY, value text)")
    insert = asked.prepare("INSERT INTO crawl.rows (key, value) VALUES (?, ?)")
    for key in range(ROWS):
        asked.execute(insert, (key, "x" * 100))
    asked.cluster.shutdown()

    nodes[first].kill()
    ring.lose(first)
    replace = f"cassandra.replace_address_first_boot={first}"
    with pytest.raises(ServerFailed):  # who asks itself may not replace itself: why nobody is its own seed
        nodes[first] = ring.node(first, ring.hosts, replace)
        nodes[first].start()
    nodes[first] = ring.node(first, ring.others(first), replace)
    nodes[first].start()
    until(lambda: ring.joined(3))

    asked = session(ring, first, ConsistencyLevel.ONE)
    for others in ring.others(first):
        nodes[others].kill()  # what it answers now it has itself
    until(lambda: stored(asked) is not None)  # the node must notice first that the others are dead
    assert stored(asked) == ROWS
    asked.cluster.shutdown()

    for others in ring.others(first):
        nodes[others].start()
    until(lambda: ring.joined(3))
    nodes[first].restart()  # told the same again, with data: it is ignored
    until(lambda: ring.joined(3))
