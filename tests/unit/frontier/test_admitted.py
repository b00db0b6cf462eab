"""Admission, step by step: what a further record tells, what has no room, and what an earlier owner left half done."""

import msgspec

from gregor.schemas.messages import PRIORITIES, Ticket, url_fingerprint
from gregor.worker.borders.store import Entry
from tests.contract.world import ticket
from tests.simulation.contract import SimulatedEngine
from tests.unit.frontier.test_intake import owned
from tests.unit.frontier.test_room import read_all
from tests.unit.owner import CAPACITY, Owner


def test_a_record_that_a_clock_ahead_wrote_is_dated_as_it_is_read() -> None:
    async def case(owner: Owner, engine: SimulatedEngine) -> None:
        now = owner.clock.wall()
        await engine.log.publish([ticket("a", at=now + 10 * 86400)])
        await read_all(owner)
        (item,) = owner.partition.live.values()
        assert item.ticket.at == now

    owned(case)


def test_what_a_sitemap_says_of_a_url_that_was_seen_is_not_passed_by() -> None:
    async def case(owner: Owner, engine: SimulatedEngine) -> None:
        await engine.seen.mark([url_fingerprint(ticket("a").key)])
        await read_all(owner)
        (item,) = owner.partition.live.values()
        assert item.ticket.lastmod, "what tells nothing new is finished, this is compared with the row"

    owned(case, ticket("a"), ticket("a", lastmod=5.0))


def test_a_live_ticket_learns_of_a_shorter_way() -> None:
    async def case(owner: Owner, engine: SimulatedEngine) -> None:
        await read_all(owner)
        (item,) = owner.partition.live.values()
        assert item.ticket.depth == 2

    owned(case, *(ticket("a", depth=depth) for depth in (5, 2, 3)))


def test_what_moves_to_waiting_takes_all_records_along_that_follow_it() -> None:
    """Else they would hold the watermark, and the window would never move on."""
    count = 40

    async def case(owner: Owner, engine: SimulatedEngine) -> None:
        await read_all(owner, steps=200)
        assert owner.partition.marks[2].position == count

    owned(case, *[ticket("a")] * count, window=16)


def test_neither_calendar_nor_backlog_is_read_into_a_full_memory() -> None:
    tickets = [
        ticket("a", host=f"h{priority}-{number}", priority=priority)
        for priority in PRIORITIES
        for number in range(CAPACITY // len(PRIORITIES))
    ]

    async def case(owner: Owner, engine: SimulatedEngine) -> None:
        await read_all(owner)
        assert owner.partition.size == CAPACITY
        await owner.intake.waiting.put([ticket(str(number), host="waits") for number in range(3)])
        assert owner.partition.hungry
        await read_all(owner)
        assert owner.partition.size == CAPACITY
        past = int(owner.clock.wall()) - 9
        due = [Entry(past, msgspec.structs.replace(ticket("b", host="due"), visit=1, kind="retry"))]
        await engine.store.put_entries(0, due, 1)
        owner.intake.search()
        await read_all(owner)
        assert owner.partition.size == CAPACITY

    owned(case, *tickets, window=1000)


def test_a_chunk_that_turns_out_empty_is_no_end_of_its_backlog() -> None:
    """An owner was killed after it had deleted what was in it: nobody visits anything that would look for the next."""

    async def case(owner: Owner, engine: SimulatedEngine) -> None:
        await engine.store.put_chunk(0, "example.org", 5, [ticket("a")], 1)
        await engine.store.put_chunk(0, "example.org", 6, [ticket("b")], 1)
        read = engine.store.read_chunk

        async def deleted(partition: int, host: str, chunk: int) -> list[Ticket]:
            return [] if chunk == 5 else await read(partition, host, chunk)

        engine.store.read_chunk = deleted  # type: ignore[method-assign]
        await owner.take_over()
        owner.intake.search()
        await read_all(owner)
        owner.clock.pass_(10.0)
        await read_all(owner)
        assert [item.ticket.key for item in owner.partition.live.values()] == [ticket("b").key]
        assert owner.schedule.next_due() is not None, "its host has a turn"

    owned(case)


def test_a_robots_txt_that_another_host_asks_for_is_no_page_that_was_seen() -> None:
    """The mark of its URL would lose the page, if a link leads to it."""
    asking = ticket("robots.txt", kind="robots", origin="http://elsewhere.test")

    async def case(owner: Owner, engine: SimulatedEngine) -> None:
        await owner.intake.waiting.put([asking, ticket("a")])
        assert await engine.seen.seen([url_fingerprint(asking.key), url_fingerprint(ticket("a").key)]) == [False, True]

    owned(case)


def test_no_chunk_is_larger_than_it_may_be() -> None:
    async def case(owner: Owner, engine: SimulatedEngine) -> None:
        for first in (0, 2, 9):
            await owner.intake.waiting.put([ticket(str(first + number)) for number in range(2 + first)])
        chunks = await engine.store.chunks(0, "example.org")
        sizes = [len(await engine.store.read_chunk(0, "example.org", chunk)) for chunk in chunks]
        assert sum(sizes) == 17
        assert max(sizes) == owner.config.chunk_size

    owned(case)
