"""What could keep a crawl's index in OpenSearch from being written or searched."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Final

from gregor.worker.base.errors import BadInput
from gregor.worker.borders.errors import Unavailable
from gregor.worker.compose.findings import Finding, hurried
from gregor.worker.config.settings import Config

_NAME: Final = "opensearch"
_OLDEST: Final = (2, 11)
_LOW: Final = 85
"""Percent of a disk from which on OpenSearch puts no more shards there (its lower watermark, as it is by default)."""
_DISKS: Final = {"format": "json", "h": "node,disk.percent"}


async def examine(config: Config, environ: Mapping[str, str]) -> AsyncIterator[Finding]:
    """Nothing where the index does not lie there."""
    if config.opensearch:
        try:
            import opensearchpy  # noqa: F401
        except ModuleNotFoundError:
            yield Finding("fail", _NAME, "its client is not installed: pip install 'gregor-crawler[opensearch]'")
            return
        for finding in await asyncio.to_thread(_asked, config, environ):
            yield finding


def _asked(config: Config, environ: Mapping[str, str]) -> list[Finding]:
    from gregor.search.adapters import opensearch_schema as schema
    from gregor.search.adapters.opensearch_client import Client
    from gregor.search.adapters.opensearch_index import OpenSearchIndex
    from gregor.search.borders import Unusable
    from gregor.worker.compose.opensearch import nodes_of, shape_of

    patient = hurried(config)
    try:
        client, shape = Client(nodes_of(patient, environ)), shape_of(config)
        version = str(client.ask("GET", "/")["version"]["number"])
        findings = [_version(version), _health(client.ask("GET", "/_cluster/health"))]
        findings += [_disk(node) for node in client.ask("GET", "/_cat/allocation", params=_DISKS) if _is_low(node)]
        generation = schema.current(client, shape)
        if generation is None:
            text = f"holds no index of crawl {config.crawl} (if it had one, that was deleted): `gregor index` makes one"
            return [*findings, Finding("warn", _NAME, text)]
        blocks = client.ask("GET", f"/{generation.index}/_settings")[generation.index]["settings"]["index"]
        findings += _blocks(generation.index, blocks.get("blocks", {}))
        if not OpenSearchIndex(client, generation.index).is_begun():
            text = f"{generation.index} was emptied, or is not filled yet: `gregor index` takes in all"
            findings.append(Finding("warn", _NAME, text))
    except (BadInput, Unavailable, Unusable) as error:
        return [Finding("fail", _NAME, str(error))]
    return findings


def _is_low(node: Mapping[str, str | None]) -> bool:
    return int(node["disk.percent"] or 0) >= _LOW


def _disk(node: Mapping[str, str | None]) -> Finding:
    text = f"the disk of node {node['node']} is used to {node['disk.percent']} %: at 95 % it takes nothing more"
    return Finding("warn", _NAME, text)


def _blocks(index: str, blocks: Mapping[str, str]) -> list[Finding]:
    """What keeps an index from being written."""
    reasons = {
        "read_only_allow_delete": "is read-only, since a node's disk is full: free space there",
        "read_only": "is read-only by its setting index.blocks.read_only",
        "write": "is read-only by its setting index.blocks.write",
    }
    return [Finding("fail", _NAME, f"{index} {why}") for name, why in reasons.items() if blocks.get(name) == "true"]


def _version(version: str) -> Finding:
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdecimal())
    if numbers < _OLDEST:
        return Finding("warn", _NAME, f"version {version}: 2.11 or later is needed")
    return Finding("ok", _NAME, f"version {version} answers as it is configured")


def _health(health: Mapping[str, object]) -> Finding:
    nodes, waiting = health["number_of_data_nodes"], health["unassigned_shards"]
    match health["status"]:
        case "green":
            return Finding("ok", _NAME, f"all shards are on {nodes} data nodes")
        case "yellow":
            return Finding("warn", _NAME, f"{waiting} replicas have no node among {nodes}: opensearch_replicas")
        case _:
            return Finding("fail", _NAME, f"{waiting} shards have no node: some are lost, or their nodes are away")
