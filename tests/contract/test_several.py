"""Several processes on one data folder: what the borders promise holds across all of them."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from gregor.partitioner.hashing import partition_of
from gregor.schemas.messages import stamp
from gregor.worker.adapters.embedded import Board, EmbeddedEngine, FolderInUse, ProcessPlace, open_engine
from gregor.worker.orders.model import Order
from tests.contract.engines import PARTITIONS
from tests.contract.test_store import page, row
from tests.contract.world import ManualClock, ordered, ticket

PLACES = 2


class Several(NamedTuple):
    """The engine of the one that begins the others, and theirs."""

    first: EmbeddedEngine
    places: list[EmbeddedEngine]


@asynccontextmanager
async def several(folder: Path) -> AsyncIterator[Several]:
    clock = ManualClock()
    first = await open_engine(folder, PARTITIONS, "rules 1", clock, shared=True)
    board = Board.make(PLACES)
    places: list[EmbeddedEngine] = []
    try:
        for number in range(PLACES):
            place = ProcessPlace(number, PLACES, first.coordinator.origin, first.lock, board.descriptor)
            places.append(await open_engine(folder, PARTITIONS, "rules 1", clock, place=place))
            await places[-1].coordinator.join()
        yield Several(first, places)
    finally:
        for engine in (*places, first):
            await engine.close()
        board.close()


def run(case: Callable[[Several], Awaitable[None]]) -> Callable[[Path], None]:
    async def whole(folder: Path) -> None:
        async with asyncio.timeout(30), several(folder) as engines:
            await case(engines)

    def test(tmp_path: Path) -> None:
        asyncio.run(whole(tmp_path / "crawl"))

    test.__name__, test.__doc__ = case.__name__, case.__doc__
    return test


@run
async def test_a_partition_is_of_one_place(engines: Several) -> None:
    first, second = (engine.coordinator for engine in engines.places)
    assert first.wanted() | second.wanted() == frozenset(range(PARTITIONS))
    assert not first.wanted() & second.wanted()
    assert not engines.first.coordinator.held()
    mine = min(first.wanted())
    assert await second.acquire(mine, 0) is None
    lease = await first.acquire(mine, 0)
    assert lease is not None
    assert lease.holds()


@run
async def test_epochs_grow_from_process_to_process(engines: Several) -> None:
    mine = min(engines.places[0].coordinator.wanted())
    lease = await engines.places[0].coordinator.acquire(mine, 0)
    assert lease is not None
    await engines.places[0].coordinator.close()
    assert not lease.holds()
    assert lease.epoch < (await _next_epoch(engines, mine))


async def _next_epoch(engines: Several, partition: int) -> int:
    """That of the process which has the place next."""
    database = engines.places[0]._database
    return int(
        database.read(
            lambda c: c.execute("SELECT epoch + 1 FROM epochs WHERE partition = ?", (partition,)).fetchone()[0]
        )
    )


@run
async def test_offsets_are_dense_whoever_appends(engines: Several) -> None:
    tickets = [ticket(str(number)) for number in range(20)]
    for number, told in enumerate(tickets):
        await engines.places[number % PLACES].log.publish([told])
    await asyncio.gather(*(engines.places[n % PLACES].log.publish([ticket(f"more{n}")]) for n in range(20)))
    partition = partition_of("example.org", PARTITIONS)
    for engine in (*engines.places, engines.first):
        found = await engine.log.read(partition, tickets[0].priority, 0, 100)
        assert [record.offset for record in found] == list(range(40))
        assert (await engine.log.ends(partition))[tickets[0].priority] == 40


@run
async def test_an_owner_hears_of_what_others_publish(engines: Several) -> None:
    partition = partition_of("example.org", PARTITIONS)
    owner, other = engines.places if engines.places[0].coordinator.wanted() >= {partition} else engines.places[::-1]
    heard = asyncio.Event()
    owner.log.on_news(lambda number: heard.set() if number == partition else None)
    assert await owner.coordinator.acquire(partition, 0) is not None
    await heard.wait()  # the first look tells of what was there
    for publisher in (other, engines.first):
        heard.clear()
        await publisher.log.publish([ticket("found")])
        await heard.wait()


@run
async def test_one_of_all_claims_a_content(engines: Several) -> None:
    keys = [f"http://example.org/{number}" for number in range(6)]
    owners = await asyncio.gather(
        *(engines.places[number % PLACES].seen.claim(b"content", key) for number, key in enumerate(keys))
    )
    assert len(set(owners)) == 1
    assert owners[0] in keys


@run
async def test_time_and_orders_are_the_same_for_all(engines: Several) -> None:
    times = {engine.coordinator.now() for engine in (*engines.places, engines.first)}
    assert len(times) == 1
    orders = ordered(Order("block", "example.org"))
    await engines.first.coordinator.change_orders(lambda _: orders)
    for engine in engines.places:
        while not engine.coordinator.orders().by_name:
            await engine.coordinator.changed()


@run
async def test_what_is_stored_is_counted_for_all(engines: Several) -> None:
    place = engines.places[0]
    await place.store.put_page(page(), None, None, stamp(1, 1))
    await place.store.put_rows([row(page=1)], stamp(1, 2))
    assert [engine.stored()["pages_200"] for engine in (*engines.places, engines.first)] == [1, 1, 1]


@run
async def test_the_folder_is_held_as_long_as_one_of_them_lives(engines: Several) -> None:
    kept = os.dup(engines.first.lock)  # as a process has it that inherited it
    folder = engines.first._folder.path
    engines.first._folder.close()
    with pytest.raises(FolderInUse):
        await open_engine(folder, PARTITIONS, "rules 1", ManualClock())
    os.close(kept)
    again = await open_engine(folder, PARTITIONS, "rules 1", ManualClock())
    await again.close()
