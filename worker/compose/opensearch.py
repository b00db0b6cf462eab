"""Puts together what indexes into and searches in OpenSearch: nodes, generations, what is refused."""

import os
import time
from collections.abc import Callable, Mapping
from typing import Final, Self

import msgspec

from gregor.schemas.messages import DeadLetter
from gregor.search.adapters import opensearch_schema as schema
from gregor.search.adapters.opensearch_client import ATTEMPTS, Client, OpenSearchNodes
from gregor.search.adapters.opensearch_index import OpenSearchIndex
from gregor.search.adapters.opensearch_schema import IndexLayout
from gregor.search.adapters.opensearch_writer import ReportRefusal
from gregor.search.borders import Unusable
from gregor.search.documents import IndexedDocument
from gregor.worker.borders.errors import Unavailable
from gregor.worker.compose.engine import engine_of
from gregor.worker.compose.findings import hurried
from gregor.worker.config.servers import address, check_server, password, trusting
from gregor.worker.config.settings import Config
from gregor.worker.observe.indexing import IndexStats
from gregor.worker.observe.logging import logs

_log = logs("index")
_PORT: Final = 9200
_FRESH: Final = 1.0
"""Seconds for which the search page takes the index for unchanged."""
CAUSE: Final = "index"
"""Of dead letters of documents that the engine refuses."""


def shape_of(config: Config, crawl: str = "", part: str = "") -> IndexLayout:
    """How the index of a crawl is laid out, or that of a ``part`` of what happened in it; ``crawl`` names what it is
    made of."""
    return IndexLayout(
        f"gregor-{config.crawl}" + (f"_{part}" if part else ""),
        crawl,
        config.opensearch_documents,
        config.opensearch_replicas,
        config.opensearch_refresh,
    )


def nodes_of(config: Config, environ: Mapping[str, str] = os.environ) -> OpenSearchNodes:
    """Where OpenSearch is. Raises `BadInput` naming a setting that cannot be used."""
    check_server(config, "opensearch", environ)
    return OpenSearchNodes(
        tuple((host, port or _PORT) for host, port in (address("opensearch", text) for text in config.opensearch)),
        config.opensearch_username,
        password(config, "opensearch", environ),
        trusting("opensearch", config.opensearch_ca_file) if config.opensearch_tls else None,
        config.server_timeout,
    )


def searched(config: Config, shape: IndexLayout | None = None, *, patient: bool = False) -> OpenSearchIndex:
    """The generation in use, as it is now, of pages or of this shape. Whoever searches hears within `server_timeout`
    that nobody answers; who is ``patient`` waits so long at each attempt. Raises `Unusable`, `Unavailable`, `BadInput`.
    """
    nodes = nodes_of(config)
    client = Client(nodes if patient else msgspec.structs.replace(nodes, timeout=nodes.timeout / ATTEMPTS))
    generation = schema.current(client, shape or shape_of(config))
    if generation is None:
        raise _missing(config, shape)
    return OpenSearchIndex(client, generation.index)


def can_be_written(config: Config) -> None:
    """Raises `Unusable` for an index that this version cannot write; one that is away now may be written later."""
    patient = hurried(config)
    client = Client(nodes_of(patient))
    try:
        schema.current(client, shape_of(config))
    except Unavailable:
        return
    finally:
        client.close()


def _missing(config: Config, shape: IndexLayout | None) -> Unusable:
    if shape is None:
        return Unusable(f"OpenSearch holds no index of crawl {config.crawl}: make one with `gregor index`")
    what = shape.alias.rpartition("_")[2]
    return Unusable(f"OpenSearch has no {what} of crawl {config.crawl}: `gregor index --records` takes them in")


class LatestOnNodes:
    """The index of a crawl as it is found now, pinned so that pages of results are one list."""

    def __init__(
        self, config: Config, clock: Callable[[], float] = time.monotonic, shape: IndexLayout | None = None
    ) -> None:
        """``shape`` of what is searched; None: pages."""
        self._config = config
        self._shape = shape
        self._clock = clock
        self._client: Client | None = None
        self._index: OpenSearchIndex | None = None
        self._seen = ("", 0)
        self._looked = 0.0

    def now(self) -> OpenSearchIndex:
        """The same object while nothing is new; what is new may be missed for a second. Raises `Unusable`,
        `Unavailable`."""
        now = self._clock()
        if self._index is not None and now - self._looked < _FRESH:
            return self._index
        if self._client is None:
            self._client = Client(nodes_of(self._config))
        generation = schema.current(self._client, self._shape or shape_of(self._config))
        if generation is None:
            raise _missing(self._config, self._shape)
        index = OpenSearchIndex(self._client, generation.index)
        seen = (generation.index, index.write_count())
        if self._index is None or seen != self._seen or not self._index.is_kept():
            self._index, self._seen = index.pinned(), seen
        self._looked = now
        return self._index


class Writing:
    """The generations of a crawl's index as who writes it sees them. Raises `Unusable`, `Unavailable`, `BadInput`."""

    def __init__(self, config: Config, crawl: str) -> None:
        self._client = Client(nodes_of(config))
        self._shape = shape_of(config, crawl)
        self._client.ask("GET", "/")  # it is there, and answers who this is

    def newest(self) -> int:
        """The highest number of a generation that there is; 0: none is."""
        return schema.newest(self._client, self._shape)

    def open(self, number: int, on_refused: ReportRefusal) -> OpenSearchIndex:
        """A generation to write, made if it is not there."""
        generation = schema.create(self._client, self._shape, number)
        schema.check(self._client, self._shape, generation.index)
        index = OpenSearchIndex(self._client, generation.index, on_refused=on_refused)
        if not index.is_begun() and schema.was_written(self._client, generation.index):
            # It was emptied: it remembers versions of what was deleted, against which what is written anew would lose.
            self._client.ask("DELETE", f"/{generation.index}")
            schema.create(self._client, self._shape, number)
        index.begin()
        return index

    def use(self, number: int) -> None:
        """Search this one from now on; the others are deleted."""
        generation = self._shape.generation(number)
        schema.use(self._client, self._shape, generation)
        schema.delete_others(self._client, self._shape, generation)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()


def letters(config: Config, stats: IndexStats) -> ReportRefusal:
    """What makes dead letters of documents that the engine refuses; one that is there already is not made again."""
    put = engine_of(config).put_letter

    def refused(document: IndexedDocument, reason: str) -> None:
        stats.refused += 1
        put(letter_of(document, reason))

    return refused


def letter_of(document: IndexedDocument, reason: str) -> DeadLetter:
    """The dead letter of a document that the engine refuses: of no key, since the URL itself was not given up."""
    _log.warning("the engine refuses a document", url=document.key, why=reason)
    source = f"index, visit {document.visit}"
    return DeadLetter("", document.href, document.host, CAUSE, reason, document.at, source=source)
