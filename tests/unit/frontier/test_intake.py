"""Admission beside a store and a log that outlive it: whatever comes, and whenever the lease ends, nothing is lost."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gregor.schemas.messages import DeadLetter, Ticket, url_fingerprint
from gregor.worker.borders.log import FrontierRecord, Unreadable
from gregor.worker.frontier.partition import FEW_HOSTS
from gregor.worker.links.tickets import again
from tests.contract.world import ManualClock, ticket
from tests.simulation.contract import SimulatedEngine, SimulatedFactory
from tests.unit.owner import CAPACITY, CONFIG, Owner

TICKETS = st.lists(
    st.builds(
        lambda host, path, priority: ticket(path, host=f"h{host}", priority=priority),
        st.integers(0, 2),
        st.integers(0, 30).map(str),
        st.integers(1, 4),
    ),
    max_size=80,
)


def on_servers(case: Callable[[SimulatedEngine, ManualClock], Awaitable[None]]) -> None:
    async def whole() -> None:
        clock = ManualClock()
        engine = await SimulatedFactory(Path("none"), partitions=1).open(clock)
        try:
            await case(engine, clock)
        finally:
            await engine.close()

    asyncio.run(whole())


@settings(max_examples=120, deadline=None)
@given(TICKETS, st.lists(st.integers(1, 120), max_size=4), st.integers(0, 10**6))
def test_every_url_is_visited_once_whenever_the_lease_ends(tickets: list[Ticket], ends: list[int], seed: int) -> None:
    async def case(engine: SimulatedEngine, clock: ManualClock) -> None:
        await engine.log.publish(tickets)
        owner = Owner(engine, clock, seed)
        await owner.work_under_leases(ends)
        assert owner.visited == dict.fromkeys({one.key for one in tickets}, 1)

    on_servers(case)


@settings(max_examples=40, deadline=None)
@given(TICKETS, st.integers(0, 10**6))
def test_memory_is_bounded(tickets: list[Ticket], seed: int) -> None:
    async def case(engine: SimulatedEngine, clock: ManualClock) -> None:
        await engine.log.publish(tickets)
        owner = Owner(engine, clock, seed)
        await owner.take_over()
        while await owner.intake.step():
            partition = owner.partition
            assert partition.size == sum(partition.load.values()) + partition.pulled <= CAPACITY
            assert all(mark.span <= CONFIG.window for mark in partition.marks.values())
            assert all(len(host.queue) <= CONFIG.queue_size + CONFIG.chunk_size for host in partition.hosts.values())
        await owner.work()
        assert len(owner.visited) == len({one.key for one in tickets})

    on_servers(case)


def test_a_host_that_is_never_visited_does_not_stop_the_reading_of_its_topic() -> None:
    """Its oldest records hold the watermark; at the end of the window they go to wait, busy as the worker may be."""
    tickets = [ticket(str(number)) for number in range(4 * CONFIG.window)]

    async def case(engine: SimulatedEngine, clock: ManualClock) -> None:
        await engine.log.publish(tickets)
        owner = Owner(engine, clock, 1)
        await owner.take_over()
        owner.schedule.idle = False
        while await owner.intake.step():
            pass
        assert sum(mark.position for mark in owner.partition.marks.values()) == len(tickets)

    on_servers(case)


def test_a_wake_up_names_its_host_until_the_backlog_is_done() -> None:
    """All of the topic is finished, the rest of the backlog in memory: only the calendar leads the next owner to it."""
    tickets = [ticket(str(number)) for number in range(CONFIG.queue_size + CONFIG.chunk_size)]

    async def read_all(owner: Owner) -> None:
        while await owner.intake.step():
            pass

    async def case(engine: SimulatedEngine, clock: ManualClock) -> None:
        await engine.log.publish(tickets)
        owner = Owner(engine, clock, 1)
        await owner.take_over()
        await read_all(owner)
        clock.pass_(3 * CONFIG.bucket_width)
        await read_all(owner)  # the wake-up
        for _ in range(CONFIG.queue_size):
            await owner.visit()
            await read_all(owner)
        assert not any(map(len, owner.partition.marks.values()))
        await owner.checkpoint()
        await owner.take_over()
        await owner.work()
        assert owner.visited == dict.fromkeys({one.key for one in tickets}, 1)

    on_servers(case)


def test_a_host_is_forgotten_when_nothing_is_left_of_it() -> None:
    """However many hosts a crawl meets: what is kept of them hangs on those that have turns."""
    tickets = [ticket("a", host=f"h{number}") for number in range(8 * FEW_HOSTS)]

    async def case(engine: SimulatedEngine, clock: ManualClock) -> None:
        owner = Owner(engine, clock, 1)
        await owner.take_over()
        for begin in range(0, len(tickets), 16):
            await engine.log.publish(tickets[begin : begin + 16])
            await owner.work()
            clock.pass_(10.0)
            assert len(owner.partition.hosts) <= 2 * FEW_HOSTS
        assert len(owner.visited) == len(tickets)

    on_servers(case)


def owned(case: Callable[[Owner, SimulatedEngine], Awaitable[None]], *tickets: Ticket, **config: Any) -> None:
    async def whole(engine: SimulatedEngine, clock: ManualClock) -> None:
        await engine.log.publish(tickets)
        owner = Owner(engine, clock, 1, **config)
        await owner.take_over()
        await case(owner, engine)

    on_servers(whole)


def test_what_is_seen_is_finished_without_a_row_being_read() -> None:
    async def case(owner: Owner, engine: SimulatedEngine) -> None:
        await owner.work()
        await engine.log.publish([ticket("a"), ticket("b")])
        owner.intake.news()
        assert await owner.intake.step()
        assert list(owner.partition.live) == [(ticket("b").key, 0, "new")]

    owned(case, ticket("a"))


def test_a_twin_follows_and_finishes_with_the_live_ticket() -> None:
    async def case(owner: Owner, engine: SimulatedEngine) -> None:
        assert await owner.intake.step()
        (item,) = owner.partition.live.values()
        assert len(item.followers) == 2
        assert owner.partition.watermarks()[2] == 0, "not finished merely because its twin is in memory"
        await owner.visit()
        assert owner.partition.watermarks()[2] == 3

    owned(case, *[ticket("a")] * 3)


def test_the_tickets_of_a_host_whose_turn_is_far_off_wait_outside_memory() -> None:
    async def case(owner: Owner, engine: SimulatedEngine) -> None:
        owner.partition.host("example.org").next_turn = owner.clock.monotonic() + 3600.0
        assert await owner.intake.step()
        assert not owner.partition.live
        assert owner.partition.watermarks()[2] == 2
        (bucket,) = await engine.store.buckets(0, 0, 2**53, 9)
        assert bucket * CONFIG.bucket_width > owner.clock.wall() + 3500.0, "woken when the host may be asked"
        assert [one.kind for one in await engine.store.read_bucket(0, bucket)] == ["wake"]
        (chunk,) = await engine.store.chunks(0, "example.org")
        assert [one.key for one in await engine.store.read_chunk(0, "example.org", chunk)] == [
            ticket("a").key,
            ticket("b").key,
        ]

    owned(case, ticket("a"), ticket("b"))


def test_a_backlog_that_was_found_is_named_for_a_later_owner_too() -> None:
    async def case(owner: Owner, engine: SimulatedEngine) -> None:
        await engine.store.put_chunk(0, "example.org", 5, [ticket("a")], 1)
        owner.intake.search()
        await owner.intake.step()
        later = Owner(engine, owner.clock, 2)
        await later.take_over()
        await later.work()
        assert later.visited == {ticket("a").key: 1}

    owned(case)


def written_in_order(owner: Owner, engine: SimulatedEngine) -> list[tuple[str, int]]:
    """What is written from now on, each with the watermark of that moment."""
    order: list[tuple[str, int]] = []

    def note(handle: Any, method: str) -> None:
        original = getattr(handle, method)

        async def call(*arguments: Any) -> Any:
            order.append((method, owner.partition.watermarks()[2]))
            return await original(*arguments)

        setattr(handle, method, call)

    note(engine.store, "put_entries")
    note(engine.store, "put_chunk")
    note(engine.seen, "mark")
    return order


def test_what_is_followed_later_is_in_the_calendar_then_seen() -> None:
    async def case(owner: Owner, engine: SimulatedEngine) -> None:
        order, due = written_in_order(owner, engine), owner.clock.wall() + 60.0
        await owner.intake.waiting.postpone(msgspec.structs.replace(ticket("a"), not_before=due))
        assert [method for method, _ in order] == ["put_entries", "mark"]
        assert owner.partition.calendar.next_due() == pytest.approx(due, abs=2.0)
        assert await engine.seen.seen([url_fingerprint(ticket("a").key)]) == [True]

    owned(case)


def test_what_waits_is_written_then_seen_then_finished() -> None:
    async def case(owner: Owner, engine: SimulatedEngine) -> None:
        order = written_in_order(owner, engine)
        owner.partition.host("example.org").next_turn = owner.clock.monotonic() + 3600.0
        assert await owner.intake.step()
        assert order == [("put_entries", 0), ("put_chunk", 0), ("mark", 0)]
        assert owner.partition.watermarks()[2] == 1

    owned(case, ticket("a"))


def test_a_record_that_is_no_ticket_is_a_dead_letter() -> None:
    async def case(owner: Owner, engine: SimulatedEngine) -> None:
        letters: list[DeadLetter] = []

        async def put(letter: DeadLetter) -> None:
            assert owner.partition.marks[2].span, "not finished before it is stored"
            letters.append(letter)

        engine.store.put_dead_letter = put  # type: ignore[method-assign]
        await owner.intake.admit(2, [FrontierRecord(7, Unreadable(b"?", "no ticket"))])
        assert [(letter.cause, letter.source) for letter in letters] == [
            ("unreadable", "partition 0, priority 2, offset 7")
        ]
        assert owner.partition.watermarks()[2] == 8

    owned(case)


def test_a_host_that_never_gets_a_turn_does_not_stop_the_topic() -> None:
    async def case(owner: Owner, engine: SimulatedEngine) -> None:
        owner.schedule.idle = True
        for _ in range(60):
            owner.intake.news()
            await owner.intake.step()
        assert owner.partition.marks[2].position == 80

    owned(case, *(ticket(str(number)) for number in range(80)))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 120), max_size=4), st.integers(1, 3), st.integers(0, 10**6))
def test_another_visit_is_made_once_whenever_the_lease_ends(ends: list[int], times: int, seed: int) -> None:
    async def case(engine: SimulatedEngine, clock: ManualClock) -> None:
        one = ticket("page", host="h0")
        await engine.log.publish([one])
        owner = Owner(engine, clock, seed)
        await owner.take_over(None)
        await owner.work()
        for visit in range(1, times + 1):
            (row,) = await engine.store.rows([one.key])
            assert row is not None
            asking = again(row)
            await engine.log.publish([asking] * owner.chance.randint(1, 3))  # asked twice is asked once
            await owner.work_under_leases(ends)
            assert owner.visited == {one.key: 1 + visit}

    on_servers(case)
