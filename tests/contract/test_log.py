"""`FrontierLog`: dense offsets, watermarks that are committed before anything is deleted, nothing skipped."""

import asyncio
import random

from gregor.partitioner.hashing import partition_of
from gregor.schemas.messages import PRIORITIES, Ticket
from gregor.worker.borders.log import FrontierLog, Unreadable
from tests.contract.engines import PARTITIONS
from tests.contract.world import World, run, ticket

HOST = "example.org"
HOME = partition_of(HOST, PARTITIONS)


async def paths(log: FrontierLog, offset: int, limit: int = 100, priority: int = 2) -> list[tuple[int, str]]:
    records = await log.read(HOME, priority, offset, limit)
    return [(record.offset, urls(record.ticket)) for record in records]


def urls(found: Ticket | Unreadable) -> str:
    assert isinstance(found, Ticket)
    return found.key.rpartition("/")[2]


@run
async def test_an_empty_partition_starts_and_ends_at_nought(world: World) -> None:
    engine = await world.open()
    nought = dict.fromkeys(PRIORITIES, 0)
    assert await engine.log.starts(3) == nought
    assert await engine.log.ends(3) == nought
    assert await engine.log.committed(3) == nought
    assert await engine.log.read(3, 1, 0, 10) == []


@run
async def test_records_come_back_as_they_were_in_order_by_host_and_priority(world: World) -> None:
    engine = await world.open()
    first = ticket("a", depth=3, via="http://example.org/", label="x", link="a")
    await engine.log.publish([first, ticket("b"), ticket("c", priority=1)])
    await engine.log.publish([ticket("d")])
    engine = await world.again()
    assert await paths(engine.log, 0) == [(0, "a"), (1, "b"), (2, "d")]
    assert await paths(engine.log, 0, priority=1) == [(0, "c")]
    assert (await engine.log.read(HOME, 2, 0, 1))[0].ticket == first
    assert await engine.log.ends(HOME) == {1: 1, 2: 3, 3: 0, 4: 0}


@run
async def test_each_host_goes_to_its_partition(world: World) -> None:
    engine = await world.open()
    hosts = [f"h{number}.example" for number in range(50)]
    await engine.log.publish([ticket("", host) for host in hosts])
    engine = await world.again()
    for partition in range(PARTITIONS):
        found = [record.ticket for record in await engine.log.read(partition, 2, 0, 100)]
        assert [entry.host for entry in found if isinstance(entry, Ticket)] == [
            host for host in hosts if partition_of(host, PARTITIONS) == partition
        ]


@run
async def test_reading_is_limited_and_goes_on(world: World) -> None:
    engine = await world.open()
    await engine.log.publish([ticket(str(number)) for number in range(25)])
    engine = await world.again()
    found: list[tuple[int, str]] = []
    while part := await paths(engine.log, len(found), 10):
        assert len(part) <= 10
        found += part
    assert found == [(number, str(number)) for number in range(25)]


@run
async def test_offsets_stay_dense_when_publications_overlap(world: World) -> None:
    engine = await world.open()
    await asyncio.gather(*[engine.log.publish([ticket(f"{n}.{part}") for part in range(3)]) for n in range(40)])
    engine = await world.again()
    found = await paths(engine.log, 0, 1000)
    assert [offset for offset, _ in found] == list(range(120))
    assert len({path for _, path in found}) == 120


@run
async def test_a_commit_is_remembered_and_priorities_are_apart(world: World) -> None:
    engine = await world.open()
    await engine.log.publish([ticket("a"), ticket("b"), ticket("c", priority=4)])
    await engine.log.commit(HOME, {2: 1}, epoch=1)
    engine = await world.again()
    assert await engine.log.committed(HOME) == {1: 0, 2: 1, 3: 0, 4: 0}
    assert await paths(engine.log, 1) == [(1, "b")]
    assert await paths(engine.log, 0, priority=4) == [(0, "c")]


