"""Puts together what ranks a crawl by its links: here, or by Spark of tables that the exporter wrote."""

import asyncio
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from gregor.search.adapters import generations, host_ranks
from gregor.search.borders import Unusable
from gregor.worker.base.errors import BadInput
from gregor.worker.borders.errors import TellDamage
from gregor.worker.compose.engine import engine_of
from gregor.worker.compose.index_folder import BOOK
from gregor.worker.compose.search import catch_up, index_folder, indexer_of
from gregor.worker.config.settings import Config
from gregor.worker.web.urls import Urls

if TYPE_CHECKING:
    from gregor.search.adapters.book import PageBook
    from gregor.search.ranking import LinkRules, Ranked, RankingResult


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
        from gregor.worker.compose import ranks_on_servers

        return await ranks_on_servers.rank(config, on_damage, rules)
    engine_of(config).there()
    try:
        generation = generations.current(index_folder(config))
        if generation is None:
            raise BadInput(f"{index_folder(config)} holds no index: make one with `gregor index`")
        with _book_of(generation) as book:
            done = ranked(book.nodes(), book.links(), rules, book.ranks())
            changed = book.put_ranks(done.documents)
        host_ranks.put(generation / BOOK, steps(done))
        await _write_anew(config, on_damage)
    except Unusable as error:
        raise BadInput(str(error)) from None
    return done, changed


def steps(done: "RankingResult") -> list[tuple[str, int]]:
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
            from gregor.worker.compose import ranks_on_servers  # with it the clients of servers

            return done, await ranks_on_servers.put(config, on_damage, done)
        generation = generations.current(index_folder(config))
        if generation is None:
            return done, 0
        with _book_of(generation) as book:
            changed = book.put_ranks(by_content(done.documents, book.contents()))
        host_ranks.put(generation / BOOK, steps(done))
        await _write_anew(config, on_damage)
    except Unusable as error:
        raise BadInput(str(error)) from None
    return done, changed


def by_content(documents: "list[Ranked]", contents: dict[int, str]) -> "list[Ranked]":
    """Ranks of documents that are named by a key, for the contents of the book; what is not in it is left out."""
    from gregor.search.adapters.link_rows import number_of

    named = [(contents.get(number_of(document.content)), document) for document in documents]
    return [msgspec.structs.replace(document, content=content) for content, document in named if content is not None]
