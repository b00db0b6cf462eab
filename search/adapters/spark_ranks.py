"""PageRank of tables that the exporter wrote, by Spark: for links that one machine does not hold.

Spark turns URLs into numbers; links stay with its executors, in blocks of what they lead to. Each round sends the ranks
to all and gets back those of each block, by the kernel that ranks on one machine too (`gregor.search.ranks.follow`).
The driver holds names and ranks of pages, and no link.
"""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import groupby, islice
from pathlib import Path
from typing import Any, Final

import numpy as np

from gregor.schemas.messages import STILL_THERE, url_fingerprint
from gregor.search.borders import Unusable
from gregor.search.documents import HIDDEN
from gregor.search.links import MOST_LINKS, RECOMMENDING, Links, Node, signed, words_of
from gregor.search.ranking import LinkRules, RankingResult, Web, result
from gregor.search.ranks import Edges, Floats, block_of, converge, follow, leaving

_BLOCKS_A_CORE: Final = 2
_PAGES_AT_ONCE: Final = 4096
_OF_PAGES: Final = ("key", "host", "state", "duplicate_of", "directives", "requisite")
_OF_LINKS: Final = ("source_key", "target", "kind", "nofollow", "text", "position")
_SETTINGS: Final = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.execution.arrow.pyspark.enabled": "false",
}

KeyFunction = Callable[[str], str | None]
"""The key of a URL as a link has it; None for what is no URL of a crawl. It is sent to executors."""
ArrayPart = tuple[int, tuple[Any, Any, Any]]


@contextmanager
def session(master: str) -> Iterator[Any]:
    """A session with a master (``local[2]``, ``spark://…``, ``yarn``). Raises `Unusable`."""
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    builder: Any = SparkSession.builder
    builder = builder.master(master).appName("gregor rank")
    here = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    if master.startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # executors have what this process has
    for name, value in {**_SETTINGS, **(here if master.startswith("local") else {})}.items():
        builder = builder.config(name, value)
    try:
        opened = builder.getOrCreate()
    except (PySparkException, OSError, RuntimeError) as error:
        lines = str(error).splitlines() or [type(error).__name__]
        raise Unusable(f"Spark does not begin with the master {master}: {lines[0][:200]}") from None
    opened.sparkContext.setLogLevel("ERROR")
    try:
        yield opened
    finally:
        opened.stop()


def ranked(
    spark: Any, folder: Path, key_of: KeyFunction, rules: LinkRules, before: Mapping[str, float]
) -> RankingResult:
    """Rank the pages of the tables ``pages`` and ``links`` in a folder, each a Parquet file or a folder of such.

    A document is named by the key that its duplicates are duplicates of. Raises `Unusable`.
    """
    context = spark.sparkContext
    web = Web(_nodes(_table(spark, folder, "pages", _OF_PAGES), key_of))
    count, many = max(1, len(web.contents)), max(1, context.defaultParallelism) * _BLOCKS_A_CORE
    width = -(-count // many)
    shared = context.broadcast((web.bare(), rules, key_of))
    rows = _table(spark, folder, "links", _OF_LINKS).repartition(many, "source_key")
    in_order = rows.sortWithinPartitions("source_key", "position")
    blocks = (
        in_order.rdd.mapPartitions(lambda part: _parts(part, shared.value, width))
        .groupByKey(many)
        .map(lambda block: (block[0] * width, _edges(block[1], shared.value[0], shared.value[1])))
        .cache()
    )
    out = sum(blocks.map(lambda block: leaving(block[1])).collect(), np.zeros(len(web.contents)))
    sent_out = context.broadcast(out)
    kernels = blocks.map(lambda block: (block[0], block_of(block[1], sent_out.value, block[0], width))).cache()

    def followed(ranks: Floats) -> Floats:
        sent, new = context.broadcast(ranks), np.zeros(len(ranks))
        for first, came in kernels.map(lambda kernel: (kernel[0], follow(kernel[1], sent.value))).collect():
            new[first : first + width] = came[: len(ranks) - first]
        sent.destroy()
        return new

    of_pages = converge(followed, bool((out == 0).any()), web.page_trust(rules), web.ranks(before), len(web.contents))
    pairs = blocks.map(lambda block: shared.value[0].host_pairs(block[1])).collect()
    links = sum(blocks.map(lambda block: len(block[1].sources)).collect())
    return result(web, of_pages, web.joined_hosts(pairs), rules, links)


def place_of(folder: Path, name: str) -> Path:
    """Where a table is. Raises `Unusable`."""
    place = next((place for place in (folder / name, folder / f"{name}.parquet") if place.exists()), None)
    if place is None:
        by = f"`gregor export parquet {name} --output {folder}/{name}.parquet`"
        raise Unusable(f"{folder} has no {name}: write them by {by}")
    return place


def _table(spark: Any, folder: Path, name: str, columns: Iterable[str]) -> Any:
    from pyspark.errors import PySparkException

    place = place_of(folder, name)
    try:
        return spark.read.parquet(str(place.absolute())).select(*columns)
    except PySparkException as error:
        raise Unusable(f"{place} is no table of {name}: {str(error).splitlines()[0][:200]}") from None


def _nodes(pages: Any, key_of: KeyFunction) -> Iterator[Node]:
    """The pages that are to be found."""
    for row in sorted(pages.collect(), key=lambda row: str(row.key)):
        if row.state in STILL_THERE and not row.requisite and HIDDEN.isdisjoint(row.directives or ()):
            first = key_of(row.duplicate_of) if row.duplicate_of else None
            yield Node(signed(url_fingerprint(row.key)), first or row.key, row.host)


def _parts(rows: Iterable[Any], shared: tuple[Web, LinkRules, KeyFunction], width: int) -> Iterator[ArrayPart]:
    """Links between documents, by the block of what they lead to."""
    web, rules, key_of = shared
    pages = (_links(key, links, key_of) for key, links in groupby(rows, lambda row: row.source_key))
    while group := list(islice(pages, _PAGES_AT_ONCE)):
        sources, targets, weights = web.weighed(group, rules)
        blocks = targets // width
        for block in np.unique(blocks).tolist():
            inside = blocks == block
            yield block, (sources[inside], targets[inside], weights[inside])


def _links(key: str, rows: Iterable[Any], key_of: KeyFunction) -> Links:
    """Those of a page, each target and text once."""
    source, kept = signed(url_fingerprint(key)), dict[tuple[int, int, int], None]()
    for row in rows:
        target_key = key_of(row.target) if row.kind in RECOMMENDING and len(kept) < MOST_LINKS else None
        target = source if target_key is None else signed(url_fingerprint(target_key))
        if target != source:
            kept[target, words_of(row.text or "", row.nofollow), 0] = None
    return Links(source, np.array(list(kept), np.int64).reshape(-1, 3))


def _edges(parts: Iterable[tuple[Any, Any, Any]], web: Web, rules: LinkRules) -> Edges:
    """All links of a block, those of a document to the same one as one."""
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    joined = Edges(len(web.host_of), *columns).joined()
    return web.once_a_host(joined) if rules.once_a_host else joined
