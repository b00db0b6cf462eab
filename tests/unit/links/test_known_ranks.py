"""What ranks move: the order of visits, within bounds."""

import pytest

from gregor.schemas.messages import Ticket, url_fingerprint
from gregor.worker.extract.judges import Judges
from gregor.worker.extract.model import UNWEIGHED, Weight
from gregor.worker.links.found_link import FoundLink
from gregor.worker.links.known_ranks import ADVANCES, HIGHEST, KnownRanks
from gregor.worker.read.sitemaps.entries import DAY
from gregor.worker.settle.change_rate import ChangeRate
from gregor.worker.settle.revisits import Revisits, SitemapHint
from gregor.worker.web.urls import Urls

RANKED = KnownRanks({url_fingerprint("http://b.test/high"): 12}, {"a.test": HIGHEST, "c.test": ADVANCES - 1})


@pytest.mark.parametrize(
    ("url", "kind", "depth", "queue"),
    [
        ("http://a.test/x", "redirect", 0, 0),  # it is in the first one already
        ("http://a.test/x", "a", 1, 1),
        ("http://a.test/x", "a", 2, 1),
        ("http://a.test/x", "a", 9, 2),
        ("http://a.test/x", "url", 9, 2),
        ("http://b.test/high", "a", 9, 2),
        ("http://b.test/other", "a", 9, 0),
        ("http://c.test/", "a", 9, 0),
    ],
)
def test_what_ranks_high_comes_one_queue_sooner_at_most(url: str, kind: str, depth: int, queue: int) -> None:
    assert RANKED.queue(url, url.split("/")[2], kind, depth)[0] == queue


def test_a_judge_says_who_gave_the_queue_and_lets_rules_and_scorers_go_before() -> None:
    class Last:
        def score(self, link: FoundLink) -> float | None:
            return 0.0

    source, url = Urls().parse("http://s.test/"), Urls().parse("http://a.test/x")
    assert source is not None and url is not None
    ticket = Ticket("http://s.test/", "http://s.test/", "s.test")
    for judges, rules, expected in (
        (Judges(ranks=RANKED), {}, Weight(2, by="rank of its host: step 15 of 15")),
        (Judges(ranks=RANKED, scorers={"last": Last()}), {}, Weight(4, by="scorer last: 0.00")),
        (Judges(ranks=RANKED), {"/x": Weight(4, by="rule")}, Weight(4, by="rule")),
        (Judges(ranks=RANKED), {"/x": Weight(fate="rule")}, Weight(fate="rule")),
    ):
        judge = judges.of_page(ticket, source, rules)
        assert judge is not None and judge.weight(url, "a", reference="/x", depth=9) == expected
    assert Judges(ranks=KnownRanks()).of_page(ticket, source) is None and Weight() == UNWEIGHED


def test_a_page_of_high_rank_is_visited_again_sooner_within_the_bounds() -> None:
    policy = Revisits(first=100.0, shortest=80.0, longest=1000.0)
    worth = [RANKED.importance(f"http://{host}/", host) for host in ("a.test", "c.test", "z.test")]
    assert worth == sorted(worth, reverse=True) and max(worth) <= 2.0 and worth[-1] == 1.0
    assert KnownRanks({url_fingerprint("http://b.test/"): HIGHEST}).importance("http://b.test/", "b.test") == 2.0
    assert policy.interval(None, SitemapHint(), 0.0, importance=2.0) == 80.0  # never below the shortest
    known = ChangeRate.expected(DAY)
    assert policy.interval(known, SitemapHint(), 0.0, importance=2.0) <= policy.interval(known, SitemapHint(), 0.0)
