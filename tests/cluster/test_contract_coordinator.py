"""The contract of `Coordinator` over ZooKeeper: each case as it is, after a reopen, after a restart of the server."""

from typing import cast

import pytest

import tests.contract.test_coordinator as contract
from gregor.worker.adapters.cluster.coordinator import ClusterCoordinator
from gregor.worker.config.servers import Servers
from tests.cluster.conftest import stoppable
from tests.cluster.restart import cases_of, over_restart
from tests.cluster.servers import Service
from tests.cluster.zookeeper_engine import ZooKeeperFactory
from tests.contract.test_coordinator import *  # noqa: F403 - the cases
from tests.contract.world import World


@pytest.fixture(params=[False, True], ids=["plain", "reopen"])
def world(request: pytest.FixtureRequest, zookeeper: Service) -> World:
    return World(ZooKeeperFactory(Servers(zookeeper=zookeeper.addresses)), reopens=request.param)


def test_all_over_a_restart(zookeeper: Service) -> None:
    stoppable(zookeeper)
    servers = Servers(zookeeper=zookeeper.addresses)
    over_restart(
        cases_of(contract),
        lambda: ZooKeeperFactory(servers),
        lambda: zookeeper.restart(kill=True),
        lambda engine: cast(ClusterCoordinator, engine.coordinator).members(),
    )
