"""Servers by name, for tests of what is searched on servers."""

from tests.cluster.conftest import opensearch, servers

__all__ = ["opensearch", "servers"]
