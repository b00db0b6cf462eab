"""How well known items are found: `make search-quality ITEMS=file WEB=folder`.

`python -m tests.search.quality ITEMS WEB [--file PATTERN] [--engine opensearch]`. ITEMS is a file of JSON lines:
`query`, `kind` ("title": the page's own; "anchor": what links to it say), `language`, and `relevant`, the keys of all
pages with that content.
WEB is a folder of WARC files. The pages are indexed as `gregor index` does it, with two exceptions: no anchor text that
is equal to an anchor query, which would give the answer away; and pages that ask not to be indexed are, since items
were made of all. The last line is JSON: the mean reciprocal rank among the first ten (MRR@10) by kind and by kind and
language, and how fast that was.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec

from gregor.schemas.messages import Page
from gregor.search.adapters.book import PageBook
from gregor.search.adapters.tantivy_index import TantivyIndex
from gregor.search.borders import Index
from gregor.search.indexer import Indexer
from gregor.search.query import parse
from gregor.search.terms import terms
from gregor.worker.borders.changes import UrlChange
from gregor.worker.web.urls import Urls
from tests.cluster.servers import Servers, Service
from tests.search import opensearch
from tests.search.recorded_web import page_files, pages

Opener = Callable[[Path], Index]
"""Opens the index that is measured; the folder is for one that lies in a folder."""
FIRST = 10
"""Hits that count."""


class Item(msgspec.Struct, frozen=True):
    """A query, and the pages that who types it wants."""

    query: str
    kind: str
    relevant: frozenset[str]
    language: str = ""


class Measured(msgspec.Struct, frozen=True):
    """What came of it. Times are of the processor."""

    items: int
    documents: int
    mrr: dict[str, float]
    by_language: dict[str, dict[str, float]]
    pages_a_second: float
    query_ms: dict[str, float]


class Listed:
    """A `ChangeFeed` of pages in a list."""

    def __init__(self, listed: Sequence[Page]) -> None:
        self._pages = listed
        self._by_key = {page.key: page for page in listed}

    async def changes(self, after: int, limit: int) -> list[UrlChange]:
        chosen = self._pages[after : after + limit]
        return [UrlChange(number, page.key, page, None) for number, page in enumerate(chosen, after + 1)]

    async def end(self) -> int:
        return len(self._pages)

    async def close(self) -> None:
        """Nothing is open."""

    async def page(self, key: str, visit: int | None = None) -> Page | None:
        return self._by_key.get(key)


def read_items(file: Path) -> list[Item]:
    """The items of a file of JSON lines."""
    return [msgspec.json.decode(line, type=Item) for line in file.read_bytes().splitlines() if line.strip()]


def without_answers(web: Iterable[Page], items: Iterable[Item]) -> list[Page]:
    """The pages without anchor texts that are anchor queries, and without what asks not to be indexed."""
    given_away = {tuple(terms(item.query)) for item in items if item.kind == "anchor"}
    known: dict[str, bool] = {}
    kept = []
    for page in web:
        for link in page.links:
            if link.text not in known:
                known[link.text] = tuple(terms(link.text)) in given_away
        page.links = [link for link in page.links if not known[link.text]]
        page.directives = ()
        kept.append(page)
    return kept


def index(web: Sequence[Page], folder: Path, open_index: Opener) -> float:
    """Index pages; seconds of this process' processor that it took, of all threads."""

    async def run() -> None:
        feed = Listed(web)
        indexer = Indexer(feed, feed.page, book, made)
        while await indexer.step():
            pass

    begun = time.process_time()
    made, book = open_index(folder), PageBook(folder / "book.db", Urls().key)
    try:
        asyncio.run(run())
    finally:
        book.close()
        made.close()
    return time.process_time() - begun


def reciprocal_rank(item: Item, found: Iterable[Iterable[str]]) -> float:
    """1 for a wanted page at the first place, 1/2 at the second …, 0 if it is not among the first ten."""
    for place, keys in enumerate(found, 1):
        if not item.relevant.isdisjoint(keys):
            return 1 / place
    return 0.0


def in_folder(folder: Path) -> Index:
    """The index of one machine."""
    return TantivyIndex(folder / "tantivy", writable=True)


def on_nodes(service: Service) -> Opener:
    """A new index of OpenSearch."""
    made = opensearch.made(service)
    return lambda folder: opensearch.writing(made)


def measure(items: Sequence[Item], web: Sequence[Page], folder: Path, open_index: Opener = in_folder) -> Measured:
    """Index the pages in a folder, ask all queries, and say how well they were answered."""
    seconds = index(web, folder, open_index)
    searched = open_index(folder)
    ranks: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    spent = []
    for item in items:
        begun = time.thread_time()
        answer = searched.search(parse(item.query), FIRST)
        spent.append(1000 * (time.thread_time() - begun))
        ranks[item.kind][item.language].append(reciprocal_rank(item, (hit.keys for hit in answer.hits)))
    spent.sort()
    return Measured(
        items=len(items),
        documents=searched.count(),
        mrr={kind: _mean([one for found in languages.values() for one in found]) for kind, languages in ranks.items()},
        by_language={
            kind: {language: _mean(found) for language, found in sorted(languages.items())}
            for kind, languages in ranks.items()
        },
        pages_a_second=round(len(web) / seconds, 1),
        query_ms={
            name: round(spent[int(share * (len(spent) - 1))], 3) for name, share in (("p50", 0.5), ("p99", 0.99))
        },
    )


def _mean(values: Sequence[float]) -> float:
    return round(sum(values) / len(values), 4)


def main() -> int:
    parser = argparse.ArgumentParser(description="How well known items are found.")
    parser.add_argument("items", type=Path)
    parser.add_argument("web", type=Path)
    parser.add_argument("--file", default="*", metavar="PATTERN", help="of the WARC files, default: all")
    text = "tantivy, or opensearch: a node that is started for it; default: tantivy"
    parser.add_argument("--engine", choices=["tantivy", "opensearch"], default="tantivy", help=text)
    options = parser.parse_args()
    items = read_items(options.items)
    files = [file for file in page_files(options.web) if file.match(options.file)]
    if not items or not files:
        print("no items, or no WARC files with pages", file=sys.stderr)
        return 2
    web = without_answers(pages(files), items)
    with tempfile.TemporaryDirectory() as folder, Servers() as servers:
        open_index = in_folder if options.engine == "tantivy" else on_nodes(servers.get("opensearch"))
        found = measure(items, web, Path(folder), open_index)
    for kind, languages in found.by_language.items():
        best = sorted(languages.items(), key=lambda one: one[1])
        print(f"{kind:8} {found.mrr[kind]:.4f}   " + "  ".join(f"{name or '?'} {value:.3f}" for name, value in best))
    print(json.dumps(msgspec.to_builtins(found), ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
