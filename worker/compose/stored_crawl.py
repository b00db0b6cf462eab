"""What the API reads of a crawl, whichever process serves it."""

from gregor.worker.api.archive import StoredCrawl
from gregor.worker.borders.clock import Clock
from gregor.worker.borders.reader import Reader
from gregor.worker.compose import record_indexes
from gregor.worker.compose.search import latest
from gregor.worker.config.settings import Config
from gregor.worker.links.configured import urls_of


def stored_crawl(config: Config, reader: Reader, clock: Clock) -> StoredCrawl:
    """By what its store holds, its index, and the indexes of what happened in it."""
    return StoredCrawl(reader, urls_of(config), config, latest(config, clock.monotonic), record_indexes.latest(config))
