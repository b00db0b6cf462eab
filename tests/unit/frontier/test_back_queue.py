"""A host's back queue: its order, and each item once."""

from collections import Counter
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gregor.schemas.messages import Ticket, TicketKind
from gregor.worker.frontier.back_queue import BackQueue
from gregor.worker.frontier.growth import FEW, MANY
from gregor.worker.frontier.lanes import how_often
from gregor.worker.frontier.queue_item import FromBucket, FromLog, QueueItem
from gregor.worker.links.ordering.standings import Standings
from gregor.worker.links.rank import LOOKS_DATED, LOOKS_ENDLESS, LOOKS_PAST, Judged, Rank
from gregor.worker.links.shapes import section, target_of

KINDS: list[TicketKind] = ["new", "retry", "revisit"]
STEPS = st.lists(st.tuples(st.sampled_from(["put", "take", "back", "remove"]), st.integers(0, 11)), max_size=60)


def item(number: int, kind: TicketKind = "new", priority: int = 2) -> QueueItem:
    url = f"http://h/{number}"
    return QueueItem(Ticket(url, url, "h", kind=kind, priority=priority), FromLog(priority, number), False)


def expected(waiting: list[QueueItem]) -> QueueItem | None:
    """What comes next: what was put back, then what waited before, then by priority; else in order of arrival."""
    return min(waiting, key=lambda one: 0 if one.ticket.kind != "new" else one.ticket.priority, default=None)


@given(STEPS)
def test_it_does_as_a_sorted_list_would(steps: list[tuple[str, int]]) -> None:
    queue = BackQueue()
    items = [item(number, KINDS[number % 3], 1 + number % 4) for number in range(12)]
    known: list[QueueItem] = []
    waiting: list[QueueItem] = []
    front: list[QueueItem] = []  # what was put back, the last one first
    for step, number in steps:
        one = items[number]
        match step:
            case "put" if one not in known:
                queue.put(one)
                known.append(one)
                waiting.append(one)
            case "back" if one in known and one.state == "visited":
                queue.put_back(one)
                front.insert(0, one)
            case "remove" if one in known:
                visited = one.state == "visited"
                queue.remove(one)
                assert one.state == ("visited" if visited else "left")
                waiting, front = [x for x in waiting if x is not one], [x for x in front if x is not one]
            case "take":
                first = front[0] if front else expected(waiting)
                assert queue.first() is first
                assert queue.take() is first
                if first is not None:
                    assert first.state == "visited"
                    waiting, front = [x for x in waiting if x is not first], [x for x in front if x is not first]
        assert len(queue) == len(waiting) + len(front)


def test_an_item_that_is_visited_stays_visited() -> None:
    queue, one = BackQueue(), item(1)
    queue.put(one)
    assert queue.take() is one
    queue.remove(one)
    assert (one.state, len(queue), queue.take()) == ("visited", 0, None)


class Judge:
    """Judges by the section of a URL, as a test says."""

    def __init__(self, **standings: Rank) -> None:
        self.standings = standings

    def __call__(self, ticket: Ticket) -> Judged:
        section = ticket.key.split("/")[3]
        return Judged(self.standings.get(section, Rank.OPEN), "reason", section)


def of(section: str, count: int) -> list[QueueItem]:
    urls = [f"http://h/{section}/{number}" for number in range(count)]
    return [QueueItem(Ticket(url, url, "h", depth=1), FromLog(2, number), False) for number, url in enumerate(urls)]


def taken(queue: BackQueue, count: int) -> list[str]:
    items = [queue.take() for _ in range(count)]
    return [item.ticket.key.split("/")[3] for item in items if item is not None]


def test_what_sank_gets_one_turn_in_eight_and_its_sections_take_turns() -> None:
    queue = BackQueue(Judge(cal=Rank.SUNK, shop=Rank.SUNK))
    for one in [*of("cal", 99), *of("shop", 40), *of("page", 30)]:
        queue.put(one)
    assert taken(queue, 24).count("page") == 21
    assert taken(queue, 25).count("page") == 9
    assert taken(queue, 6).count("shop") == 3


def test_a_standing_is_asked_again_when_an_item_would_be_next() -> None:
    judge = Judge()
    queue = BackQueue(judge)
    for one in [*of("cal", 300), *of("page", 20)]:
        queue.put(one)
    assert taken(queue, 10) == ["cal"] * 10
    judge.standings["cal"] = Rank.SPENT
    assert taken(queue, 20) == ["page"] * 20
    assert (queue.waiting(0), len(queue)) == (0, 290)
    judge.standings["cal"] = Rank.OPEN
    assert taken(queue, 300) == ["cal"] * 290


def test_what_stands_better_now_goes_ahead_of_the_rest_of_what_sank() -> None:
    judge = Judge(cal=Rank.SUNK, shop=Rank.SUNK)
    queue = BackQueue(judge)
    for one in [*of("cal", 99), *of("shop", 14)]:
        queue.put(one)
    judge.standings["shop"] = Rank.OPEN
    assert taken(queue, 20).count("shop") == 14
    assert len(queue) == 93
    assert taken(queue, 93) == ["cal"] * 93


