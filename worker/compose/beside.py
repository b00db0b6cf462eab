"""What is done to a crawl, or read of it, beside its workers or after them."""

from collections.abc import Iterable
from itertools import islice

from gregor.worker.adapters.sorting import Sorted
from gregor.worker.borders.errors import TellDamage
from gregor.worker.compose.engine import engine_of
from gregor.worker.config.settings import Config
from gregor.worker.inspect import audit_crawl
from gregor.worker.inspect.audit import Findings
from gregor.worker.operate import seeds as seeding
from gregor.worker.operate.seeds import Seed
from gregor.worker.orders.model import By


async def audit(
    config: Config, host: str | None, on_damage: TellDamage, tell: audit_crawl.TellCount = lambda *_: None
) -> Findings:
    """Judge the requests that the crawl has on record, or those to one host; ``tell`` hears how far it is."""
    reader, _ = await engine_of(config).read()
    reader.on_damage = on_damage
    try:
        with Sorted() as sorting:
            return await audit_crawl.audit(reader, sorting, config.user_agent, host, tell)
    finally:
        await reader.close()


async def seed(config: Config, seeds: Iterable[Seed], by: By) -> int:
    """Publish seeds for workers that run now or later, into a data folder that is made if need be; how many."""
    async with engine_of(config).controlled(make=True) as control:
        count, iterator = 0, iter(seeds)
        while batch := list(islice(iterator, seeding.BATCH)):
            count += await control.seed(batch, by)
        return count
