"""Indexes of a test's own in an OpenSearch that several tests share."""

import secrets
from typing import NamedTuple

from gregor.search.adapters.opensearch_client import Client, OpenSearchNodes
from gregor.search.adapters.opensearch_index import OpenSearchIndex
from gregor.search.adapters.opensearch_schema import IndexLayout, create, use
from tests.cluster.servers import Service


class Made(NamedTuple):
    """A generation that is searched."""

    client: Client
    shape: IndexLayout
    name: str


def client_of(service: Service, timeout: float = 60.0) -> Client:
    """One that waits as long as a machine that does much else needs."""
    addresses = [address.rpartition(":") for address in service.addresses]
    return Client(OpenSearchNodes(tuple((host, int(port)) for host, _, port in addresses), timeout=timeout))


def made(service: Service, crawl: str = "") -> Made:
    """A new index of a name that no other test has."""
    client = client_of(service)
    shape = IndexLayout(f"gregor-{secrets.token_hex(8)}", crawl, replicas=len(service.addresses) - 1, refresh=0.2)
    generation = create(client, shape, 1)
    use(client, shape, generation)
    return Made(client, shape, generation.index)


def writing(made: Made) -> OpenSearchIndex:
    """The index, to be written."""
    index = OpenSearchIndex(made.client, made.name)
    index.begin()
    return index
