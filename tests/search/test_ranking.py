"""From remembered links to ranks."""

import numpy as np
import pytest

from gregor.search.links import Links, Node
from gregor.search.ranking import LinkRules, RankingResult, ranked


def web(
    links: dict[tuple[int, int], int], rules: LinkRules | None = None, before: dict[str, float] | None = None
) -> RankingResult:
    """Ranks of pages 1 to 5: 1 and 2 of host a, 3 of b, 4 of c, 5 of b with the content of 3."""
    nodes = [
        Node(1, "one", "a"),
        Node(2, "two", "a"),
        Node(3, "three", "b"),
        Node(4, "four", "c"),
        Node(5, "three", "b"),
    ]
    rows = {source: [(to, words, 0) for (by, to), words in links.items() if by == source] for source, _ in links}
    return ranked(
        nodes, (Links(by, np.array(to, np.int64)) for by, to in rows.items()), rules or LinkRules(), before or {}
    )


def ranks(found: RankingResult) -> dict[str, float]:
    return {one.content: one.rank for one in found.documents}


def test_links_to_any_url_of_a_content_count_for_it() -> None:
    found = web({(1, 3): 8, (2, 5): 8, (3, 5): 8, (4, 99): 8, (99, 4): 8})
    assert found.links == 2 and max(ranks(found), key=ranks(found).__getitem__) == "three"
    assert sum(ranks(found).values()) == pytest.approx(1.0)
    assert [(one.host, one.documents) for one in found.hosts] == [("b", 1), ("a", 2), ("c", 1)]
    assert found.hosts[0].harmonic == 1.0 and found.change < 1e-8


def test_what_links_count_is_configured() -> None:
    plain = ranks(web({(1, 2): 8, (1, 3): 8}))
    assert plain["two"] == pytest.approx(plain["three"])
    within = ranks(web({(1, 2): 8, (1, 3): 8}, LinkRules(same_host=0.1)))
    assert within["two"] < within["three"]
    unfollowed = {(1, 3): 9, (1, 4): 8}
    assert ranks(web(unfollowed))["three"] == pytest.approx(ranks(web(unfollowed))["one"])
    followed = ranks(web(unfollowed, LinkRules(nofollow=1.0)))
    assert followed["three"] == pytest.approx(followed["four"])
    many = {(1, 3): 8, (2, 3): 8, (1, 4): 8, (3, 4): 8}
    once = ranks(web(many, LinkRules(once_a_host=True)))
    assert once["three"] < ranks(web(many))["three"]


def test_trust_spreads_along_links() -> None:
    found = web({(4, 3): 8, (1, 2): 8}, LinkRules(trusted=frozenset({"c"})))
    assert ranks(found)["three"] > 0.1 > ranks(found)["two"] == pytest.approx(0.0)
    assert [one.host for one in found.hosts[:2]] == ["c", "b"]


def test_ranks_of_before_save_rounds() -> None:
    links = {(1, 3): 8, (3, 1): 8, (2, 1): 8, (4, 2): 8}
    first = web(links)
    assert web(links, before=ranks(first)).rounds < first.rounds


def test_an_empty_index_has_no_ranks() -> None:
    found = ranked([], [], LinkRules(), {})
    assert (found.documents, found.hosts, found.links) == ([], [], 0)
