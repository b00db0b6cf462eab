"""Servers by name, for tests of what is searched on servers."""

from tests.cluster.conftest import cassandra, kafka, opensearch, redis, servers, zookeeper

__all__ = ["cassandra", "kafka", "opensearch", "redis", "servers", "zookeeper"]
