"""A frontier in which a policy scores: what is worth most comes first, what rises comes in early, nothing is lost."""

from collections import Counter
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from gregor.schemas.messages import Ticket, url_fingerprint
from gregor.worker.frontier.back_queue import BackQueue
from gregor.worker.frontier.lanes import MOST_TIMES, SCORED_SLOTS, SLOTS
from gregor.worker.frontier.queue_item import FromChunk, FromLog, QueueItem
from gregor.worker.links.ordering.standings import Standings
from gregor.worker.links.rank import Judged, Rank
from tests.contract.world import ManualClock, ticket
from tests.simulation.contract import SimulatedEngine
from tests.unit.frontier.test_intake import on_servers
from tests.unit.owner import Owner

PATHS = st.sampled_from([str(number) for number in range(24)])
TICKETS = st.lists(
    st.builds(ticket, PATHS, worth=st.one_of(st.none(), st.floats(0.01, 100.0)), priority=st.integers(1, 4)),
    max_size=60,
)


class ScoringOwner(Owner):
    """Owns the partition with standings, and finds further links to what it admits while it visits."""

    async def take_over(self, calls: int | None = None) -> None:
        await super().take_over(calls)
        self.standings = Standings(True, 16, lambda _: 0.0, Counter())
        self.partition.standings = self.standings

    async def visit(self) -> None:
        await super().visit()
        link = ticket(str(self.chance.randrange(24)))
        number = url_fingerprint(link.key)
        if self.standings.credit(number, self.chance.choice([0.1, 10.0, 1000.0])):
            early = msgspec.structs.replace(link, worth=self.standings.lend(number), priority=1)
            await self.effects.run(lambda: self.engine.log.publish([early]))


@settings(max_examples=60, deadline=None)
@given(TICKETS, st.lists(st.integers(1, 120), max_size=3), st.integers(0, 10**6))
def test_every_url_is_visited_once_whenever_the_lease_ends(tickets: list[Ticket], ends: list[int], seed: int) -> None:
    async def case(engine: SimulatedEngine, clock: ManualClock) -> None:
        await engine.log.publish(tickets)
        owner = ScoringOwner(engine, clock, seed)
        await owner.work_under_leases(ends)
        assert owner.visited == dict.fromkeys({one.key for one in tickets}, 1)

    on_servers(case)


def test_a_ticket_that_lifts_what_waits_in_the_backlog_is_let_in_and_finished_by_its_visit() -> None:
    low = [ticket(str(number), worth=1.0 - number / 1000) for number in range(40)]  # else each would be next

    async def case(engine: SimulatedEngine, clock: ManualClock) -> None:
        await engine.log.publish(low)
        owner = ScoringOwner(engine, clock, 1, window=1000, queue_size=2)
        await owner.take_over()
        while await owner.intake.step():
            pass
        waiting = next(one for one in low if url_fingerprint(one.key) in owner.standings._outside)
        assert waiting.identity not in owner.partition.live
        assert await engine.seen.seen([url_fingerprint(waiting.key)]) == [True]
        await engine.log.publish([msgspec.structs.replace(waiting, worth=500.0, priority=1)])
        owner.intake.news()
        while await owner.intake.step():
            pass
        item = owner.partition.live[waiting.identity]
        assert owner.partition.marks[1].low == 0, "its record waits for its visit"
        assert owner.partition.hosts[waiting.host].queue.first() is item
        await engine.log.publish([msgspec.structs.replace(waiting, worth=0.0001, priority=3)])
        await owner.work()
        assert owner.visited == {one.key: 1 for one in low}

    on_servers(case)


def queue(judge: Any = None, most: int = 100) -> tuple[BackQueue, Standings]:
    """A back queue in which a policy scores."""
    standings = Standings(True, most, lambda _: 0.0, Counter())
    return BackQueue(judge or (lambda _: Judged(Rank.OPEN)), standings), standings


def put(back_queue: BackQueue, path: str, **fields: Any) -> QueueItem:
    """An item of a record."""
    item = QueueItem(ticket(path, **fields), FromLog(2, 0), False)
    back_queue.put(item)
    return item


