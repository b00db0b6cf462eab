"""What is done with the servers of a crawl."""

import asyncio
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from typing import TYPE_CHECKING

from gregor.worker.borders.reader import Part
from gregor.worker.compose.engines import SystemClock, cluster_only, tokens_are_there
from gregor.worker.config.servers import check_server
from gregor.worker.config.settings import Config
from gregor.worker.links.configured import canonical_rules

if TYPE_CHECKING:
    from gregor.worker.adapters.cluster.engine import Prepared
    from gregor.worker.adapters.cluster.look import ClusterStatus
    from gregor.worker.adapters.cluster.rebuild import Rebuilt


async def init(config: Config) -> "Prepared":
    """Set a crawl up on its servers. Raises `BadInput`, `Unavailable`."""
    cluster_only(config)
    tokens_are_there(config)
    from gregor.worker.adapters.cluster import engine as cluster

    return await cluster.set_up(config, canonical_rules(config).fingerprint(), SystemClock(), os.environ)


def rebuild_seen(
    config: Config, part: Part, processes: int, tell: Callable[[Part, "Rebuilt"], None], *, anew: bool = False
) -> "list[Rebuilt]":
    """Mark in the seen set what the store knows, or a part of it, in so many processes; what each of them did.

    ``tell``, a function of a module, hears in each process how far it is. Raises `BadInput`, `Unavailable`.
    """
    cluster_only(config)
    for server in ("cassandra", "redis"):
        check_server(config, server, os.environ)
    if processes == 1:
        return [_rebuild_part(config, part, tell, anew)]
    parts = [Part(part.number + part.parts * number, part.parts * processes) for number in range(processes)]
    if anew:  # once, before any of them begins
        asyncio.run(_forget_rebuilt(config))
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        return list(pool.map(_rebuild_part, [config] * processes, parts, [tell] * processes, [False] * processes))


def _rebuild_part(config: Config, part: Part, tell: "Callable[[Part, Rebuilt], None]", anew: bool) -> "Rebuilt":
    from gregor.worker.adapters.cluster import engine as cluster

    canonical = canonical_rules(config).fingerprint()
    return asyncio.run(
        cluster.rebuild_seen(config, canonical, os.environ, partial(tell, part), part=part, anew=anew),
    )


async def _forget_rebuilt(config: Config) -> None:
    from gregor.worker.adapters.cluster import engine as cluster

    await cluster.forget_rebuilt(config, canonical_rules(config).fingerprint(), os.environ)


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
