"""From the links that an index remembers to ranks of its documents and their hosts. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from typing import Final

import msgspec
import numpy as np

from gregor.search.links import NOFOLLOW, Links, Node
from gregor.search.ranks import Edges, Floats, Integers, PageRank, buckets, harmonic, pagerank

_AT_ONCE: Final = 4096
"""Pages whose links are looked at together."""


class LinkRules(msgspec.Struct, frozen=True):
    """What links count."""

    same_host: float = 1.0
    """One within a host, against one from another."""
    nofollow: float = 0.0
    """One that says nofollow, against one that does not."""
    once_a_host: bool = False
    """Whether all links from a host to a document count as one."""
    trusted: frozenset[str] = frozenset()
    """Hosts where walks begin; none: anywhere."""


class Ranked(msgspec.Struct, frozen=True):
    """A document's rank, and the bucket that the index has it in."""

    content: str
    rank: float
    bucket: int


class RankedHost(msgspec.Struct, frozen=True):
    """A host's ranks: PageRank among hosts, harmonic centrality, and how many of its documents are found."""

    host: str
    rank: float
    harmonic: float
    documents: int


class RankingResult(msgspec.Struct, frozen=True):
    """What was computed, of how many links between documents, in how many rounds, with what change in the last."""

    documents: list[Ranked]
    hosts: list[RankedHost]
    links: int
    rounds: int
    change: float


def ranked(
    nodes: Iterable[Node], links: Iterable[Links], rules: LinkRules, before: Mapping[str, float]
) -> RankingResult:
    """Rank documents and hosts; ``before``: ranks by content to begin with. Hosts come with the highest first.

    Links to what is not found count for nothing.
    """
    web = Web(nodes)
    edges = web.edges(links, rules)
    of_pages = pagerank(edges, web.page_trust(rules), web.ranks(before))
    return result(web, of_pages, web.between_hosts(edges), rules, len(edges.sources))


def result(web: "Web", of_pages: PageRank, among_hosts: Edges, rules: LinkRules, links: int) -> RankingResult:
    """What was computed, with the ranks of the hosts, which are few. ``links``: how many between documents."""
    of_hosts = pagerank(among_hosts, web.host_trust(rules))
    central, counts = harmonic(among_hosts), np.bincount(web.host_of, minlength=len(web.hosts))
    order: list[int] = np.lexsort((np.array(web.hosts), -of_hosts.ranks)).tolist() if web.hosts else []
    return RankingResult(
        [
            Ranked(*row)
            for row in zip(web.contents, of_pages.ranks.tolist(), buckets(of_pages.ranks).tolist(), strict=True)
        ],
        [RankedHost(web.hosts[at], float(of_hosts.ranks[at]), float(central[at]), int(counts[at])) for at in order],
        links,
        of_pages.rounds,
        of_pages.change,
    )


