"""How much a page or a host is recommended: PageRank, and harmonic centrality. Pure; numpy and scipy do the work.

PageRank is the chance to meet a node on an endless walk that follows a link with chance ``DAMPING`` (by its weight
among those of its page) and else begins anew, anywhere or at trusted nodes only; from a node without links the walk
begins anew, too. Ranks add up to 1. Harmonic centrality is the sum of 1/distance over all nodes from where links lead
to a node.
"""

from collections.abc import Callable
from typing import Final

import msgspec
import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from gregor.search.documents import BUCKETS

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

DAMPING: Final = 0.85
TOLERANCE: Final = 1e-8
"""Sum of the absolute changes of a round, below which the ranks are taken for exact."""
MOST_ROUNDS: Final = 300
MOST_SOURCES: Final = 4096
"""Nodes from which distances are measured; of more nodes a sample stands for all."""


class Edges(msgspec.Struct, frozen=True):
    """Links between nodes, which are numbered from 0 without gaps."""

    nodes: int
    sources: Integers
    targets: Integers
    weights: Floats

    def joined(self) -> "Edges":
        """Links of a node to the same node as one, with the sum of their weights; none to itself or without weight."""
        kept = (self.sources != self.targets) & (self.weights > 0)
        names, place = np.unique(self.sources[kept] * self.nodes + self.targets[kept], return_inverse=True)
        weights: Floats = np.bincount(place, self.weights[kept], minlength=len(names)).astype(np.float64)
        sources, targets = np.divmod(names, max(1, self.nodes))
        return Edges(self.nodes, sources, targets, weights)


class PageRank(msgspec.Struct, frozen=True):
    """Ranks by node, how many rounds they took, and by how much they changed in the last."""

    ranks: Floats
    rounds: int
    change: float


def pagerank(
    edges: Edges, trusted: Floats | None = None, before: Floats | None = None, damping: float = DAMPING
) -> PageRank:
    """The PageRank of every node.

    ``trusted``: where walks begin, by weight; anywhere for None. ``before``: ranks to begin with, which change the
    number of rounds alone. Ends when a round changes less than `TOLERANCE`, or after `MOST_ROUNDS`.
    """
    count = edges.nodes
    if not count:
        return PageRank(np.zeros(0), 0, 0.0)
    out = leaving(edges)
    block = block_of(edges, out, 0, count)
    return converge(lambda ranks: follow(block, ranks), bool((out == 0).any()), trusted, before, count, damping)


def leaving(edges: Edges) -> Floats:
    """The weight of all links of each node."""
    weights: Floats = np.bincount(edges.sources, edges.weights, minlength=edges.nodes).astype(np.float64)
    return weights


def block_of(edges: Edges, out: Floats, first: int, count: int) -> csr_matrix:
    """Links to so many nodes from ``first`` on as a matrix: a row for each, with the share of a node's rank that comes
    along its link. ``out``: see `leaving`, of all links."""
    shares = edges.weights / np.maximum(out[edges.sources], 1e-300)
    return csr_matrix((shares, (edges.targets - first, edges.sources)), shape=(count, edges.nodes))


def follow(block: csr_matrix, ranks: Floats) -> Floats:
    """What comes along links to the nodes of a block when all ranks are followed: the work of a round."""
    came: Floats = block @ ranks
    return came


def converge(
    followed: Callable[[Floats], Floats],
    dangling: bool,
    trusted: Floats | None,
    before: Floats | None,
    count: int,
    damping: float = DAMPING,
) -> PageRank:
    """The ranks of so many nodes, round by round; ``followed`` gives what comes along all links, ``dangling`` says
    whether any node has none. The rest: see `pagerank`."""
    start, ranks = _shares(trusted, count), _shares(before, count)
    change, rounds = np.inf, 0
    while rounds < MOST_ROUNDS and change >= TOLERANCE:
        new = damping * followed(ranks)
        new += (1.0 - new.sum()) * start if dangling else (1.0 - damping) * start
        change, ranks, rounds = float(np.abs(new - ranks).sum()), new, rounds + 1
    return PageRank(ranks, rounds, change)


def harmonic(edges: Edges) -> Floats:
    """The harmonic centrality of every node, whatever its links weigh.

    Of more nodes than `MOST_SOURCES` an even sample is asked, and stands for all. 64 walks in all directions go on at
    once, a bit each.
    """
    count, sums = edges.nodes, np.zeros(edges.nodes)
    if not len(edges.sources):
        return sums
    order = np.argsort(edges.targets, kind="stable")
    sources, (targets, firsts) = edges.sources[order], np.unique(edges.targets[order], return_index=True)
    asked = np.unique(np.linspace(0, count - 1, min(count, MOST_SOURCES)).astype(np.int64))
    for first in range(0, len(asked), 64):
        group = asked[first : first + 64]
        reached = np.zeros(count, np.uint64)
        reached[group] = np.uint64(1) << np.arange(len(group), dtype=np.uint64)
        front, distance = reached.copy(), 0
        while front.any():
            distance += 1
            new = np.bitwise_or.reduceat(front[sources], firsts) & ~reached[targets]
            sums[targets] += _bits(new) / distance
            reached[targets] |= new
            front[:] = 0
            front[targets] = new
    return sums * (count / len(asked))


def _bits(words: npt.NDArray[np.uint64]) -> Integers:
    """How many bits are set in each."""
    counted: Integers = np.unpackbits(words.view(np.uint8).reshape(-1, 8), axis=1).sum(axis=1, dtype=np.int64)
    return counted


def buckets(ranks: Floats) -> Integers:
    """Ranks on a scale from 0 to `BUCKETS` - 1 by their logarithm: from the average rank and below to the highest."""
    if not len(ranks):
        return np.zeros(0, dtype=np.int64)
    average, highest = 1.0 / len(ranks), float(ranks.max())
    if highest <= average * 1.0001:
        return np.zeros(len(ranks), dtype=np.int64)
    scale = np.log(np.maximum(ranks, average) / average) / np.log(highest / average)
    steps: Integers = np.minimum((scale * BUCKETS).astype(np.int64), BUCKETS - 1)
    return steps


def _shares(weights: Floats | None, count: int) -> Floats:
    """Weights that add up to 1; equal ones when there are none."""
    if weights is None or not len(weights) or not weights.sum() > 0:
        return np.full(count, 1.0 / count)
    shares: Floats = weights / weights.sum()
    return shares
