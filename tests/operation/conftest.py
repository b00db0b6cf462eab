"""Servers by name, for what is tried on them."""

from tests.cluster.conftest import cassandra, kafka, opensearch, sentinel, servers, zookeeper

__all__ = ["cassandra", "kafka", "opensearch", "sentinel", "servers", "zookeeper"]
