"""Puts together what ranks a crawl by its links: here, or by Spark of tables that the exporter wrote."""

import asyncio
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from gregor.search.adapters import generations, host_ranks
from gregor.search.borders import Unusable
from gregor.worker.base.errors import BadInput
from gregor.worker.borders.errors import TellDamage
from gregor.worker.borders.shelf import ContentRank
from gregor.worker.compose.engine import engine_of
from gregor.worker.compose.search import BOOK, catch_up, index_folder, indexer_of
from gregor.worker.config.settings import Config
from gregor.worker.observe.indexing import IndexStats
from gregor.worker.web.urls import Urls

if TYPE_CHECKING:
    from gregor.search.adapters.book import PageBook
    from gregor.search.ranking import LinkRules, Ranked, RankingResult
    from gregor.worker.compose.search_cluster import Indexing

_SLICE: Final = 1000
"""Ranks that are put in, and documents that are asked for, at once."""


class KeyOf:
    """The keys of URLs, wherever it is sent."""

    def __init__(self, urls: Urls) -> None:
        self._urls = urls

    def __call__(self, url: str) -> str | None:
        """That of a URL as a link has it; None for what is none of a crawl."""
        parsed = self._urls.parse(url)
        return None if parsed is None else parsed.key


async def rank(config: Config, on_damage: TellDamage, rules: "LinkRules") -> "tuple[RankingResult, int]":
    """Rank what is indexed by its links, and how many documents have to be written anew for that.

    They are written here, unless somebody follows the crawl, who does it then. Raises `BadInput`.
    """
    from gregor.search.ranking import ranked

    if not config.on_one_machine:
        raise BadInput("a crawl on servers is ranked by Spark, of its exported tables: --spark MASTER --tables DIR")
    engine_of(config).there()
    try:
        generation = generations.current(index_folder(config))
        if generation is None:
            raise BadInput(f"{index_folder(config)} holds no index: make one with `gregor index`")
        with _book_of(generation) as book:
            done = ranked(book.nodes(), book.links(), rules, book.ranks())
            changed = book.put_ranks(done.documents)
        host_ranks.put(generation / BOOK, _steps(done))
        await _write_anew(config, on_damage)
    except Unusable as error:
        raise BadInput(str(error)) from None
    return done, changed


def _steps(done: "RankingResult") -> list[tuple[str, int]]:
    """Hosts by steps of their ranks."""
    import numpy as np

    from gregor.search.ranks import buckets

    steps = buckets(np.array([host.rank for host in done.hosts])).tolist()
    return [(host.host, step) for host, step in zip(done.hosts, steps, strict=True)]


@contextmanager
def _book_of(generation: Path) -> "Iterator[PageBook]":
    from gregor.search.adapters.book import PageBook
    from gregor.search.adapters.damage import usable

    with usable(generation / BOOK), closing(PageBook(generation / BOOK, lambda url: None)) as book:
        yield book


async def _write_anew(config: Config, on_damage: TellDamage) -> None:
    """Write what the book has unwritten, unless another process does that."""
    with suppress(generations.InUse):
        async with indexer_of(config, on_damage, rebuild=False) as (indexer, _):
            await catch_up(indexer, asyncio.Event())


async def rank_by_spark(
    config: Config, on_damage: TellDamage, rules: "LinkRules", master: str, tables: Path
) -> "tuple[RankingResult, int]":
    """Rank the pages of exported tables; how many documents of the crawl's index, if there is one, have to be written
    anew for that, which is done as after ranking here. Raises `BadInput`."""
    from gregor.search.adapters import spark_ranks

    reader, urls = await engine_of(config).read()
    await reader.close()
    try:
        for table in ("pages", "links"):
            spark_ranks.place_of(tables, table)  # before Spark begins, which takes a while
        with spark_ranks.session(master) as session:
            done = spark_ranks.ranked(session, tables, KeyOf(urls), rules, {})
        if not config.on_one_machine:
            return done, await _put_on_servers(config, on_damage, done.documents)
        generation = generations.current(index_folder(config))
    except Unusable as error:
        raise BadInput(str(error)) from None
    if generation is None:
        return done, 0
    try:
        with _book_of(generation) as book:
            changed = book.put_ranks(_by_content(done.documents, book.contents()))
        host_ranks.put(generation / BOOK, _steps(done))
        await _write_anew(config, on_damage)
    except Unusable as error:
        raise BadInput(str(error)) from None
    return done, changed


async def _put_on_servers(config: Config, on_damage: TellDamage, documents: "list[Ranked]") -> int:
    """Keep the ranks with what is remembered of a crawl on servers; how many documents are written anew for that."""
    from gregor.search.adapters.link_rows import number_of
    from gregor.worker.compose import search_cluster

    if not config.opensearch:
        return 0
    async with search_cluster.indexing_of(config, on_damage, IndexStats()) as parts:
        contents = {number_of(key): content async for some in parts.shelf.contents() for key, content in some}
        changed = await _put_ranks(parts, _by_content(documents, contents))
    if changed:
        await search_cluster.taken_in(config, on_damage)
    return changed


async def _put_ranks(parts: "Indexing", ranked: "list[Ranked]") -> int:
    """Replace the ranks of contents, and have those documents written anew whose step changed; how many these are.

    Cut short at any moment, the next one asks for those that were not.
    """
    before = {rank.content: rank async for some in parts.shelf.ranks() for rank in some}
    ranks = [ContentRank(each.content, each.rank, each.bucket) for each in ranked]
    ranks += [ContentRank(content, 0.0, 0) for content in before.keys() - {rank.content for rank in ranks}]
    changed = 0
    for at in range(0, len(ranks), _SLICE):
        part = ranks[at : at + _SLICE]
        kept = {rank.content: before.get(rank.content, ContentRank(rank.content, 0.0, 0)) for rank in part}
        await parts.shelf.put_ranks([rank for rank in part if kept[rank.content].rank != rank.rank])
        others = [rank for rank in part if kept[rank.content].asked != rank.bucket]
        await parts.tell([], [rank.content for rank in others])
        await parts.shelf.asked([*others, *(rank for rank in part if not rank.rank)])
        changed += len(others)
    return changed


def _by_content(documents: "list[Ranked]", contents: dict[int, str]) -> "list[Ranked]":
    """Ranks of documents that are named by a key, for the contents of the book; what is not in it is left out."""
    from gregor.search.adapters.link_rows import number_of

    named = [(contents.get(number_of(document.content)), document) for document in documents]
    return [msgspec.structs.replace(document, content=content) for content, document in named if content is not None]
