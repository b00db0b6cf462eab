"""PageRank and harmonic centrality: against an independent library, and by their own laws."""

import igraph
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gregor.search.documents import BUCKETS
from gregor.search.ranks import TOLERANCE, Edges, Integers, buckets, harmonic, pagerank


def web(nodes: int, links: int, seed: int = 1) -> Edges:
    """Links by a power law, some nodes without any."""
    chance = np.random.default_rng(seed)
    targets: Integers = np.minimum((nodes * chance.random(links) ** 3).astype(np.int64), nodes - 1)
    sources = chance.integers(0, max(1, nodes * 4 // 5), links)
    return Edges(nodes, sources, targets, chance.random(links)).joined()


def graph(edges: Edges) -> igraph.Graph:
    made = igraph.Graph(n=edges.nodes, edges=np.stack((edges.sources, edges.targets), 1), directed=True)
    made.es["weight"] = edges.weights
    return made


def test_pagerank_agrees_with_another_library_on_100_000_nodes() -> None:
    edges = web(100_000, 800_000)
    found = pagerank(edges)
    theirs = np.array(graph(edges).pagerank(damping=0.85, weights="weight", implementation="prpack"))
    assert found.change < TOLERANCE and found.rounds < 100
    assert np.abs(found.ranks - theirs).sum() < 1e-6
    again = pagerank(edges, before=found.ranks)
    assert again.rounds <= 2 and np.abs(again.ranks - found.ranks).sum() < 1e-7


def test_personalised_pagerank_agrees_too() -> None:
    edges, trusted = web(2000, 9000), np.zeros(2000)
    trusted[[3, 77]] = 1.0
    theirs = graph(edges).personalized_pagerank(damping=0.85, reset=trusted, weights="weight")
    assert np.abs(pagerank(edges, trusted).ranks - np.array(theirs)).sum() < 1e-2  # they spread dangling mass evenly
    whole = Edges(3, np.array([0, 1, 2]), np.array([1, 2, 0]), np.ones(3))  # nothing dangles: equal
    theirs = graph(whole).personalized_pagerank(damping=0.85, reset=[1.0, 0, 0])
    assert np.allclose(pagerank(whole, np.array([1.0, 0, 0])).ranks, theirs, atol=1e-7)


def test_harmonic_centrality_agrees_too() -> None:
    edges = web(1500, 6000)
    theirs = np.array(graph(edges).harmonic_centrality(mode="in")) * (edges.nodes - 1)
    assert np.allclose(harmonic(edges), theirs)


def test_a_sample_stands_for_all() -> None:
    edges = web(5000, 20_000)
    theirs = np.array(graph(edges).harmonic_centrality(mode="in")) * (edges.nodes - 1)
    assert np.corrcoef(harmonic(edges), theirs)[0, 1] > 0.98


@given(st.integers(1, 30), st.lists(st.tuples(st.integers(0, 29), st.integers(0, 29), st.floats(0, 5)), max_size=60))
def test_ranks_add_up_to_one(nodes: int, links: list[tuple[int, int, float]]) -> None:
    kept = [link for link in links if max(link[:2]) < nodes]
    columns = [np.array([link[at] for link in kept], dtype) for at, dtype in ((0, np.int64), (1, np.int64), (2, float))]
    edges = Edges(nodes, *columns).joined()
    found = pagerank(edges)
    assert found.ranks.sum() == pytest.approx(1.0) and (found.ranks > 0).all()
    assert not (edges.sources == edges.targets).any()
    assert ((buckets(found.ranks) >= 0) & (buckets(found.ranks) < BUCKETS)).all()


def test_links_are_joined_and_weighed() -> None:
    edges = Edges(3, np.array([0, 0, 0, 1, 2]), np.array([1, 1, 2, 1, 0]), np.array([1.0, 2.0, 0.0, 9.0, 1.0])).joined()
    assert (edges.sources.tolist(), edges.targets.tolist(), edges.weights.tolist()) == ([0, 2], [1, 0], [3.0, 1.0])


def test_nothing_has_no_ranks() -> None:
    empty = Edges(0, np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)).joined()
    assert len(pagerank(empty).ranks) == len(harmonic(empty)) == len(buckets(np.zeros(0))) == 0
    assert buckets(np.full(5, 0.2)).tolist() == [0] * 5
    assert buckets(np.array([0.9, 0.05, 0.05])).tolist() == [BUCKETS - 1, 0, 0]
