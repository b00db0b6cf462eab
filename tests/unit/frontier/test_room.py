"""What memory holds of a partition: shares of topics, followers, entries that follow; what has no room waits."""

import asyncio
from typing import Any

import msgspec
import pytest

from gregor.schemas.messages import PRIORITIES, Ticket, url_fingerprint
from gregor.worker.borders.store import Entry
from gregor.worker.frontier.partition import MOST_FOLLOWERS
from gregor.worker.frontier.queue_item import FromBucket, FromLog
from gregor.worker.links.rank import Judged, Rank
from tests.contract.world import ticket
from tests.simulation.contract import SimulatedEngine
from tests.unit.frontier.test_intake import owned
from tests.unit.owner import CAPACITY, Owner


async def read_all(owner: Owner, steps: int = 40) -> None:
    """Read as long as anything is read, without a visit."""
    for _ in range(steps):
        owner.intake.news()
        if not await owner.intake.step():
            return


def test_a_topic_has_its_share_of_memory_and_no_more() -> None:
    share = CAPACITY // len(PRIORITIES)
    tickets = [ticket("a", host=f"h{number}", priority=1) for number in range(3 * share)]

    async def case(owner: Owner, engine: SimulatedEngine) -> None:
        await read_all(owner)
        assert owner.partition.load[1] == share
        await engine.log.publish([ticket("b", host="other", priority=3)])
        await read_all(owner)
        assert owner.partition.load[3] == 1, "the others have theirs"

    owned(case, *tickets, window=1000)


def test_no_more_is_read_than_the_window_spans() -> None:
    async def case(owner: Owner, engine: SimulatedEngine) -> None:
        for _ in range(4):
            owner.intake.news()
            await owner.intake.step()
            assert owner.partition.marks[1].span <= 16, "followers take no room of their topic's, but of the window"

    owned(case, *[ticket("a", priority=1)] * 40, window=16)


def test_memory_full_of_hosts_that_wait_is_relieved_while_the_worker_idles() -> None:
    tickets = [ticket("a", host=f"h{number}", priority=1) for number in range(40)]

    async def case(owner: Owner, engine: SimulatedEngine) -> None:
        await read_all(owner)
        assert owner.partition.marks[1].position < 40
        owner.schedule.idle = True
        await read_all(owner)
        assert owner.partition.marks[1].position == 40
        assert owner.partition.marks[1].low > 0, "what waits is finished"
        await owner.work()
        assert len(owner.visited) == 40

    owned(case, *tickets, window=1000)


def test_what_sank_is_not_taken_before_what_is_published_is_read() -> None:
    """However slowly it is read: else a busy machine would fetch other pages than an idle one."""
    sunk = [ticket(f"cal?m={number}", host="h", priority=4) for number in range(3)]

    async def case(owner: Owner, engine: SimulatedEngine) -> None:
        owner.partition.judge = lambda ticket: Judged(Rank.SUNK if "cal" in ticket.key else Rank.OPEN)
        await read_all(owner)
        host = owner.partition.hosts["h"]
        assert (await owner.intake.next_of(host)) is not None, "nothing better was published"
        await engine.log.publish([ticket("better", host="h", priority=1)])
        owner.intake.news()
        taking = asyncio.create_task(owner.intake.next_of(host))
        await asyncio.sleep(0.01)
        assert not taking.done()
        await owner.intake.step()
        assert not taking.done(), "there may be more"
        await owner.intake.step()
        item = await taking
        assert item is not None
        assert item.ticket.key.endswith("better")

    owned(case, *sunk, window=1000)


@pytest.mark.parametrize(("ahead", "ordered"), [(-5.0, -5.0), (1800.0, 0.0)])
def test_what_was_ordered_by_a_clock_that_is_ahead_was_ordered_now(ahead: float, ordered: float) -> None:
    """Else what came after the order, as a robots.txt read anew, would look older than it."""

    async def case(owner: Owner, engine: SimulatedEngine) -> None:
        now = owner.clock.wall()
        asked = msgspec.structs.replace(ticket("a"), kind="revisit", visit=1, ordered=now + ahead)
        await engine.store.put_entries(0, [Entry(int(now) - 5, asked)], 1)
        owner.intake.search()
        await owner.intake.step()
        (item,) = owner.partition.live.values()
        assert item.ticket.ordered == now + ordered

    owned(case)


def test_followers_are_bounded_and_the_others_wait() -> None:
    count = 3 * MOST_FOLLOWERS

    async def case(owner: Owner, engine: SimulatedEngine) -> None:
        await read_all(owner)
        (item,) = owner.partition.live.values()
        assert sum(isinstance(source, FromLog) for source in item.followers) == MOST_FOLLOWERS
        assert owner.partition.marks[2].position == count
        assert await engine.store.chunks(0, ticket("a").host), "those beyond went to waiting"
        await owner.work()
        assert owner.visited == {ticket("a").key: 1}

    owned(case, *[ticket("a")] * count, window=1000)


def test_a_back_queue_takes_as_many_as_it_may_and_the_others_wait() -> None:
    async def case(owner: Owner, engine: SimulatedEngine) -> None:
        await read_all(owner)
        assert len(owner.partition.live) == owner.config.queue_size
        assert await engine.store.chunks(0, ticket("a").host)

    owned(case, *[ticket(str(number)) for number in range(12)], window=1000)


def test_who_asks_for_another_hosts_robots_txt_is_not_taken_for_seen() -> None:
    """It may be a page of the crawl too, that was seen."""
    asking = msgspec.structs.replace(ticket("robots.txt"), kind="robots", origin="http://elsewhere.test")

    async def case(owner: Owner, engine: SimulatedEngine) -> None:
        await engine.seen.mark([url_fingerprint(asking.key)])
        await read_all(owner)
        assert list(owner.partition.live) == [asking.identity]

    owned(case, asking)


