"""`Coordinator`: one owner, epochs that only grow, time that never goes back."""

import asyncio
from functools import partial

import msgspec

from gregor.schemas.messages import PartitionRecord, stamp
from gregor.worker.orders.model import NEWEST, REMEMBERED, By, Change, Order, Orders, record, take_back
from tests.contract.engines import PARTITIONS
from tests.contract.world import World, ordered, run


@run
async def test_a_lone_member_is_wanted_everywhere(world: World) -> None:
    engine = await world.open()
    assert engine.coordinator.wanted() == frozenset()
    await engine.coordinator.join()
    while engine.coordinator.wanted() != frozenset(range(PARTITIONS)):
        await engine.coordinator.changed()


@run
async def test_one_lease_of_a_partition_at_a_time(world: World) -> None:
    engine = await world.open()
    await engine.coordinator.join()
    first = await engine.coordinator.acquire(3, 0)
    assert first is not None
    assert (first.partition, first.holds()) == (3, True)
    assert await engine.coordinator.acquire(3, 0) is None
    await engine.coordinator.release(first)
    assert not first.holds()
    second = await engine.coordinator.acquire(3, 0)
    assert second is not None
    assert second.holds()
    assert not first.holds()
    assert second.epoch > first.epoch


@run
async def test_one_of_two_that_take_at_once_gets_it(world: World) -> None:
    engine = await world.open()
    await engine.coordinator.join()
    leases = await asyncio.gather(*[engine.coordinator.acquire(3, 0) for _ in range(4)])
    assert len([lease for lease in leases if lease is not None]) == 1


@run
async def test_releasing_an_old_lease_leaves_the_new_one(world: World) -> None:
    engine = await world.open()
    await engine.coordinator.join()
    first = await engine.coordinator.acquire(3, 0)
    assert first is not None
    await engine.coordinator.release(first)
    second = await engine.coordinator.acquire(3, 0)
    await engine.coordinator.release(first)
    assert second is not None
    assert second.holds()


@run
async def test_epochs_grow_beyond_all_that_were_given_or_stored(world: World) -> None:
    engine = await world.open()
    await engine.coordinator.join()
    lease = await engine.coordinator.acquire(3, 41)
    assert lease is not None
    assert lease.epoch > 41
    await engine.coordinator.release(lease)
    engine = await world.again()
    await engine.coordinator.join()
    again = await engine.coordinator.acquire(3, 0)
    assert again is not None
    assert again.epoch > lease.epoch
    await engine.store.put_partition(PartitionRecord(4, epoch=90), stamp(90, 1))
    engine = await world.again()
    if not engine.coordinator.wanted():
        await engine.coordinator.join()
    above = (await engine.store.partition(4)).epoch
    taken = await engine.coordinator.acquire(4, above)
    assert taken is not None
    assert taken.epoch > 90


@run
async def test_a_lease_ends_with_the_engine(world: World) -> None:
    engine = await world.open()
    await engine.coordinator.join()
    lease = await engine.coordinator.acquire(3, 0)
    assert lease is not None
    engine = await world.reopen()
    assert not lease.holds()
    await engine.coordinator.join()
    assert await engine.coordinator.acquire(3, lease.epoch) is not None


@run
async def test_whoever_leaves_is_wanted_nowhere(world: World) -> None:
    engine = await world.open()
    await engine.coordinator.join()
    await engine.coordinator.leave()
    assert engine.coordinator.wanted() == frozenset()


@run
async def test_time_goes_on_with_the_monotonic_clock_only(world: World) -> None:
    engine = await world.open()
    begin = engine.coordinator.now()
    world.clock.pass_(5.0)
    assert abs(engine.coordinator.now() - begin - 5.0) < 0.001
    world.clock.wall_now -= 3600.0
    assert abs(engine.coordinator.now() - begin - 5.0) < 0.001


@run
async def test_a_takeover_is_dated(world: World) -> None:
    engine = await world.open()
    await engine.coordinator.join()
    world.clock.pass_(2.0)
    lease = await engine.coordinator.acquire(3, 0)
    assert lease is not None
    assert abs(lease.taken_at - engine.coordinator.now()) < 0.001


@run
async def test_orders_are_kept_and_heard(world: World) -> None:
    engine = await world.open()
    assert engine.coordinator.orders() == Orders()
    orders = ordered(Order("pause"), Order("block", "bad.example"), Order("delay", "slow.example", 9.5))
    assert await engine.coordinator.change_orders(lambda _: orders) == orders
    engine = await world.again()
    while engine.coordinator.orders() != orders:
        await engine.coordinator.changed()
    await engine.coordinator.change_orders(lambda _: Orders())
    while engine.coordinator.orders() != Orders():
        await engine.coordinator.changed()


@run
async def test_changes_are_on_record_for_good(world: World) -> None:
    engine = await world.open()
    assert await engine.coordinator.changes(2**63, 10) == []
    total = 2 * REMEMBERED + 30
    for number in range(1, total + 1):
        by = By("ann", 1.8e9 + number, "why", "here", f"key {number}", number)
        orders = await engine.coordinator.change_orders(partial(record, what=f"change {number}", by=by, count=number))
        assert orders.version == number
    engine = await world.again()
    found: list[Change] = []
    while some := await engine.coordinator.changes(found[-1].number if found else 2**63, 70):
        assert len(some) <= 70
        found += some
    assert [one.number for one in found] == list(range(total, 0, -1))
    assert found[-1] == Change(1, 1.8e9 + 1, "ann", "here", "change 1", "why", 1, "key 1", 1)
    assert await engine.coordinator.changes(1, 10) == []
    unread = {"all of it": msgspec.msgpack.encode(b"garbage")}
    await engine.coordinator.change_orders(lambda _: Orders(unread=unread))  # as if nobody could read what stood there
    kept = await engine.coordinator.changes(NEWEST, total)  # what had been put aside
    by = By("ann", 1.9e9)
    orders = await engine.coordinator.change_orders(partial(record, what="after it", by=by))
    newest, *others = await engine.coordinator.changes(NEWEST, total)
    assert (newest.what, newest.number, orders.unread) == ("after it", orders.version, unread)
    assert (others, newest.number) == (kept, kept[0].number + 1 if kept else 1)


@run
async def test_what_a_later_version_ordered_stays(world: World) -> None:
    engine = await world.open()
    later = ordered(Order("pause"))
    later = msgspec.structs.replace(later, unread={"render a.example": msgspec.msgpack.encode({"kind": "render"})})
    await engine.coordinator.change_orders(lambda _: later)
    engine = await world.again()
    changed = await engine.coordinator.change_orders(partial(take_back, name="pause", by=By("ann", 1.8e9)))
    assert (changed.by_name, changed.unread) == ({}, later.unread)
    engine = await world.again()
    while engine.coordinator.orders() != changed:
        await engine.coordinator.changed()


@run
async def test_the_wall_clock_may_jump(world: World) -> None:
    engine = await world.open()
    before = engine.coordinator.now()
    for jump in (86_400.0, -2 * 86_400.0):
        world.clock.wall_now += jump
        assert engine.coordinator.now() == before
    world.clock.pass_(5.0)
    assert engine.coordinator.now() == before + 5.0
