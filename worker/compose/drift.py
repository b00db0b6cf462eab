"""Which fields of rules have fallen away, by what the partitions of a crawl have kept."""

from gregor.worker.borders.errors import Unavailable
from gregor.worker.compose.engine import engine_of
from gregor.worker.config.settings import Config
from gregor.worker.extract.drift import Fallen, fallen


async def drift_of(config: Config) -> tuple[Fallen, ...]:
    """Those of a crawl that is there; none when its servers are away. Raises `BadInput`."""
    try:
        reader, _ = await engine_of(config).read()
    except Unavailable:
        return ()
    try:
        return fallen([record.fields async for record in reader.partitions()])
    except Unavailable:
        return ()
    finally:
        await reader.close()
