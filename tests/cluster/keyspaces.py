"""Keyspaces of tests: empty at first, also on a server that was given and used before."""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from gregor.worker.adapters.cluster.cassandra_connect import make_cluster
from gregor.worker.adapters.cluster.cassandra_setup import set_up
from gregor.worker.config.servers import Servers
from tests.cluster.servers import Service

_TIMEOUT = 60.0


@contextmanager
def keyspace(service: Service, name: str, facts: Mapping[str, str], timeout: float = 10.0) -> Iterator[Servers]:
    """Settings that reach a server on which the keyspace was made anew."""
    settings = Servers(cassandra=service.addresses, cassandra_replication=1, server_timeout=timeout)
    drop(settings, name)
    asyncio.run(set_up(settings, name, facts, {}))
    try:
        yield settings
    finally:
        if not service.nodes:  # others use it, too
            drop(settings, name)


def drop(settings: Servers, name: str) -> None:
    """Remove a keyspace if it is there."""
    cluster = make_cluster(settings, {})
    try:
        cluster.connect().execute(f"DROP KEYSPACE IF EXISTS {name}", timeout=_TIMEOUT)
    finally:
        cluster.shutdown()