def test_the_next_redirect_of_a_robots_txt_is_asked_though_the_one_before_it_is_live() -> None:
    """It is published by the visit of that one, and would be finished with it if it were taken for the same ask."""
    first = msgspec.structs.replace(ticket("r3"), kind="robots", origin="http://elsewhere.test", hops=3)
    way = [first, msgspec.structs.replace(first, hops=4), msgspec.structs.replace(ticket("r4"), kind="robots", hops=5)]
    way = [msgspec.structs.replace(one, origin=first.origin) for one in way]

    async def case(owner: Owner, engine: SimulatedEngine) -> None:
        await read_all(owner)
        assert list(owner.partition.live) == [one.identity for one in way]
        assert len({one.id for one in way}) == len(way), "nor in the calendar"

    owned(case, *way)


def test_a_host_that_waits_for_another_ones_answer_is_asked_at_once_by_that_one() -> None:
    page = ticket("a")
    asking = msgspec.structs.replace(ticket("r1"), kind="robots", origin="http://elsewhere.test", hops=1)

    async def case(owner: Owner, engine: SimulatedEngine) -> None:
        await read_all(owner)
        host = owner.partition.hosts[page.host]
        owner.schedule.remove(host)
        waiting = host.queue.take()
        assert waiting is not None
        host.queue.put_back(waiting)
        now = owner.clock.monotonic()
        for looks, due in ((False, now + 30.0), (True, now)):
            host.next_turn, host.looks = now + 30.0, looks
            owner.schedule.see(owner.partition, host)
            await engine.log.publish([msgspec.structs.replace(asking, hops=2 + looks)])
            await read_all(owner)
            assert (host.next_turn, owner.schedule.next_due()) == (due, due)
        assert host.queue.take() is not waiting, "its own would only look again"

    owned(case, page)


def test_an_entry_that_followed_a_ticket_which_moves_to_the_calendar_itself_is_asked_again() -> None:
    retry = msgspec.structs.replace(ticket("a"), visit=1, kind="retry")

    async def case(owner: Owner, engine: SimulatedEngine) -> None:
        now = int(owner.clock.wall())
        first, second = now - 9, now - 8
        await engine.store.put_entries(0, [Entry(first, retry), Entry(second, retry)], 1)
        owner.intake.search()
        await read_all(owner)
        (item,) = owner.partition.live.values()
        assert (item.source, item.followers) == (FromBucket(first), [FromBucket(second)])
        owner.intake.finish(item, moved=True)
        (back,) = owner.partition.live.values()
        assert back.source == FromBucket(second)
        assert owner.partition.calendar.finished() == [first], "the bucket of an entry that is not done stays"
        owner.intake.finish(back)
        assert owner.partition.calendar.finished() == [first, second]

    owned(case)


def test_twins_of_one_chunk_finish_one_by_one() -> None:
    """Their sources are equal: taken for one, the chunk would stay open, and the crawl with it."""
    twins = [msgspec.structs.replace(ticket("a"), depth=depth) for depth in (4, 3)]

    async def case(owner: Owner, engine: SimulatedEngine) -> None:
        await owner.intake.waiting.put(twins)
        await read_all(owner)
        (item,) = owner.partition.live.values()
        assert item.followers == [item.source]
        owner.intake.finish(item, moved=True)
        (back,) = owner.partition.live.values()
        assert not owner.partition.finished_chunks, "one of its tickets is to be asked again"
        owner.intake.finish(back)
        assert owner.partition.finished_chunks == [item.source]

    owned(case)


def test_a_chunk_that_is_being_written_counts_before_its_write() -> None:
    """Whoever reads meanwhile seals it first: nothing is appended to a chunk that was read."""

    async def case(owner: Owner, engine: SimulatedEngine) -> None:
        held: list[bool] = []
        put = engine.store.put_chunk

        async def noted(partition: int, host: str, chunk: int, tickets: list[Ticket], stamp: int) -> None:
            backlog = owner.partition.host(host).backlog
            assert backlog is not None
            held.append(backlog.to_read)
            await put(partition, host, chunk, tickets, stamp)

        engine.store.put_chunk = noted  # type: ignore[method-assign,assignment]
        await owner.intake.waiting.put([ticket("a")])
        assert held == [True]

    owned(case)


def test_who_appends_first_knows_the_chunks_of_an_earlier_owner() -> None:
    async def case(owner: Owner, engine: SimulatedEngine) -> None:
        await engine.store.put_chunk(0, "example.org", 5, [ticket("a")], 1)
        await owner.take_over()  # again: as a later owner
        assert owner.partition.lease.epoch > 1
        await owner.intake.waiting.put([ticket("b")])
        backlog = owner.partition.host("example.org").backlog
        assert backlog is not None
        assert backlog.stream(0).next_chunk() == 5

    owned(case)


def test_a_host_with_a_backlog_is_named_by_the_calendar_once() -> None:
    async def case(owner: Owner, engine: SimulatedEngine) -> None:
        await owner.intake.waiting.put([ticket("a"), ticket("b")])
        owner.clock.pass_(10.0)
        await owner.intake.waiting.put([ticket("c")])
        entries: list[Any] = []
        for bucket in await engine.store.buckets(0, 0, 2**53, 99):
            entries += await engine.store.read_bucket(0, bucket)
        assert [(entry.kind, entry.host) for entry in entries] == [("wake", "example.org")]

    owned(case)
