"""What operators do to a crawl that runs, and what they lose of their servers: docs/operations.md says how."""

from pathlib import Path

from tests.cluster.chaos.faults import OPERATED
from tests.cluster.chaos.round import Plan, Result, run
from tests.cluster.conftest import stoppable
from tests.cluster.servers import Service


def test_workers_are_upgraded_and_come_and_go(
    kafka: Service, zookeeper: Service, sentinel: Service, cassandra: Service, tmp_path: Path
) -> None:
    """Nothing is lost, nobody is disturbed, and no page is asked for twice."""
    services = {"kafka": kafka, "zookeeper": zookeeper, "sentinel": sentinel, "cassandra": cassandra}
    plan = Plan(seed=5, hosts=40, pages=500, faults=8, every=3.0, kinds=OPERATED, timed=False, longest=420.0)
    result = _round(plan, services, tmp_path)
    assert set(result.faults) == set(OPERATED)


def test_one_server_of_each_kind_is_lost(
    kafka3: Service, zookeeper3: Service, sentinel: Service, cassandra3: Service, tmp_path: Path
) -> None:
    """A Kafka broker, a ZooKeeper server, a Cassandra node, the Redis primary: the crawl goes on with the others."""
    for service in (kafka3, zookeeper3, sentinel, cassandra3):
        stoppable(service)
    services = {"kafka": kafka3, "zookeeper": zookeeper3, "sentinel": sentinel, "cassandra": cassandra3}
    kinds = ("kafka", "zookeeper", "cassandra", "promote")
    plan = Plan(seed=6, hosts=30, pages=300, faults=4, every=5.0, kinds=kinds, timed=False, longest=420.0)
    result = _round(plan, services, tmp_path)
    assert set(result.faults) == set(kinds)


def _round(plan: Plan, services: dict[str, Service], folder: Path) -> Result:
    result = run(plan, services, folder)
    assert not result.violations, "\n".join(result.violations[:20])
    return result
