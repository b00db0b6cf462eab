"""A small round of chaos on real servers. `make chaos` runs large ones, and many."""

from pathlib import Path

from tests.cluster.chaos.round import Plan, run
from tests.cluster.servers import Service


def test_nothing_is_lost_and_nobody_is_disturbed(
    kafka: Service, zookeeper: Service, sentinel: Service, cassandra: Service, tmp_path: Path
) -> None:
    services = {"kafka": kafka, "zookeeper": zookeeper, "sentinel": sentinel, "cassandra": cassandra}
    result = run(Plan(seed=7, timed=False, longest=420.0), services, tmp_path)
    assert not result.violations, "\n".join(result.violations[:20])
    assert result.pages > 700
    assert len(result.faults) >= 5
