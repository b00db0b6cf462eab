"""OpenSearch: documents of the recorded web that a second of the server's processor indexes.

`python -m benchmarks.search_opensearch [--web ../shared/realweb] [--rounds 1]`. The documents are made beforehand, as
`gregor index` makes them, and written as a worker of the index does it: bulks of 500 contents, and a refresh a second.
Counted is the processor time of the node, all threads, from the first bulk until all are found and nothing is left to
merge. The node runs with Java's optimising compiler and has written the same documents into another index before.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks import measure
from benchmarks.measure import Figure, Figures
from benchmarks.search import WEB
from gregor.schemas.messages import Page
from gregor.search.adapters.book import PageBook
from gregor.search.adapters.opensearch_client import Client
from gregor.search.adapters.opensearch_schema import IndexLayout, create
from gregor.search.adapters.opensearch_writer import BulkWriter, version_of
from gregor.search.borders import Index
from gregor.search.documents import IndexedDocument
from gregor.search.indexer import Indexer
from gregor.worker.web.urls import Urls
from tests.cluster.servers import Servers
from tests.cluster.servers import opensearch as node
from tests.cluster.servers.process import Process
from tests.search.opensearch import client_of
from tests.search.quality import Listed
from tests.search.recorded_web import page_files, pages

_AT_ONCE: Final = 500
_PATIENCE: Final = 120.0


class _Kept:
    """An `Index` that keeps what is put, the last document of a name."""

    def __init__(self) -> None:
        self.documents: dict[str, IndexedDocument] = {}
        self._position = 0

    def position(self) -> int:
        return self._position

    def put(self, documents: Sequence[IndexedDocument]) -> None:
        self.documents |= {document.id: document for document in documents}

    def commit(self, position: int) -> None:
        self._position = position


def made(web: Sequence[Page], folder: Path) -> list[IndexedDocument]:
    """The documents of pages, with all words of links that lead to them."""
    urls, kept = Urls(), _Kept()

    def key_of(url: str) -> str | None:
        parsed = urls.parse(url)
        return None if parsed is None else parsed.key

    async def run() -> None:
        feed, index = Listed(web), _as_index(kept)
        indexer = Indexer(feed, feed.page, book, index)
        while await indexer.step():
            pass

    book = PageBook(folder / "book.db", key_of)
    try:
        asyncio.run(run())
    finally:
        book.close()
    return list(kept.documents.values())


def _as_index(kept: Any) -> Index:
    index: Index = kept
    return index


def write(client: Client, documents: Sequence[IndexedDocument], number: int, group: int) -> float:
    """Seconds of the server's processor that documents take in a new index."""
    layout = IndexLayout(f"gregor-bench{number}", replicas=0)
    generation = create(client, layout, 1)
    before = measure.processor_seconds(group)
    for at in range(0, len(documents), _AT_ONCE):
        writer = BulkWriter(client, generation.index)
        for place, document in enumerate(documents[at : at + _AT_ONCE], at + 1):
            writer.put(document, version_of(1, place))
        writer.flush()
    client.ask("POST", f"/{generation.index}/_refresh")
    deadline = time.monotonic() + _PATIENCE
    while client.ask("GET", f"/{generation.index}/_stats/merge")["_all"]["total"]["merges"]["current"]:
        assert time.monotonic() < deadline, "it merges without end"
        time.sleep(0.1)
    took = measure.processor_seconds(group) - before
    count = client.ask("POST", f"/{generation.index}/_count")["count"]
    assert count == len(documents), f"{count} of {len(documents)} documents are found"
    size = client.ask("GET", f"/{generation.index}/_stats/store")["_all"]["total"]["store"]["size_in_bytes"]
    print(f"{len(documents) / took:.0f} documents a second, {size / len(documents):.0f} octets each", file=sys.stderr)
    client.ask("DELETE", f"/{generation.index}")
    return took


def measured(web: Path = WEB, rounds: int = 1) -> Figures:
    """Documents a second; nothing where there is no such web."""
    if not web.is_dir():
        print(f"OpenSearch is not measured: {web} is missing", file=sys.stderr)
        return {}
    with tempfile.TemporaryDirectory() as place, Servers() as servers:
        documents = made(list(pages(page_files(web))), Path(place))
        service = node.start(Path(place), servers.guard, optimised=True)
        try:
            (process,) = service.nodes
            assert isinstance(process, Process)
            client = client_of(service)
            took = [write(client, documents, number, process.group) for number in range(rounds + 1)]
        finally:
            service.kill()
    speed = len(documents) / min(took[1:])
    return {"search.opensearch_indexing": Figure(round(speed, 1), "documents a second of the server's processor")}


def main() -> None:
    parser = argparse.ArgumentParser(description="Indexing by OpenSearch.")
    parser.add_argument("--web", type=Path, default=WEB)
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    measure.report(measured(options.web, options.rounds))


if __name__ == "__main__":
    main()