@run
async def test_nothing_at_or_above_a_committed_watermark_is_ever_missing(world: World) -> None:
    engine = await world.open()
    await engine.log.publish([ticket(str(number)) for number in range(30)])
    for watermark in (5, 12, 20):
        await engine.log.commit(HOME, {2: watermark}, epoch=1)
    engine = await world.again()
    start = (await engine.log.starts(HOME))[2]
    assert start <= 20
    assert await paths(engine.log, 20) == [(number, str(number)) for number in range(20, 30)]
    assert [offset for offset, _ in await paths(engine.log, start)] == list(range(start, 30))


@run
async def test_offsets_never_start_again_when_all_is_finished(world: World) -> None:
    engine = await world.open()
    await engine.log.publish([ticket("a"), ticket("b")])
    await engine.log.commit(HOME, {2: 2}, epoch=1)
    engine = await world.again()
    assert (await engine.log.ends(HOME))[2] == 2
    assert (await engine.log.starts(HOME))[2] <= 2
    await engine.log.publish([ticket("c")])
    engine = await world.again()
    assert await paths(engine.log, 2) == [(2, "c")]
    assert (await engine.log.ends(HOME))[2] == 3


@run
async def test_a_late_commit_makes_records_be_read_again_at_most(world: World) -> None:
    engine = await world.open()
    await engine.log.publish([ticket(str(number)) for number in range(6)])
    await engine.log.commit(HOME, {2: 5}, epoch=2)
    await engine.log.commit(HOME, {2: 1}, epoch=1)
    engine = await world.again()
    begin = max((await engine.log.committed(HOME))[2], (await engine.log.starts(HOME))[2])
    assert begin <= 5
    assert [offset for offset, _ in await paths(engine.log, begin)] == list(range(begin, 6))
    assert (await engine.log.ends(HOME))[2] == 6


@run
async def test_a_repeated_commit_changes_nothing(world: World) -> None:
    engine = await world.open()
    await engine.log.publish([ticket("a"), ticket("b")])
    for _ in range(2):
        await engine.log.commit(HOME, {2: 1}, epoch=1)
    engine = await world.again()
    assert (await engine.log.committed(HOME))[2] == 1
    assert await paths(engine.log, 1) == [(1, "b")]


@run
async def test_news_of_a_publication_come_when_it_can_be_read(world: World) -> None:
    engine = await world.open()
    heard = asyncio.Event()

    def hear(partition: int) -> None:
        if partition == HOME:
            heard.set()

    engine.log.on_news(hear)
    await engine.log.publish([ticket("a")])
    await heard.wait()
    assert await paths(engine.log, 0) == [(0, "a")]


@run
async def test_publishing_nothing_is_nothing(world: World) -> None:
    engine = await world.open()
    await engine.log.publish([])
    engine = await world.again()
    assert await engine.log.ends(HOME) == dict.fromkeys(PRIORITIES, 0)


@run
async def test_it_behaves_like_a_list_that_loses_only_what_is_below_its_watermark(world: World) -> None:
    engine = await world.open()
    chance = random.Random(1)
    model: dict[int, list[str]] = {priority: [] for priority in PRIORITIES}
    watermarks = dict.fromkeys(PRIORITIES, 0)
    for step in range(60):
        if chance.random() < 0.6:
            batch = [ticket(f"{step}.{n}", priority=chance.choice(PRIORITIES)) for n in range(chance.randrange(1, 30))]
            await engine.log.publish(batch)
            for published in batch:
                model[published.priority].append(urls(published))
        else:
            priority = chance.choice(PRIORITIES)
            watermarks[priority] = chance.randint(watermarks[priority], len(model[priority]))
            await engine.log.commit(HOME, {priority: watermarks[priority]}, epoch=1)
        if step % 10 == 9:
            engine = await world.again()
        assert await engine.log.ends(HOME) == {priority: len(urls_) for priority, urls_ in model.items()}
        assert await engine.log.committed(HOME) == watermarks
    starts = await engine.log.starts(HOME)
    for priority, published_urls in model.items():
        assert starts[priority] <= watermarks[priority]
        begin = watermarks[priority]
        assert await paths(engine.log, begin, 10_000, priority) == list(enumerate(published_urls))[begin:]
