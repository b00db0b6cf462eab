"""The order of a topical crawl: what a link inherits, what is learnt of links, what is kept of that, and its bounds."""

import random
from collections.abc import Sequence

import msgspec
import pytest

from gregor.worker.base.pieces import at_once
from gregor.worker.links.found_link import FoundLink
from gregor.worker.links.ordering import topic as topic_order
from gregor.worker.links.ordering.policy import SEED, BroughtPage
from gregor.worker.links.ordering.topic import HOSTS, LINKS, Learnt, TopicPolicy
from gregor.worker.topic.relevance import KeyWords


def policy() -> TopicPolicy:
    return TopicPolicy(KeyWords(["ferry"]), 0.5, 0.5)


def page(name: str, relevance: float, worth: float = SEED, text: str = "", host: str = "h") -> BroughtPage:
    url = f"http://{host}/{name}"
    return BroughtPage(url, url, host, 1, "", worth, 1, "", text, relevance)


def link(name: str, text: str = "", host: str = "h") -> FoundLink:
    url = f"http://{host}/{name}"
    return FoundLink(url, url, host, "a", text, False, "http://h/", 2, "")


def worths(order: TopicPolicy, page: BroughtPage, links: list[FoundLink]) -> Sequence[float]:
    return at_once(order.worths(page, links))


def test_a_link_inherits_the_relevance_of_its_page_decayed_over_irrelevant_ones() -> None:
    order = policy()
    assert order.inherited(0.9, SEED) == 0.9
    assert order.inherited(0.1, SEED) == 0.5 > order.inherited(0.1, 0.5) == 0.25 > order.inherited(0.1, 0.1) == 0.1
    (good,), (bad,) = worths(order, page("a", 0.9), [link("x")]), worths(policy(), page("a", 0.0, 0.2), [link("x")])
    assert good > bad


def test_anchors_the_words_near_them_and_urls_speak_for_a_link() -> None:
    links = [link("1", "the ferry"), link("2", "this"), link("ferry", "there"), link("4", "those")]
    text = (
        "A list: the ferry goes. "
        + 80 * "x"
        + " The ferry timetable: this one. "
        + 80 * "y"
        + " there, and "
        + 80 * "z"
        + " those"
    )
    anchor, near, url, nothing = worths(policy(), page("a", 0.5, text=text), links)
    assert anchor > near > nothing and url > nothing


def test_it_learns_which_links_lead_to_relevant_pages() -> None:
    order, chance = policy(), random.Random(1)
    for number in range(300):
        good = chance.random() < 0.5
        name = f"{'routes' if good else 'blog'}/{number}"
        worths(order, page("list", 0.5), [link(name, "more")])
        worths(order, page(name, 0.9 if good else 0.0), [])
    like, unlike = worths(order, page("list", 0.5), [link("routes/new", "more"), link("blog/new", "more")])
    assert like > 0.6 > 0.3 > unlike


def test_what_it_learnt_survives_a_restart_and_the_better_one_counts() -> None:
    order = policy()
    for number in range(200):
        worths(order, page("list", 0.5), [link(f"routes/{number}"), link(f"blog/{number}")])
        worths(order, page(f"routes/{number}", 1.0), [])
        worths(order, page(f"blog/{number}", 0.0), [])
    kept, again = order.kept(), policy()
    assert len(kept) < 64_000
    again.recall(kept)
    links = [link("routes/new"), link("blog/new")]
    assert worths(again, page("list", 0.5), links) == pytest.approx(worths(order, page("list", 0.5), links), abs=0.02)
    pages = again.pages
    again.recall(policy().kept())
    assert again.pages == pages


@pytest.mark.parametrize(
    "kept",
    [
        b"",
        b"nothing",
        msgspec.msgpack.encode([1]),
        msgspec.msgpack.encode(Learnt(9, [1.0], {}, {})),
        msgspec.msgpack.encode(Learnt(9, [float("nan")] * 6, {}, {})),
        msgspec.msgpack.encode(Learnt(9, [1.0] * 6, {-1: 1.0}, {})),
        msgspec.msgpack.encode(Learnt(9, [1.0] * 6, {1 << 16: 1.0}, {})),
        msgspec.msgpack.encode(Learnt(9, [1.0] * 6, {}, {"h": (float("inf"), 1.0)})),
    ],
)
def test_what_cannot_be_read_is_as_if_nothing_was_kept(kept: bytes) -> None:
    order = policy()
    order.recall(kept)
    assert order.pages == 0 and worths(order, page("a", 0.5), [link("b")]) == worths(
        policy(), page("a", 0.5), [link("b")]
    )


def test_what_it_remembers_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(topic_order, "LINKS", 200)
    monkeypatch.setattr(topic_order, "HOSTS", 100)
    order = policy()
    for number in range(500):
        worths(order, page("a", 0.5, host=f"h{number}"), [link(f"{number}-{more}") for more in range(3)])
    assert len(order._asked) + len(order._asked_before) <= 200 and len(order._hosts) <= 101
    assert LINKS >= 1000 and HOSTS >= 1000


def test_a_page_of_very_many_links_is_soon_done_with() -> None:
    several = worths(
        policy(), page("a", 0.5, text="x " * 100_000), [link(str(n), "words that are not there") for n in range(10_000)]
    )
    assert len(several) == 10_000 and all(0.0 < worth < 1.0 for worth in several)


def test_between_some_links_of_a_page_others_have_their_turn() -> None:
    links = [link(str(number), "to the ferry") for number in range(1500)]
    pauses = sum(1 for _ in policy().worths(page("a", 0.5), links))
    assert 1000 // 32 <= pauses <= 40
