"""A host's back queue: its order, and each item once."""

from hypothesis import given
from hypothesis import strategies as st

from gregor.schemas.messages import Ticket, TicketKind
from gregor.worker.frontier.back_queue import BackQueue, FromBucket, FromLog, Item

KINDS: list[TicketKind] = ["new", "retry", "revisit"]
STEPS = st.lists(st.tuples(st.sampled_from(["put", "take", "back", "remove"]), st.integers(0, 11)), max_size=60)


def item(number: int, kind: TicketKind = "new", priority: int = 2) -> Item:
    url = f"http://h/{number}"
    return Item(Ticket(url, url, "h", kind=kind, priority=priority), FromLog(priority, number), False)


def expected(waiting: list[Item]) -> Item | None:
    """What comes next: what was put back, then what waited before, then by priority; else in order of arrival."""
    return min(waiting, key=lambda one: 0 if one.ticket.kind != "new" else one.ticket.priority, default=None)


@given(STEPS)
def test_it_does_as_a_sorted_list_would(steps: list[tuple[str, int]]) -> None:
    queue = BackQueue()
    items = [item(number, KINDS[number % 3], 1 + number % 4) for number in range(12)]
    known: list[Item] = []
    waiting: list[Item] = []
    front: list[Item] = []  # what was put back, the last one first
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


def test_followers_finish_with_their_item() -> None:
    one = item(1)
    one.followers += [FromBucket(7), FromLog(2, 9)]
    assert list(one.sources()) == [FromLog(2, 1), FromBucket(7), FromLog(2, 9)]