def test_what_is_spent_comes_last_from_all_over_its_shape_or_is_refused() -> None:
    judge = Judge(cal=Rank.SPENT)
    queue = BackQueue(judge)
    for one in [*of("cal", 100), *of("page", 1)]:
        queue.put(one)
    assert taken(queue, 1) == ["page"]
    tried = [int(item.ticket.key.split("/")[4]) for _ in range(8) if (item := queue.take()) and not item.refused]
    assert len(tried) == 8
    assert max(tried) - min(tried) > 30
    judge.standings["cal"] = Rank.REFUSED
    refused = [item.refused for _ in range(92) if (item := queue.take())]
    assert refused == ["reason"] * 92
    assert queue.take() is None


def test_of_what_is_spent_the_deepest_comes_first() -> None:
    queue = BackQueue(Judge(cal=Rank.SPENT))
    for depth in (3, 9, 1, 2_000_000, 5):
        url = f"http://h/cal/{depth}"
        queue.put(QueueItem(Ticket(url, url, "h", depth=depth), FromLog(2, depth), False))
    assert [item.ticket.depth for _ in range(5) if (item := queue.take())] == [2_000_000, 9, 5, 3, 1]


def test_what_is_spent_and_deepest_has_room_where_its_section_is_full() -> None:
    queue = BackQueue(Judge(cal=Rank.SPENT))
    for one in of("cal", 4):
        queue.put(one)
    deeper = Ticket("http://h/cal/9", "http://h/cal/9", "h", depth=2)
    assert queue.takes(deeper, 4)
    queue.put(QueueItem(deeper, FromLog(2, 9), False))
    assert not queue.takes(deeper, 4)
    assert (taken_first := queue.take()) is not None
    assert taken_first.ticket is deeper
    assert not queue.takes(of("cal", 1)[0].ticket, 4)


@pytest.mark.parametrize(("looks", "pages"), [("", 2 * MANY), (LOOKS_ENDLESS, 3 * FEW)])
def test_what_leads_on_to_more_than_is_taken_sinks_whatever_it_looks_like(looks: str, pages: int) -> None:
    """Or that of which a good part looks endless: then the rest of its section is no better."""

    def judge(ticket: Ticket) -> Judged:
        target = target_of(ticket.key)
        odd = looks and target.startswith("/grows/") and target.endswith(("0", "4", "7"))
        return Judged(Rank.SUNK if odd else Rank.OPEN, looks if odd else "", section(target))

    def put(numbers: Iterable[int], name: str, via: str) -> None:
        for number in numbers:
            url = f"http://h/{name}/{number}"
            ticket = Ticket(url, url, "h", via=via)
            assert queue.takes(ticket, 10_000)
            queue.put(QueueItem(ticket, FromLog(2, number), False))

    queue = BackQueue(judge)
    put([1], "grows", "http://h/")
    for number in range(pages):
        visited = queue.take()
        assert visited is not None
        put([2 * number + 2, 2 * number + 3], "grows", visited.ticket.key)
    put(range(1, 80), "page", "http://h/")
    assert taken(queue, 80).count("page") == 70


@pytest.mark.parametrize(("looks", "often"), [(LOOKS_DATED, True), (LOOKS_ENDLESS, False)])
def test_what_sank_for_its_dates_alone_has_more_turns_than_other_sections(looks: str, often: bool) -> None:
    def judge(ticket: Ticket) -> Judged:
        name = section(target_of(ticket.key))
        return Judged(Rank.SUNK, looks if name == "item" else LOOKS_ENDLESS, name)

    queue = BackQueue(judge)
    for one in [*of("item", 20), *of("shop", 20)]:
        queue.put(one)
    assert taken(queue, 7).count("item") == (6 if often else 4)


def test_a_row_has_its_turn_more_often_than_what_grows_and_what_went_past_all_dates_less_often() -> None:
    assert how_often(LOOKS_DATED, 200) > how_often(LOOKS_ENDLESS, 2) > how_often(LOOKS_ENDLESS, 200)
    assert how_often(LOOKS_ENDLESS, 200) > how_often(LOOKS_PAST, 2)


def test_a_flood_of_what_sank_leaves_room_for_the_rest() -> None:
    queue = BackQueue(Judge(cal=Rank.SUNK))
    for one in of("cal", 4):
        assert queue.takes(one.ticket, 4)
        queue.put(one)
    assert not queue.takes(of("cal", 5)[4].ticket, 4)
    assert queue.takes(of("page", 1)[0].ticket, 4)


def test_followers_finish_with_their_item() -> None:
    one = item(1)
    one.followers += [FromBucket(7), FromLog(2, 9)]
    assert list(one.sources()) == [FromLog(2, 1), FromBucket(7), FromLog(2, 9)]


def test_a_host_whose_urls_all_sank_counts_by_what_they_are_worth_before_hosts_that_lead_to_little() -> None:
    """A large section of a site that is after the topic sinks as a whole."""

    def best(worth: float, rank: Rank) -> float:
        queue = BackQueue(Judge(page=rank), Standings(False, 9, lambda _: 0.0, Counter()))
        url = "http://h/page/1"
        queue.put(QueueItem(Ticket(url, url, "h", depth=1, worth=worth), FromLog(2, 1), False))
        return queue.best

    assert best(0.9, Rank.OPEN) > best(0.9, Rank.SUNK) > best(0.2, Rank.OPEN) > best(0.9, Rank.SPENT)
