"""Clusters of pages that are the same, or nearly, each with the page that speaks for it.

Who belongs together is looked up anew, by contents and sketches, so that it does not matter which page came first.
In memory are some hundred bytes for each page that has a like; what is told of them lies in a temporary file.
"""

import sqlite3
from collections.abc import AsyncIterator, Iterator
from typing import Final

import msgspec

from gregor.schemas.messages import Page, url_fingerprint
from gregor.worker.base.amounts import count
from gregor.worker.base.streams import in_order
from gregor.worker.borders.reader import Reader, Similar
from gregor.worker.inspect.selection import pages
from gregor.worker.read.fingerprints import sketch_of, words_of
from gregor.worker.read.sketches import share
from gregor.worker.web.urls import Urls

_LIKEST: Final = 8
"""Pages that one is compared with: those have likes of their own, so that all of a cluster come together."""
_NO_LINKS: Final = frozenset({"canonical"})
_HALF: Final = 1 << 63
_TABLE: Final = "CREATE TABLE members (cluster INT, key TEXT, url TEXT, same INT, canonical TEXT, sketch BLOB)"
_CLUSTERS: Final = "SELECT cluster FROM members GROUP BY cluster HAVING count(*) > 1 ORDER BY count(*) DESC, min(url)"
_MEMBERS: Final = "SELECT key, url, same, canonical, sketch FROM members WHERE cluster = ? ORDER BY url"


class DuplicateMember(msgspec.Struct, frozen=True):
    """A page of a cluster. ``share``: of its text with that of the best one, 1.0 for the same content."""

    url: str
    share: float
    links: int


class DuplicateCluster(msgspec.Struct, frozen=True):
    """Pages that are alike, by URL. ``best`` speaks for them; ``because``: see `best_of`."""

    best: str
    because: str
    pages: list[DuplicateMember]


class Candidate(msgspec.Struct, frozen=True):
    """What decides whether a page speaks for its cluster. ``named``: pages of it that name it as canonical."""

    key: str
    url: str
    named: int
    links: int


def best_of(candidates: list[Candidate]) -> tuple[Candidate, str]:
    """The page that speaks for a cluster of two and more, and why: the most often named one, of these the shortest, of
    these that to which most pages link."""
    first, second = sorted(candidates, key=lambda each: (-each.named, len(each.url), -each.links, each.url))[:2]
    if first.named > second.named:
        return first, "canonical"
    if len(first.url) < len(second.url):
        return first, "shortest"
    return first, "most linked" if first.links > second.links else "first by name"


class _Groups:
    """Which of many numbers belong together (union by size, paths halved)."""

    def __init__(self) -> None:
        self._parents: dict[int, int] = {}
        self._sizes: dict[int, int] = {}

    def __contains__(self, number: int) -> bool:
        return number in self._parents

    def of(self, number: int) -> int:
        """The group of a number."""
        parents = self._parents
        while parents.setdefault(number, number) != number:
            parents[number] = parents[parents[number]]
            number = parents[number]
        return number

    def join(self, a: int, b: int) -> None:
        """The groups of two numbers are one."""
        a, b = self.of(a), self.of(b)
        if a != b:
            if self._sizes.get(a, 1) < self._sizes.get(b, 1):
                a, b = b, a
            self._parents[b] = a
            self._sizes[a] = self._sizes.get(a, 1) + self._sizes.pop(b, 1)


async def clusters(
    reader: Reader, urls: Urls, least: float, host: str | None = None
) -> AsyncIterator[DuplicateCluster]:
    """Those with pages that share at least so much, the largest first; of a host those that have a page of it."""
    groups = await _joined(reader, least)
    kept = sqlite3.connect("", isolation_level=None)
    try:
        kept.execute(_TABLE)
        links = await _keep_members(reader, urls, groups, kept)
        kept.execute("CREATE INDEX by_cluster ON members (cluster)")
        for (name,) in kept.execute(_CLUSTERS):
            cluster, hosts = _cluster(kept, name, links)
            if host is None or host in hosts:
                yield cluster
    finally:
        kept.close()


async def _joined(reader: Reader, least: float) -> _Groups:
    groups = _Groups()

    async def looked_up(page: Page) -> tuple[Page, list[Similar]]:
        sketch = _sketch(page)
        return page, await reader.similar(sketch, least, _LIKEST) if sketch else []

    async for page, alike in in_order(_documents(reader), looked_up):
        name = url_fingerprint(page.key)
        for other in filter(None, (page.duplicate_of, *(similar.key for similar in alike))):
            if other != page.key:
                groups.join(name, url_fingerprint(other))
    return groups


async def _documents(reader: Reader) -> AsyncIterator[Page]:
    async for page, row in pages(reader):
        if not (row.requisite if row is not None else page.requisite):
            yield page


async def _keep_members(reader: Reader, urls: Urls, groups: _Groups, kept: sqlite3.Connection) -> dict[int, int]:
    """Keep what is told of the pages of all groups; how many pages link to each."""
    links: dict[int, int] = {}
    async for page in _documents(reader):
        name = url_fingerprint(page.key)
        if name in groups:
            named = urls.parse(page.canonical) if page.canonical else None
            record = (page.key, page.href, bool(page.duplicate_of), named.key if named else "", _sketch(page))
            kept.execute("INSERT INTO members VALUES (?, ?, ?, ?, ?, ?)", (groups.of(name) - _HALF, *record))
        targets = {link.url for link in page.links if link.kind not in _NO_LINKS}
        for target in {url_fingerprint(url.key) for url in map(urls.parse, targets) if url is not None} - {name}:
            if target in groups:
                links[target] = links.get(target, 0) + 1
    return links


def _cluster(kept: sqlite3.Connection, name: int, links: dict[int, int]) -> tuple[DuplicateCluster, set[str]]:
    """A cluster, and its hosts."""
    members = kept.execute(_MEMBERS, (name,)).fetchall()
    named = [canonical for _, _, _, canonical, _ in members]
    linked = {key: links.get(url_fingerprint(key), 0) for key, *_ in members}
    best, because = best_of([Candidate(key, url, named.count(key), linked[key]) for key, url, *_ in members])
    (sketch,) = (sketch for key, _, _, _, sketch in members if key == best.key)
    listed = [
        DuplicateMember(url, 1.0 if key == best.key or sketch == other else round(share(sketch, other), 2), linked[key])
        for key, url, _, _, other in members
    ]
    return DuplicateCluster(best.url, because, listed), {key.split("/", 3)[2] for key, *_ in members}


def _sketch(page: Page) -> bytes:
    return page.sketch or sketch_of(words_of(page.title, page.text))


def lines(cluster: DuplicateCluster) -> Iterator[str]:
    """A cluster for people."""
    yield f"{cluster.best}  ({cluster.because}; {count(len(cluster.pages), 'page')})"
    for member in cluster.pages:
        if member.url != cluster.best:
            yield f"  {'same' if member.share == 1.0 else f'{member.share:.0%}':>5}  {member.url}"
