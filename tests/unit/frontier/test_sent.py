"""The recently-sent cache: what need not be published again."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from gregor.schemas.messages import Row, Ticket, url_fingerprint
from gregor.worker.frontier.sent import RecentlySent, SentByDepth, as_requisite
from gregor.worker.frontier.tickets import joined, makes_a_page, may_shorten, nearest

LINK = Ticket("http://h/a", "http://h/a", "h", depth=3)
A = url_fingerprint(LINK.key)


def deep(depth: int, **fields: str) -> Ticket:
    return Ticket(LINK.href, LINK.key, LINK.host, depth=depth, **fields)  # type: ignore[arg-type]


def row(depth: int) -> Row:
    return Row(LINK.key, LINK.href, LINK.host, 1, "waiting", "", depth=depth)


def test_a_link_is_known_however_deep_it_was_found() -> None:
    sent = RecentlySent(8)
    sent.learn([LINK])
    assert sent.knows(A, 1)


@given(st.lists(st.integers(0, 9), min_size=1), st.integers(0, 9))
def test_where_depth_decides_it_is_known_unless_it_was_found_on_a_shorter_way(depths: list[int], depth: int) -> None:
    sent = SentByDepth(1000)
    assert not sent.knows(A, depth)
    for published in depths:
        sent.learn([deep(published)])
    assert sent.knows(A, depth) == (min(depths) <= depth)


def test_the_older_half_is_forgotten() -> None:
    sent = SentByDepth(4)
    others = [Ticket(f"http://h/{n}", f"http://h/{n}", "h") for n in range(6)]
    sent.learn([LINK, others[0], others[1]])
    assert sent.knows(A, 3)
    sent.learn(others[2:])
    assert not sent.knows(A, 9)
    assert not SentByDepth(0).knows(A)


def test_a_live_ticket_takes_the_shorter_way_and_keeps_the_rest() -> None:
    told = joined(deep(3), deep(2, changefreq="daily"))
    assert (told.depth, told.changefreq, told.identity) == (2, "daily", LINK.identity)
    assert joined(deep(2), deep(3)).depth == 2


def test_a_later_visit_is_as_near_as_the_row_says() -> None:
    assert nearest(LINK, None) is LINK
    assert [nearest(LINK, row(depth)).depth for depth in (1, 3, 5)] == [1, 3, 3]


def test_only_where_more_can_be_followed_from_there() -> None:
    assert [may_shorten(deep(depth), 3) for depth in (0, 2, 3)] == [True, True, False]
    assert not may_shorten(deep(0), None)
    assert not may_shorten(deep(1, link="sitemap"), 3)


def needed(depth: int) -> Ticket:
    return msgspec.structs.replace(deep(depth), requisite=True)


def test_what_was_published_as_a_requisite_is_not_known_as_a_page() -> None:
    for sent in (RecentlySent(8), SentByDepth(8)):
        sent.learn([needed(1)])
        assert not sent.knows(A, 9)
        assert sent.knows(url_fingerprint(as_requisite(LINK.key)), 1)


def test_a_live_requisite_becomes_a_page_by_a_link_and_never_the_other_way() -> None:
    page = joined(needed(1), deep(3))
    assert (page.depth, page.requisite, page.identity) == (3, False, needed(1).identity)
    assert joined(deep(3), needed(1)) == deep(3)
    assert joined(needed(3), needed(1)) == needed(1)
    assert needed(3).id != deep(3).id  # neither takes the place of the other's entry


def test_a_requisite_is_visited_as_the_page_that_its_row_says_it_is() -> None:
    marked = msgspec.structs.replace(row(1), requisite=True)
    assert nearest(needed(3), marked) == needed(1)
    assert nearest(needed(3), row(2)) == deep(2)
    assert nearest(deep(3), marked) == deep(3)  # it was as deep as what needed it
    assert not may_shorten(needed(0), 4)
    assert [makes_a_page(ticket, known) for ticket in (deep(3), needed(3)) for known in (marked, row(1))] == [
        True,
        False,
        False,
        False,
    ]


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 3)), max_size=20), st.integers(0, 3), st.booleans())
def test_of_many_it_says_what_it_says_of_each(links: list[tuple[int, int]], depth: int, by_depth: bool) -> None:
    sent = SentByDepth(8) if by_depth else RecentlySent(8)  # both halves are in use
    for number, found in links:
        sent.learn([Ticket(f"http://h/{number}", f"http://h/{number}", "h", depth=found)])
    numbers = [url_fingerprint(f"http://h/{number}") for number in range(13)]
    assert sent.unknown(numbers, depth) == {number for number in numbers if not sent.knows(number, depth)}
