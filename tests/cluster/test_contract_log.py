"""The contract of `FrontierLog` over Kafka: each case as it is, after a reopen, and after a restart of the broker."""

import pytest

import tests.contract.test_log as contract
from tests.cluster.conftest import stoppable
from tests.cluster.kafka_engine import KafkaFactory
from tests.cluster.restart import cases_of, over_restart
from tests.cluster.servers import Service
from tests.contract.test_log import *  # noqa: F403 - the cases
from tests.contract.world import World


@pytest.fixture(params=[False, True], ids=["plain", "reopen"])
def world(request: pytest.FixtureRequest, kafka: Service) -> World:
    return World(KafkaFactory(kafka), reopens=request.param)


def test_all_over_a_restart(kafka: Service) -> None:
    stoppable(kafka)
    over_restart(cases_of(contract), lambda: KafkaFactory(kafka), lambda: kafka.restart(kill=True))
