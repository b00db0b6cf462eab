"""Real servers for the cluster tests and for `make up`: Kafka, ZooKeeper, Redis, Cassandra.

Each comes from the first way there is: the environment (GREGOR_TEST_KAFKA and so on), Docker, packages on this machine.
"""

from tests.cluster.servers.service import Missing, Node, ServerFailed, Service
from tests.cluster.servers.session import NAMES, Servers

__all__ = ["NAMES", "Missing", "Node", "ServerFailed", "Servers", "Service"]
