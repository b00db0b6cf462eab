"""Which fields of rules have fallen away, by what the partitions of a crawl have kept."""

from gregor.worker.compose.engine import engine_of
from gregor.worker.config.settings import Config
from gregor.worker.extract.drift import Fallen, fallen


async def drift_of(config: Config) -> tuple[Fallen, ...]:
    """Those of a crawl that is there. Raises `BadInput`, `Unavailable`."""
    reader, _ = await engine_of(config).read()
    try:
        return fallen([record.fields async for record in reader.partitions()])
    finally:
        await reader.close()
