"""The indexes of what happened in a crawl, a name each: in its folder, or in OpenSearch beside the crawl's index."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gregor.search.borders import Index, Unusable
from gregor.search.recorder import Records
from gregor.worker.compose.search import index_folder
from gregor.worker.config.settings import Config, replace

if TYPE_CHECKING:
    from gregor.search.adapters.opensearch_schema import IndexLayout

SCANNED: Final = ("events", "deadletters", "hosts", "orders")
"""Those that are made by going through what is kept."""
LOGS: Final = "logs"
NAMES: Final = (*SCANNED, LOGS)
_FOLDER: Final = "records"
_FORMAT: Final = "6"
_HEAP: Final = 16 * 1024 * 1024
_LEAST_REFRESH: Final = 5.0


def folder_of(config: Config) -> Path:
    """Where they are, and how far lines were read."""
    return index_folder(config) / _FOLDER / _FORMAT


def made(config: Config) -> list[str]:
    """The names of those that there are. Raises `Unavailable`, `Unusable`."""
    if not config.opensearch:
        return [name for name in NAMES if (folder_of(config) / name).is_dir()]
    from gregor.search.adapters.opensearch_client import Client
    from gregor.worker.compose.opensearch import nodes_of

    client = Client(nodes_of(config))
    return [name for name in NAMES if client.there(f"/_alias/{shape_of(config, name).alias}")]


@contextmanager
def writing(config: Config, name: str) -> Iterator[Records]:
    """One of them, to be written. Raises `Unusable`, `Unavailable`."""
    if config.opensearch:
        index: Records = _on_nodes(config, name)
    else:
        from gregor.search.adapters.tantivy_index import TantivyIndex

        index = TantivyIndex(folder_of(config) / name, writable=True, heap=_HEAP)
    try:
        yield index
    finally:
        index.close()


def searchable(config: Config, name: str) -> Index:
    """One of them, as it was committed last. Raises `Unusable`, `Unavailable`."""
    if config.opensearch:
        from gregor.worker.compose.opensearch import searched

        return searched(config, shape_of(config, name))
    from gregor.search.adapters.tantivy_index import TantivyIndex

    folder = folder_of(config) / name
    if not folder.is_dir():
        raise Unusable(f"{index_folder(config)} has no {name}: `gregor index --records` takes them in")
    return TantivyIndex(folder)


def latest(config: Config) -> dict[str, Callable[[], Index]]:
    """What gives each of them as it was committed last, by its name; nothing where there cannot be any."""
    if config.opensearch:
        from gregor.worker.compose.opensearch import LatestOnNodes

        return {name: LatestOnNodes(config, time.monotonic, shape_of(config, name)).now for name in NAMES}
    if not config.on_one_machine:
        return {}
    return {name: lambda name=name: searchable(config, name) for name in NAMES}  # type: ignore[misc]


def shape_of(config: Config, name: str) -> "IndexLayout":
    """How one of them is laid out in OpenSearch."""
    from gregor.worker.compose.opensearch import shape_of as shape_of_pages

    seldom = replace(config, opensearch_refresh=max(_LEAST_REFRESH, config.opensearch_refresh))
    return shape_of_pages(seldom, part=name)


def _on_nodes(config: Config, name: str) -> Records:
    from gregor.search.adapters import opensearch_schema as schema
    from gregor.search.adapters.opensearch_client import Client
    from gregor.search.adapters.opensearch_records import OpenSearchLines, OpenSearchRecords
    from gregor.worker.compose.opensearch import nodes_of

    client, shape = Client(nodes_of(config)), shape_of(config, name)
    try:
        generation = schema.current(client, shape)
    except Unusable:  # made by another version: it is taken in anew
        generation = None
    if generation is None:
        generation = schema.create(client, shape, schema.newest(client, shape) + 1)
        schema.use(client, shape, generation)
        schema.delete_others(client, shape, generation)
    if name == LOGS:
        return OpenSearchLines(client, generation.index)
    index = OpenSearchRecords(client, generation.index)
    index.begin()
    return index