class Web:
    """Contents and hosts, numbered from 0 without gaps."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        contents: dict[str, int] = {}
        hosts: dict[str, int] = {}
        numbers: list[int] = []
        of_number: list[int] = []
        host_of: list[int] = []
        for node in nodes:
            content = contents.setdefault(node.content, len(contents))
            host = hosts.setdefault(node.host, len(hosts))
            if content == len(host_of):
                host_of.append(host)
            numbers.append(node.number)
            of_number.append(content)
        order = np.argsort(np.array(numbers, np.int64))
        self._numbers: Integers = np.array(numbers, np.int64)[order]
        self._contents: Integers = np.array(of_number, np.int64)[order]
        self.contents, self.hosts = list(contents), list(hosts)
        self.host_of: Integers = np.array(host_of, np.int64)

    def bare(self) -> "Web":
        """It without names: what is needed to number links."""
        bare = copy(self)
        bare.contents, bare.hosts = [], []
        return bare

    def host_trust(self, rules: LinkRules) -> Floats | None:
        """Where walks among hosts begin; None: anywhere."""
        return np.array([float(host in rules.trusted) for host in self.hosts]) if rules.trusted else None

    def page_trust(self, rules: LinkRules) -> Floats | None:
        """Where walks among contents begin; None: anywhere."""
        trust = self.host_trust(rules)
        return trust if trust is None or not self.contents else trust[self.host_of]

    def ranks(self, before: Mapping[str, float]) -> Floats | None:
        """Ranks by content to begin with; None where none is known."""
        begin = np.array([before.get(content, 0.0) for content in self.contents])
        return begin if begin.any() else None

    def content_of(self, numbers: Integers) -> Integers:
        """The contents of pages; -1 for those that are not found."""
        if not len(self._numbers):
            return np.full(len(numbers), -1)
        at = np.minimum(np.searchsorted(self._numbers, numbers), len(self._numbers) - 1)
        return np.where(self._numbers[at] == numbers, self._contents[at], -1)

    def edges(self, links: Iterable[Links], rules: LinkRules) -> Edges:
        """The links between contents, by their weights."""
        parts = [self.weighed(group, rules) for group in _grouped(links)]
        nothing = np.zeros(0, np.int64)
        every = Edges(
            len(self.contents),
            np.concatenate([nothing, *(part[0] for part in parts)]),
            np.concatenate([nothing, *(part[1] for part in parts)]),
            np.concatenate([np.zeros(0), *(part[2] for part in parts)]),
        )
        joined = every.joined()
        return self.once_a_host(joined) if rules.once_a_host else joined

    def weighed(self, group: list[Links], rules: LinkRules) -> tuple[Integers, Integers, Floats]:
        """The links of some pages that lead from a content to another, each with what it counts."""
        rows = np.concatenate([page.rows for page in group])
        numbers = np.repeat(np.array([page.source for page in group], np.int64), [len(page.rows) for page in group])
        sources, targets = self.content_of(numbers), self.content_of(rows[:, 0])
        inside = (sources >= 0) & (targets >= 0)
        sources, targets = sources[inside], targets[inside]
        weights = np.where(rows[inside, 1] & NOFOLLOW, rules.nofollow, 1.0)
        return (
            sources,
            targets,
            weights * np.where(self.host_of[sources] == self.host_of[targets], rules.same_host, 1.0),
        )

    def once_a_host(self, edges: Edges) -> Edges:
        """All links of a host to a content weigh together what the heaviest of them does."""
        names = self.host_of[edges.sources] * max(1, edges.nodes) + edges.targets
        _, place, counts = np.unique(names, return_inverse=True, return_counts=True)
        heaviest = np.zeros(len(counts))
        np.maximum.at(heaviest, place, edges.weights)
        return Edges(edges.nodes, edges.sources, edges.targets, (heaviest / counts)[place])

    def between_hosts(self, edges: Edges) -> Edges:
        """Links between hosts, each pair once."""
        return self.joined_hosts([self.host_pairs(edges)])

    def host_pairs(self, edges: Edges) -> Integers:
        """Rows of two hosts, from one of which links lead to the other, each once."""
        pairs: Integers = np.stack((self.host_of[edges.sources], self.host_of[edges.targets]), 1)
        return np.unique(pairs, axis=0) if len(pairs) else pairs

    def joined_hosts(self, pairs: Sequence[Integers]) -> Edges:
        """Links between hosts of several such tables, each pair once."""
        every = np.concatenate([np.zeros((0, 2), np.int64), *pairs])
        joined = Edges(len(self.hosts), every[:, 0], every[:, 1], np.ones(len(every))).joined()
        return Edges(joined.nodes, joined.sources, joined.targets, np.ones(len(joined.sources)))


def _grouped(links: Iterable[Links]) -> Iterable[list[Links]]:
    group: list[Links] = []
    for page in links:
        group.append(page)
        if len(group) == _AT_ONCE:
            yield group
            group = []
    if group:
        yield group