def taken(back_queue: BackQueue) -> list[str]:
    """The paths in the order in which they are taken."""
    paths = []
    while (item := back_queue.take()) is not None:
        paths.append(item.ticket.key.rpartition("/")[2])
    return paths


def test_what_is_worth_most_is_first_whatever_came_first_and_what_is_large_is_no_exception() -> None:
    back_queue, _ = queue(lambda one: Judged(Rank.LARGE if "large" in one.key else Rank.OPEN, section="s"))
    put(back_queue, "low", worth=0.1)
    put(back_queue, "large", worth=0.5)
    put(back_queue, "high", worth=2.0)
    put(back_queue, "seed", priority=1)
    put(back_queue, "again", kind="retry", priority=4)
    put(back_queue, "robots", kind="robots")
    assert taken(back_queue) == ["robots", "again", "seed", "high", "large", "low"]


def test_what_rises_moves_and_its_ticket_takes_its_worth_along() -> None:
    back_queue, standings = queue()
    low, high = put(back_queue, "low", worth=0.1), put(back_queue, "high", worth=2.0)
    assert standings.credit(url_fingerprint(low.ticket.key), 5.0) is False
    assert back_queue.take() is low
    assert low.ticket.worth is not None
    assert abs(low.ticket.worth - 5.1) < 1e-9
    assert standings.credit(url_fingerprint(low.ticket.key), 5.0) is None, "it is being visited"
    back_queue.put_back(low)
    assert [back_queue.take(), back_queue.take(), back_queue.take()] == [low, high, None]
    assert len(back_queue) == 0


def test_what_rises_often_takes_no_more_room() -> None:
    back_queue, standings = queue()
    items = [put(back_queue, str(number), worth=1.0) for number in range(10)]
    for _ in range(200):
        for item in items:
            standings.credit(url_fingerprint(item.ticket.key), 1e3 * item.worth)
            item.worth = min(item.worth, 1e9)
    assert sum(map(len, back_queue._lanes)) <= MOST_TIMES * len(back_queue) + SLOTS + 1
    assert len(taken(back_queue)) == 10


def test_memory_is_filled_from_the_best_band_on() -> None:
    back_queue, standings = queue()
    for number in range(1000):
        standings.weigh(number, float(number), 2, again=False)
    slots = [back_queue.slot_of(ticket(str(worth), worth=worth)) for worth in (5.0, 700.0, 999.5)]
    assert slots == sorted(slots, reverse=True)
    put(back_queue, "best", worth=999.5)
    assert [waiting for _, waiting in back_queue.next_slots(slots)] == [1, 1, 1], "better ones count"


def test_what_comes_back_from_the_backlog_is_worth_what_is_remembered_once() -> None:
    back_queue, standings = queue()
    waiting = ticket("a", worth=3.0)
    number = url_fingerprint(waiting.key)
    standings.waits(number, 3.0)
    standings.credit(number, 1.0)
    item = QueueItem(waiting, FromChunk(waiting.host, 1), False)
    back_queue.put(item)
    assert standings.worth(item.worth) == 4.0


def test_what_left_takes_no_room_once_something_rises() -> None:
    back_queue, standings = queue()
    for number in range(10):
        put(back_queue, str(number), worth=5.0)
    for number in range(100, 300):
        item = put(back_queue, str(number), worth=1.0)
        standings.credit(url_fingerprint(item.ticket.key), 10.0)
        assert back_queue.take() is item
    item = put(back_queue, "last", worth=1.0)
    standings.credit(url_fingerprint(item.ticket.key), 10.0)
    back_queue.remove(item)
    most = MOST_TIMES * len(back_queue) + SLOTS
    left = sum(entry[2].state != "queued" for entry in back_queue._lanes[Rank.OPEN])
    assert left <= most - len(back_queue) + 1


def test_worths_that_grow_without_end_fill_no_more_than_twice_the_places() -> None:
    back_queue, _ = queue()
    for number in range(500):
        rising = ticket(str(number), worth=float(number))
        if back_queue.takes(rising, 40):
            back_queue.put(QueueItem(rising, FromLog(2, number), False))
    assert len(back_queue) <= 2 * 40 * SCORED_SLOTS
    assert not back_queue.takes(ticket("more", worth=1e6), 40)
    assert back_queue.takes(ticket("least", worth=-1e6), 40), "its slot has room"
