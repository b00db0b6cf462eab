"""Search: pages that one core indexes a second, and what a query costs, on the recorded web and its known items.

`python -m benchmarks.search [--web ../shared/realweb] [--items ../shared/search/known_open.jsonl]`. Indexing is all
that `gregor index` does of a page: the book of links and contents, terms, the index with its commits; without reading
the pages from the store. Times are of the processor, all threads; a query is parsed, searched and its hits decoded.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from benchmarks import measure
from benchmarks.measure import ROOT, Figure, Figures
from tests.search import quality
from tests.search.recorded_web import page_files, pages

SHARED = ROOT.parent / "shared"
WEB, ITEMS = SHARED / "realweb", SHARED / "search" / "known_open.jsonl"


def measured(web: Path = WEB, items: Path = ITEMS) -> Figures:
    """Pages a second, milliseconds a query, and how well known items are found; nothing where there is no such web."""
    if not web.is_dir() or not items.is_file():
        print(f"search is not measured: {web} or {items} is missing", file=sys.stderr)
        return {}
    known_items = quality.read_items(items)
    with tempfile.TemporaryDirectory() as folder:
        result = quality.measure(
            known_items, quality.without_answers(pages(page_files(web)), known_items), Path(folder)
        )
    return {
        "search.indexing": Figure(result.pages_a_second, "pages a second of a core"),
        "search.query_p50": Figure(result.query_ms["p50"], "ms"),
        "search.query_p99": Figure(result.query_ms["p99"], "ms"),
        **{f"search.mrr_{kind}": Figure(value, "MRR@10") for kind, value in result.mrr.items()},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Indexing, queries, known items.")
    parser.add_argument("--web", type=Path, default=WEB)
    parser.add_argument("--items", type=Path, default=ITEMS)
    options = parser.parse_args()
    measure.report(measured(options.web, options.items))


if __name__ == "__main__":
    main()
