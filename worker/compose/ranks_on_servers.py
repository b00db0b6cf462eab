"""Puts together what ranks a crawl on servers, on one machine, by the links that its index keeps; and keeps ranks."""

import asyncio
import time
from collections import defaultdict
from typing import TYPE_CHECKING, Final

from gregor.search.borders import Unusable
from gregor.worker.base.errors import BadInput
from gregor.worker.borders.errors import TellDamage
from gregor.worker.borders.shelf import ContentRank
from gregor.worker.compose import search_cluster
from gregor.worker.compose.ranks import by_content, steps
from gregor.worker.compose.search_cluster import Indexing
from gregor.worker.config.settings import Config
from gregor.worker.links.known_ranks import ADVANCES, MOST, RankSteps
from gregor.worker.observe.indexing import IndexStats

if TYPE_CHECKING:
    from gregor.search.links import Links, Node
    from gregor.search.ranking import LinkRules, Ranked, RankingResult

Ranks = dict[str, ContentRank]
"""Of documents, by their contents."""
_SLICE: Final = 1000
"""Ranks that are put in, and documents that are asked for, at once."""


async def rank(config: Config, on_damage: TellDamage, rules: "LinkRules") -> "tuple[RankingResult, int]":
    """Rank what is indexed by its links, and how many documents have to be written anew for that, which is done.

    Raises `BadInput`.
    """
    from gregor.search.ranking import ranked

    if not config.opensearch:
        raise BadInput("ranks are of an index, in OpenSearch: setting opensearch; or --spark MASTER --tables DIR")
    try:
        async with search_cluster.indexing_of(config, on_damage, IndexStats()) as parts:
            nodes, links = await _web(parts)
            before = await _ranks(parts)
            ranks = {content: rank.rank for content, rank in before.items()}
            done = await asyncio.to_thread(ranked, nodes, links, rules, ranks)
            changed = await _keep(parts, done, done.documents, before)
    except Unusable as error:
        raise BadInput(str(error)) from None
    if changed:
        await search_cluster.taken_in(config, on_damage)
    return done, changed


async def put(config: Config, on_damage: TellDamage, done: "RankingResult") -> int:
    """Keep ranks of documents that are named by a key; how many of the index are written anew for that."""
    if not config.opensearch:
        return 0
    try:
        async with search_cluster.indexing_of(config, on_damage, IndexStats()) as parts:
            documents = by_content(done.documents, await _contents(parts))
            changed = await _keep(parts, done, documents, await _ranks(parts))
    except Unusable as error:
        raise BadInput(str(error)) from None
    if changed:
        await search_cluster.taken_in(config, on_damage)
    return changed


async def _ranks(parts: Indexing) -> Ranks:
    """The ranks that are kept."""
    return {rank.content: rank async for some in parts.shelf.ranks() for rank in some}


async def _contents(parts: Indexing) -> dict[int, str]:
    """The content of every page that is to be found, by the number of its URL."""
    from gregor.search.adapters.link_rows import number_of

    return {number_of(key): content async for some in parts.shelf.contents() for key, content in some}


async def _web(parts: Indexing) -> "tuple[list[Node], list[Links]]":
    """Every URL that is to be found, and its links."""
    import numpy as np

    from gregor.search.adapters.link_rows import number_of
    from gregor.search.links import Links, Node

    contents = await _contents(parts)
    nodes, links = list[Node](), list[Links]()
    async for some in parts.shelf.sources():
        for source in some:
            number = number_of(source.key)
            if number in contents:
                nodes.append(Node(number, contents[number], source.host))
                links.append(Links(number, np.frombuffer(source.links, dtype="<i8").reshape(-1, 2)))
    return nodes, links


async def _keep(parts: Indexing, done: "RankingResult", documents: "list[Ranked]", before: Ranks) -> int:
    """Keep the ranks with what is remembered of the crawl, where others were ``before``; how many documents are to be
    written anew for that."""
    changed = await _put_ranks(parts, documents, before)
    pages = await _pages(parts, documents)
    hosts = _highest([(host, step) for host, step in steps(done) if step >= ADVANCES])
    await parts.shelf.know(pages, hosts, time.time_ns() // 1_000_000)
    return changed


async def _pages(parts: Indexing, documents: "list[Ranked]") -> RankSteps:
    """The URLs of the highest documents, with their steps."""
    high = _highest([(each.content, each.bucket) for each in documents if each.bucket >= ADVANCES])
    keys: dict[str, list[str]] = defaultdict(list)
    wanted = dict(high)
    async for some in parts.shelf.contents():
        for key, content in some:
            if content in wanted:
                keys[content].append(key)
    return _highest([(key, step) for content, step in high for key in keys[content]])


def _highest(ranked: RankSteps) -> RankSteps:
    return sorted(ranked, key=lambda pair: (-pair[1], pair[0]))[:MOST]


async def _put_ranks(parts: "Indexing", ranked: "list[Ranked]", before: Ranks) -> int:
    """Replace the ranks of contents, and have those documents written anew whose step changed; how many these are.

    Cut short at any moment, the next one asks for those that were not.
    """
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
