"""A small round of chaos with an index. `make chaos` runs large ones, with three nodes of OpenSearch."""

from pathlib import Path

from tests.cluster.chaos.round import Plan, run
from tests.cluster.servers import Service


def test_the_index_has_what_the_store_has_whoever_was_killed(
    kafka: Service, zookeeper: Service, sentinel: Service, cassandra: Service, opensearch: Service, tmp_path: Path
) -> None:
    services = {"kafka": kafka, "zookeeper": zookeeper, "sentinel": sentinel, "cassandra": cassandra}
    kinds = ("indexer", "opensearch")
    plan = Plan(seed=3, hosts=16, pages=150, faults=3, every=3.0, timed=False, longest=240.0, kinds=kinds)
    result = run(plan, {**services, "opensearch": opensearch}, tmp_path)
    assert not result.violations, "\n".join(result.violations[:20])
    assert {"indexer", "opensearch"} <= set(result.faults) and result.pages > 100
