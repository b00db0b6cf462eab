"""`gregor rebuild-seen` in several processes, each with its own connections to the servers."""

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from typing import TypeAlias

from gregor.worker.adapters.cluster import engine as cluster
from gregor.worker.adapters.cluster.rebuild import Rebuilt
from gregor.worker.borders.reader import Part
from gregor.worker.config.servers import check_server
from gregor.worker.config.settings import Config
from gregor.worker.links.configured import canonical_rules

Tell: TypeAlias = Callable[[Part, Rebuilt], None]
"""Hears in each process how far it is: a function of a module."""


def rebuild_seen(config: Config, part: Part, processes: int, tell: Tell, *, anew: bool) -> list[Rebuilt]:
    """Mark in the seen set what the store knows, or a part of it; what each process did. Raises as `Engine` says."""
    for server in ("cassandra", "redis"):
        check_server(config, server, os.environ)
    if processes == 1:
        return [_rebuild_part(config, part, tell, anew)]
    parts = [Part(part.number + part.parts * number, part.parts * processes) for number in range(processes)]
    if anew:  # once, before any of them begins
        asyncio.run(cluster.forget_rebuilt(config, canonical_rules(config).fingerprint(), os.environ))
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        return list(pool.map(_rebuild_part, [config] * processes, parts, [tell] * processes, [False] * processes))


def _rebuild_part(config: Config, part: Part, tell: Tell, anew: bool) -> Rebuilt:
    canonical = canonical_rules(config).fingerprint()
    return asyncio.run(
        cluster.rebuild_seen(config, canonical, os.environ, partial(tell, part), part=part, anew=anew),
    )
