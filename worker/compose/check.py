"""Verifying and mending what a crawl stored, whichever engine keeps it."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from gregor.worker.adapters import embedded
from gregor.worker.adapters.differences import Differences
from gregor.worker.adapters.embedded.mending import EmbeddedMending
from gregor.worker.adapters.embedded.stock import EmbeddedStock
from gregor.worker.base.errors import BadInput
from gregor.worker.borders.errors import Damaged
from gregor.worker.borders.reader import Reader
from gregor.worker.borders.stock import Mending, Stock
from gregor.worker.compose.beside import open_crawl
from gregor.worker.compose.engines import made_for
from gregor.worker.config.settings import Config
from gregor.worker.inspect.check import Check, Progress
from gregor.worker.inspect.mend import Mender
from gregor.worker.links.configured import canonical_rules


@dataclass(frozen=True)
class Opened:
    """A check that may begin; what mends, if that was asked for."""

    check: Check
    sizes: dict[str, int]
    mender: Mender | None


@asynccontextmanager
async def checking(config: Config, progress: Progress, *, mend: bool) -> AsyncIterator[Opened]:
    """Open a crawl for its check. Raises `BadInput`, `Unavailable`."""
    mending = await _mending(config) if mend else None
    try:
        reader, urls = await open_crawl(config)
        reader.on_damage = _known
        try:
            stock = await _stock(config, reader)
            try:
                mender = None if mending is None else Mender(mending, reader, urls)
                yield Opened(Check(stock, urls, Differences, progress), await stock.sizes(), mender)
            finally:
                await stock.close()
        finally:
            await reader.close()
    finally:
        if mending is not None:
            await mending.close()


def _known(damage: Damaged) -> None:
    """The check itself tells what is damaged."""


async def _stock(config: Config, reader: Reader) -> Stock:
    if config.engine == "cluster":
        from gregor.worker.adapters.cluster import engine as cluster

        return await cluster.open_stock(config, canonical_rules(config).fingerprint(), os.environ)
    return EmbeddedStock(Path(config.data), made_for(config)[0].partitions)


async def _mending(config: Config) -> Mending:
    if config.engine == "cluster":
        from gregor.worker.adapters.cluster import engine as cluster

        return await cluster.open_mending(config, canonical_rules(config).fingerprint(), os.environ)
    config, rules = made_for(config)
    try:
        return EmbeddedMending(Path(config.data), config.partitions, rules.fingerprint(), config.bucket_width)
    except embedded.FolderInUse as error:
        raise BadInput(f"{error}; to check beside it, leave --mend out") from None
