"""What a crawl takes from the ranks of its index, when it begins: how pages and hosts stand."""

from dataclasses import replace

from gregor.schemas.messages import url_fingerprint
from gregor.search.adapters import generations, host_ranks
from gregor.search.borders import Unusable
from gregor.worker.compose.search import BOOK, index_folder
from gregor.worker.config.settings import Config
from gregor.worker.extract.crawled import Extraction
from gregor.worker.links.known_ranks import ADVANCES, KnownRanks


def with_ranks(extraction: Extraction, config: Config) -> Extraction:
    """It, with the ranks of the index of a crawl on one machine, if `gregor rank` was given."""
    if not config.on_one_machine:
        return extraction
    try:
        generation = generations.before(index_folder(config))
    except Unusable:
        return extraction
    if generation is None:
        return extraction
    pages, hosts = host_ranks.steps(generation / BOOK, ADVANCES)
    ranks = KnownRanks({url_fingerprint(key): step for key, step in pages}, dict(hosts))
    return replace(extraction, judges=replace(extraction.judges, ranks=ranks))
