"""What is done with the servers of a crawl."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from gregor.worker.compose.engines import SystemClock, cluster_only, tokens_are_there, worker_name
from gregor.worker.config.servers import check_server
from gregor.worker.config.settings import Config
from gregor.worker.links.configured import canonical_rules

if TYPE_CHECKING:
    from gregor.worker.adapters.cluster.engine import Prepared
    from gregor.worker.adapters.cluster.look import ClusterStatus


async def init(config: Config) -> "Prepared":
    """Set a crawl up on its servers. Raises `BadInput`, `Unavailable`."""
    cluster_only(config)
    tokens_are_there(config)
    from gregor.worker.adapters.cluster import engine as cluster

    return await cluster.set_up(config, canonical_rules(config).fingerprint(), SystemClock(), os.environ)


async def rebuild_seen(config: Config) -> int:
    """Mark in the seen set all that the store knows; how many URLs."""
    cluster_only(config)
    from gregor.worker.adapters.cluster import engine as cluster

    canonical = canonical_rules(config).fingerprint()
    engine = await cluster.open_engine(config, canonical, worker_name(), SystemClock(), os.environ)
    try:
        return await cluster.rebuild_seen(engine)
    finally:
        await engine.close()


async def cluster_status(config: Config) -> "ClusterStatus":
    """Who is there, who owns what, how much is done and unfinished, as far as the servers tell. Raises `BadInput`."""
    cluster_only(config)
    from gregor.worker.adapters.cluster import engine as cluster

    return await cluster.cluster_status(config, SystemClock(), os.environ)


async def ask_server(config: Config, server: str, environ: Mapping[str, str]) -> None:
    """See that a server, by its setting, answers as it would a worker. Raises `BadInput`, `Unavailable`."""
    from gregor.worker.adapters.cluster.probes import PROBES

    check_server(config, server, environ)
    await PROBES[server](config, SystemClock(), environ)
