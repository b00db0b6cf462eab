"""Which engine remembers the crawl: the only place that asks for it."""

import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from gregor.worker.adapters import embedded
from gregor.worker.adapters.embedded.folder import connect_reading
from gregor.worker.adapters.when_there import nobody
from gregor.worker.base.errors import BadInput
from gregor.worker.borders.errors import Unavailable
from gregor.worker.borders.reader import Reader
from gregor.worker.config.api import token
from gregor.worker.config.settings import Config, replace
from gregor.worker.links.configured import canonical_rules
from gregor.worker.web.canonical import CanonicalRules

if TYPE_CHECKING:
    from gregor.worker.adapters.cluster.engine import ClusterEngine


class SystemClock:
    """The machine's clocks."""

    # See `Clock.monotonic`: it goes on while the machine is suspended. Asked fifty times a page.
    monotonic = staticmethod(partial(time.clock_gettime, time.CLOCK_BOOTTIME))

    def wall(self) -> float:
        """See `Clock.wall`."""
        return time.time()


def place(config: Config) -> tuple[str, bool]:
    """Where the crawl is, for people; and whether its pages are counted at once."""
    return (f"crawl {config.crawl}", False) if config.engine == "cluster" else (config.data, True)


def worker_name() -> str:
    """A name for this process that says where it runs."""
    return f"{os.uname().nodename}-{os.getpid()}"


def tokens_are_there(config: Config) -> None:
    """Before anything is waited for. Raises `BadInput` naming the setting."""
    for role in ("viewer", "operator") if config.listen else ():
        token(config, role, os.environ)


async def open_engine(
    config: Config, away: Callable[[Unavailable], None] = nobody
) -> "embedded.EmbeddedEngine | ClusterEngine":
    canonical, clock = canonical_rules(config).fingerprint(), SystemClock()
    if config.engine == "cluster":
        from gregor.worker.adapters.cluster import engine as cluster  # the clients of four servers: only when needed

        return await cluster.open_engine(config, canonical, worker_name(), clock, os.environ, away)
    return await embedded.open_engine(Path(config.data), config.partitions, canonical, clock, config.bucket_width)


async def engine_of_a_server(config: Config) -> "embedded.EmbeddedEngine | ClusterEngine":
    """The engine of a process that listens: who probes it meanwhile is told which server is waited for."""
    if not config.listen or config.engine == "embedded":
        return await open_engine(config)
    from gregor.worker.api.starting import starting

    async with starting(config) as away:
        return await open_engine(config, away)


async def reader_beside(
    engine: "embedded.EmbeddedEngine | ClusterEngine", config: Config, stack: AsyncExitStack
) -> Reader:
    """What reads beside a worker."""
    if not isinstance(engine, embedded.EmbeddedEngine):
        return engine.reader
    return await stack.enter_async_context(reading_folder(config))


@asynccontextmanager
async def reading_folder(config: Config) -> AsyncIterator[embedded.EmbeddedReader]:
    """A data folder, read beside a running crawl or after it."""
    reader = await embedded.open_reader(Path(config.data))
    try:
        yield reader
    finally:
        await reader.close()


async def settled(config: Config) -> dict[str, int]:
    """What the data folder holds: URLs by state, "pages", "pages_200" and "bytes", as they are kept counted."""
    async with reading_folder(config) as reader:
        return await reader.settled()


async def kept(config: Config) -> dict[str, int]:
    """`settled`, and "lag": how many records of the folder's log are not finished."""
    async with reading_folder(config) as reader:
        return {**await reader.settled(), "lag": await reader.lag()}


def made_for(config: Config) -> tuple[Config, CanonicalRules]:
    """The configuration with what the data folder was made for, and the canonical form of its URLs."""
    connection, made_for = connect_reading(Path(config.data))
    connection.close()
    partitions, width = int(made_for["partitions"]), float(made_for["bucket_width"])
    rules = CanonicalRules.of_fingerprint(made_for["canonical"])
    return replace(config, partitions=partitions, bucket_width=width), rules


def cluster_only(config: Config) -> None:
    """Raises `BadInput` unless the crawl runs on servers."""
    if config.engine != "cluster":
        raise BadInput(
            'this command is for a crawl on servers: set engine = "cluster" and the addresses of the servers'
        )
