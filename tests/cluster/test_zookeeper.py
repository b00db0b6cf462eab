"""What is particular to the coordinator on ZooKeeper: several workers, lost sessions, a server that is away."""

import asyncio
import contextlib
import functools
import random
import shutil
import ssl
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack
from types import SimpleNamespace
from typing import Any, TypeVar

import msgspec
import pytest
import trustme
from kazoo.client import KazooClient
from kazoo.exceptions import ConnectionDropped, NotEmptyError, SessionExpiredError
from kazoo.protocol.connection import ConnectionHandler
from kazoo.protocol.serialization import Connect

from gregor.worker.adapters.cluster import status
from gregor.worker.adapters.cluster.coordinator import ClusterCoordinator
from gregor.worker.adapters.cluster.lease import ClusterLease, Session
from gregor.worker.adapters.cluster.zookeeper_client import ZooKeeper, ZooKeeperFailed
from gregor.worker.adapters.cluster.zookeeper_connect import make_client
from gregor.worker.base.errors import BadInput
from gregor.worker.base.tasks import cancel
from gregor.worker.borders.errors import Unavailable
from gregor.worker.borders.members import WorkerStatus
from gregor.worker.compose.housekeeping import keep_house
from gregor.worker.compose.process import SystemClock
from gregor.worker.config.servers import Servers
from gregor.worker.config.settings import Config
from gregor.worker.observe.stats import Stats
from gregor.worker.orders import codec as orders_codec
from gregor.worker.orders.model import Order, Orders
from tests.cluster.conftest import stoppable
from tests.cluster.servers import Service
from tests.cluster.zookeeper_engine import ZooKeeperFactory
from tests.contract.engines import PARTITIONS
from tests.contract.world import ManualClock, ordered

T = TypeVar("T")
ALL = frozenset(range(PARTITIONS))


class Crawl:
    """A crawl and its workers, which end with it."""

    def __init__(self, service: Service, stack: AsyncExitStack, **settings: Any) -> None:
        self.service = service
        self.settings = msgspec.structs.replace(
            Servers(zookeeper=service.addresses, session_timeout=6.0, server_timeout=5.0), **settings
        )
        self.factory = ZooKeeperFactory(self.settings)
        self.clock = SystemClock()
        self._stack = stack

    async def worker(self, name: str, *, joins: bool = True, **settings: Any) -> ClusterCoordinator:
        mine = msgspec.structs.replace(self.settings, **settings)
        worker = await self.factory.worker(name, self.clock, mine)
        self._stack.push_async_callback(worker.close)
        if joins:
            await worker.join()
        return worker


def over(**settings: Any) -> Callable[[Callable[[Crawl], Awaitable[None]]], Callable[[Service], None]]:
    """Make a case a test over a crawl of its own."""

    def make(case: Callable[[Crawl], Awaitable[None]]) -> Callable[[Service], None]:
        def test(zookeeper: Service) -> None:
            async def whole() -> None:
                async with asyncio.timeout(60), AsyncExitStack() as stack:
                    await case(Crawl(zookeeper, stack, **settings))

            asyncio.run(whole())

        test.__doc__ = case.__doc__
        return test

    return make


async def until(met: Callable[[], bool], *workers: ClusterCoordinator) -> None:
    """Wait for what the workers hear; nothing else wakes it."""
    while not met():
        waiting = [asyncio.create_task(worker.changed()) for worker in workers]
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        for task in waiting:
            task.cancel()
        await asyncio.wait(waiting)


async def take(worker: ClusterCoordinator, partition: int) -> ClusterLease:
    """Take a partition as soon as it can be had."""
    while True:
        try:
            if (lease := await worker.acquire(partition, 0)) is not None:
                return lease
            await worker.changed()
        except Unavailable:
            continue


async def patiently(call: Callable[[], Coroutine[Any, Any, T]]) -> T:
    while True:
        try:
            return await call()
        except Unavailable:
            continue


def session_of(worker: ClusterCoordinator) -> Session:
    session = worker._zookeeper.session
    assert session is not None
    return session


def kazoo_of(worker: ClusterCoordinator) -> KazooClient:
    return worker._zookeeper._client


async def expire(worker: ClusterCoordinator) -> None:
    """End a worker's session at the server, as if it had been silent for too long."""
    number, secret = kazoo_of(worker).client_id

    def steal() -> None:
        thief = KazooClient(",".join(worker._zookeeper._servers.zookeeper), client_id=(number, secret))
        thief.start()
        thief.stop()
        thief.close()

    await asyncio.to_thread(steal)


@over()
async def test_members_share_the_partitions_and_few_move(crawl: Crawl) -> None:
    first = await crawl.worker("a")
    await until(lambda: first.wanted() == ALL, first)
    second = await crawl.worker("b")
    await until(lambda: len(second.wanted()) == 4, second)
    await until(lambda: first.wanted() == ALL - second.wanted(), first, second)
    heavy = await crawl.worker("c", worker_weight=2)
    await until(lambda: len(heavy.wanted()) == 4, heavy)
    await until(lambda: len(first.wanted()) == 2, first)
    await until(lambda: len(second.wanted()) == 2, second)
    await first.leave()
    assert first.wanted() == frozenset()
    await until(lambda: len(second.wanted()) in (2, 3) and second.wanted() == ALL - heavy.wanted(), second, heavy)


@over()
async def test_the_lead_is_handed_on(crawl: Crawl) -> None:
    workers = [await crawl.worker(name) for name in "abc"]
    await until(lambda: len(workers[2].wanted()) >= 2, workers[2])
    await workers[0].close()
    await workers[1].close()
    await until(lambda: workers[2].wanted() == ALL, workers[2])


@over()
async def test_a_partition_is_handed_over_when_its_owner_lets_go(crawl: Crawl) -> None:
    first = await crawl.worker("a")
    lease = await take(first, 3)
    second = await crawl.worker("b")
    assert await second.acquire(3, 0) is None
    waiting = asyncio.create_task(take(second, 3))
    await first.release(lease)
    taken = await waiting
    assert taken.epoch > lease.epoch
    assert (taken.holds(), lease.holds()) == (True, False)
    assert await first.acquire(3, 99) is None


@over()
async def test_what_a_dead_worker_owned_can_be_taken_when_its_session_ends(crawl: Crawl) -> None:
    first, second = await crawl.worker("a"), await crawl.worker("b")
    lease = await take(first, 3)
    assert await second.acquire(3, 0) is None
    await expire(first)
    assert (await take(second, 3)).epoch > lease.epoch
    await until(lambda: second.wanted() == ALL, second)


@over()
async def test_a_session_that_was_replaced_has_no_leases(crawl: Crawl) -> None:
    worker = await crawl.worker("a")
    lease, session = await take(worker, 3), session_of(worker)
    await until(lambda: worker.wanted() == ALL, worker)
    await expire(worker)
    await until(lambda: not lease.holds() and worker.wanted() == frozenset(), worker)
    # kazoo has a new session by itself: what was asked in it must not prolong the old one.
    await patiently(worker.join)
    assert session_of(worker) is not session
    assert session.lost
    await until(lambda: worker.wanted() == ALL, worker)
    await worker.release(lease)
    again = await take(worker, 3)
    assert (again.holds(), lease.holds(), again.epoch > lease.epoch) == (True, False, True)


@over(session_timeout=2.0, lease_margin=0.5)
async def test_a_worker_cut_off_stops_before_another_may_begin(crawl: Crawl) -> None:
    """The server is stopped: nobody tells the worker anything, and it stops by its own clock."""
    service = stoppable(crawl.service)
    worker = await crawl.worker("a")
    lease, session = await take(worker, 3), session_of(worker)
    await until(lambda: worker.wanted() == ALL, worker)
    await asyncio.to_thread(service.nodes[0].pause)
    try:
        stopped = crawl.clock.monotonic()
        await until(lambda: not lease.holds(), worker)
        over = crawl.clock.monotonic()
        # No request sent after the stop can have been answered, so the end is known from before it.
        assert session.end <= stopped + 1.5 + 0.1
        assert session.end <= over < session.end + 1.0
        with pytest.raises(Unavailable, match="ZooKeeper"):
            await worker.release(lease)
    finally:
        await asyncio.to_thread(service.nodes[0].resume)
    other = await crawl.worker("b")
    assert (await take(other, 3)).epoch > lease.epoch
    assert not lease.holds()


@over(session_timeout=2.0, lease_margin=0.5)
async def test_whatever_asks_in_vain_is_counted(crawl: Crawl) -> None:
    """What a worker says of itself, and what keeps its leases: both ask without being asked."""
    service, stats = stoppable(crawl.service), Stats()
    engine: Any = await crawl.factory.open(crawl.clock)
    runtime: Any = SimpleNamespace(stats=stats, name="a", owned={})
    house = asyncio.create_task(keep_house(Config(), engine, runtime, "", lambda _: None))
    said = ("coordinator", "put_status")
    # One that succeeded: on a busy machine the first may fail.
    while said not in stats.calls or stats.calls[said].count == stats.failed_calls[said]:  # noqa: ASYNC110
        await asyncio.sleep(0.05)
    failed, unavailable = stats.failed_calls[said], stats.unavailable["ZooKeeper"]
    await asyncio.to_thread(service.nodes[0].pause)
    try:
        while not 0 < stats.failed_calls[said] - failed < stats.unavailable["ZooKeeper"] - unavailable:
            assert not house.done()
            await asyncio.sleep(0.05)
    finally:
        await asyncio.to_thread(service.nodes[0].resume)
        await cancel([house])
        await engine.close()
    assert stats.failed_calls.total() == stats.failed_calls[said]


@over(session_timeout=2.0, lease_margin=0.5)
async def test_leases_last_as_long_as_the_server_answers(crawl: Crawl) -> None:
    worker = await crawl.worker("a")
    lease, session = await take(worker, 3), session_of(worker)
    first = session.end
    while session.end < first + 2.0:
        assert lease.holds()
        await asyncio.sleep(0.05)


@over(session_timeout=10.0)
async def test_sessions_and_leases_outlive_a_restart(crawl: Crawl) -> None:
    service = stoppable(crawl.service)
    worker = await crawl.worker("a")
    lease, session = await take(worker, 3), session_of(worker)
    await until(lambda: worker.wanted() == ALL, worker)
    await asyncio.to_thread(functools.partial(service.restart, kill=True))
    paused, begin = ordered(Order("pause")), crawl.clock.monotonic()
    await patiently(lambda: worker.change_orders(lambda _: paused))
    assert session_of(worker) is session
    assert session.end >= begin + crawl.settings.session_timeout - crawl.settings.lease_margin
    assert lease.holds()
    assert worker.wanted() == ALL
    other = await crawl.worker("b")
    await until(lambda: worker.wanted() == ALL - other.wanted() != ALL, worker, other)  # its watches are set again
    await other.change_orders(lambda _: Orders())
    await until(lambda: worker.orders() == Orders(), worker)


@over()
async def test_orders_outlive_the_node_that_keeps_them(crawl: Crawl) -> None:
    """Whoever deletes it, or makes it anew, unblocks nobody; what nobody can read changes nothing."""
    one, two = await crawl.worker("a"), await crawl.worker("b")
    orders, path = ordered(Order("pause"), Order("block", "bad.example")), one._tree.orders
    client = kazoo_of(one)

    async def kept() -> bytes:
        found = await one._zookeeper.get(path)
        return b"" if found is None else found[0]

    await one.change_orders(lambda _: orders)
    await until(lambda: two.orders() == orders, one, two)
    for spoil in (functools.partial(client.delete, path), functools.partial(client.set, path, b"")):
        await asyncio.to_thread(spoil)
        while orders_codec.read(await kept()) != orders:  # noqa: ASYNC110 - orders that stay are told to nobody
            await asyncio.sleep(0.05)
    assert one.orders() == two.orders() == orders
    await asyncio.to_thread(client.set, path, b"nobody reads this")
    await until(lambda: bool(one.orders().unread and two.orders().unread), one, two)
    assert one.orders().by_name == two.orders().by_name == orders.by_name
    more = ordered(*orders.by_name.values(), Order("block", "other.example"))
    await asyncio.to_thread(client.set, path, orders_codec.encoded(more))
    await until(lambda: one.orders() == two.orders() == more, one, two)  # heard: the watches are set again


@over()
async def test_workers_outlive_the_tree_and_go_on_once_it_is_made_anew(crawl: Crawl) -> None:
    """Without a tree nobody owns anything, and nobody ends; what was ordered still stands in the new one."""
    one, two = await crawl.worker("a"), await crawl.worker("b")
    orders, tree = ordered(Order("pause"), Order("block", "bad.example")), crawl.factory.tree
    await one.change_orders(lambda _: orders)
    await until(lambda: two.orders() == orders and one.wanted() | two.wanted() == ALL, one, two)
    lease = await take(one, 3)

    def delete() -> None:
        with contextlib.suppress(NotEmptyError):  # a worker put the orders back meanwhile
            kazoo_of(one).delete(tree.crawl, recursive=True)

    while await one._zookeeper.exists(tree.crawl) is not None:
        await asyncio.to_thread(delete)
    await until(lambda: not one.wanted() | two.wanted(), one, two)
    for ask in (one.join, functools.partial(one.put_status, WorkerStatus(name="a", at=1.0)), one._look):
        with pytest.raises(Unavailable, match=r"above .* is gone: run `gregor init`"):
            await ask()
    await one.release(lease)
    assert await crawl.factory.set_up(crawl.clock)
    for worker in (one, two):
        await patiently(worker.join)
    await until(lambda: (one.wanted() | two.wanted(), one.wanted() & two.wanted()) == (ALL, frozenset()), one, two)
    assert (await take(two, 3)).holds()
    while not (found := await one._zookeeper.get(tree.orders)) or orders_codec.read(found[0]) != orders:
        await one._look()  # orders that stay are told to nobody
    assert one.orders() == two.orders() == orders


@over(session_timeout=3.0)
async def test_workers_outlive_all_of_zookeepers_data(crawl: Crawl) -> None:
    """Servers that come back empty refuse whoever saw more than they have: another session is begun in time."""
    service = stoppable(crawl.service)
    one, two = await crawl.worker("a"), await crawl.worker("b")
    orders = ordered(Order("pause"))
    await one.change_orders(lambda _: orders)
    await until(lambda: two.orders() == orders and one.wanted() | two.wanted() == ALL, one, two)
    lease, session = await take(one, 3), session_of(one)
    for number in range(300):  # what the server counts is far behind this for a while
        await one.put_status(WorkerStatus(name="a", at=float(number)))
    await asyncio.to_thread(service.stop)
    for node in service.nodes:
        shutil.rmtree(node.folder / "data" / "version-2")  # type: ignore[attr-defined]
    await asyncio.to_thread(service.start)
    began = crawl.clock.monotonic()
    await until(lambda: session.lost and session_of(one) is not session, one)
    assert crawl.clock.monotonic() - began < 5 * crawl.settings.session_timeout
    assert not lease.holds()
    await patiently(lambda: crawl.factory.set_up(crawl.clock))
    for worker in (one, two):
        await patiently(worker.join)
    await until(lambda: (one.wanted() | two.wanted(), one.wanted() & two.wanted()) == (ALL, frozenset()), one, two)
    assert (await take(two, 3)).holds()
    assert one.orders() == two.orders() == orders


@over()
async def test_what_could_not_be_released_is_released_later(crawl: Crawl) -> None:
    service = stoppable(crawl.service)
    first, second = await crawl.worker("a"), await crawl.worker("b")
    lease = await take(first, 3)
    await asyncio.to_thread(service.nodes[0].pause)
    try:
        with pytest.raises(Unavailable):
            while True:  # a signal takes its time
                await first.change_orders(lambda orders: orders)
        with pytest.raises(Unavailable):
            await first.release(lease)
    finally:
        await asyncio.to_thread(service.nodes[0].resume)
    assert (await take(second, 3)).holds()


@over()
async def test_a_cancelled_taking_leaves_nothing(crawl: Crawl) -> None:
    first, second = await crawl.worker("a"), await crawl.worker("b")
    for turns in range(12):
        taking = asyncio.create_task(first.acquire(3, 0))
        for _ in range(turns):
            await asyncio.sleep(0.0005)
        taking.cancel()
        await asyncio.wait([taking])
        if not taking.cancelled() and (lease := taking.result()) is not None:
            await first.release(lease)
        taken = await take(second, 3)
        await second.release(taken)


@over()
async def test_an_old_release_never_removes_another_owners_node(crawl: Crawl) -> None:
    first, second = await crawl.worker("a"), await crawl.worker("b")
    lease = await take(first, 3)
    number = kazoo_of(first)
    await asyncio.to_thread(number.delete, crawl.factory.tree.owner(3))  # as if the session had ended
    taken = await take(second, 3)
    await first.release(lease)
    assert await first.acquire(3, 0) is None
    assert taken.holds()


@over()
async def test_a_worker_is_told_of_once_whatever_becomes_of_its_session(crawl: Crawl) -> None:
    worker = await crawl.worker("a")
    worker._zookeeper._connected.clear()
    saying = asyncio.create_task(worker.put_status(WorkerStatus(name="a", at=1.0)))
    session = session_of(worker)
    await expire(worker)
    await asyncio.wait([saying])  # begun in one session, done in the next, or not
    await until(lambda: session_of(worker) is not session, worker)
    await patiently(lambda: worker.put_status(WorkerStatus(name="a", at=2.0)))
    assert [one.at for one in (await worker.members()).workers] == [2.0]


@over()
async def test_two_names_are_one_owner_each_and_told(crawl: Crawl) -> None:
    first, second = await crawl.worker("a"), await crawl.worker("b", joins=False)
    one, two = await take(first, 3), await second.acquire(5, 41)
    assert two is not None
    await first.put_status(WorkerStatus(name="a", at=1.0, rates={"pages": 1.0}))
    await first.put_status(WorkerStatus(name="a", at=2.0, partitions=(3,), queued={3: 17}, rates={"pages": 2.5}))
    zookeeper = await ZooKeeper.open(crawl.settings, crawl.clock)
    try:
        assert await status.owners(zookeeper, crawl.factory.tree) == {3: ("a", one.epoch), 5: ("b", 42)}
        told = await status.statuses(zookeeper, crawl.factory.tree)
        assert told == [WorkerStatus(name="a", at=2.0, partitions=(3,), queued={3: 17}, rates={"pages": 2.5})]
    finally:
        await zookeeper.close()


@over()
async def test_set_up_is_done_once_and_refuses_another_number(crawl: Crawl) -> None:
    assert len(await crawl.factory.set_up(crawl.clock)) == 1
    assert await crawl.factory.set_up(crawl.clock) == []
    crawl.factory.partitions = PARTITIONS + 1
    with pytest.raises(BadInput, match=f"partitions = {PARTITIONS}, not {PARTITIONS + 1}"):
        await crawl.factory.set_up(crawl.clock)
    with pytest.raises(BadInput, match="gregor init"):
        await ClusterCoordinator.open(crawl.settings, "never-made", PARTITIONS, "a", crawl.clock)
    with pytest.raises(BadInput, match="made for id = None, not 7"):
        await ClusterCoordinator.open(
            crawl.settings, crawl.factory.crawl, PARTITIONS, "a", crawl.clock, facts={"id": "7"}
        )


@over()
async def test_a_crawl_with_a_password_is_closed_to_others(crawl: Crawl) -> None:
    environ = {"ZOOKEEPER_PASSWORD": "s3cret"}
    private = msgspec.structs.replace(
        crawl.settings, zookeeper_username="gregor", zookeeper_password_env="ZOOKEEPER_PASSWORD"
    )
    factory = ZooKeeperFactory(private)
    zookeeper = await ZooKeeper.open(private, crawl.clock, environ)
    try:
        await zookeeper.create(f"{factory.tree.crawl}", b"{}")
        assert await zookeeper.get(factory.tree.crawl) is not None
    finally:
        await zookeeper.close()
    stranger = await ZooKeeper.open(crawl.settings, crawl.clock)
    try:
        with pytest.raises(Unavailable, match="another user's"):
            await stranger.get(factory.tree.crawl)
    finally:
        await stranger.close()


@over()
async def test_tls(crawl: Crawl) -> None:
    """A proxy that ends TLS stands in front of the server; only who trusts its authority gets through."""
    authority = trustme.CA()
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    host, _, port = crawl.service.addresses[0].rpartition(":")

    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection(host, int(port))
        await asyncio.gather(pump(reader, back), pump(there, writer))

    proxy = await asyncio.start_server(forward, "127.0.0.1", 0, ssl=context)
    address = f"127.0.0.1:{proxy.sockets[0].getsockname()[1]}"
    with authority.cert_pem.tempfile() as trusted, trustme.CA().cert_pem.tempfile() as other:
        settings = msgspec.structs.replace(crawl.settings, zookeeper=(address,), server_timeout=1.0)
        zookeeper = await ZooKeeper.open(msgspec.structs.replace(settings, zookeeper_ca_file=trusted), crawl.clock)
        assert await zookeeper.exists("/") is not None
        await zookeeper.close()
        for file in ("", other):
            with pytest.raises(Unavailable):
                await ZooKeeper.open(msgspec.structs.replace(settings, zookeeper_ca_file=file), crawl.clock)
    proxy.close()


async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Copy one direction to its end."""
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()


@over()
async def test_a_connection_that_ended_by_itself_is_heard(crawl: Crawl) -> None:
    worker = await crawl.worker("a")
    lease = await take(worker, 3)
    await asyncio.to_thread(kazoo_of(worker).stop)  # as if its thread had died
    with pytest.raises(ZooKeeperFailed):
        while True:
            await worker.changed()
    with pytest.raises(ZooKeeperFailed):
        await worker.join()
    assert not lease.holds()
    assert worker.wanted() == frozenset()


@over()
async def test_nobody_answers(crawl: Crawl) -> None:
    nowhere = msgspec.structs.replace(crawl.settings, zookeeper=("127.0.0.1:1",), server_timeout=0.5)
    with pytest.raises(Unavailable, match=r"127\.0\.0\.1:1"):
        await ZooKeeper.open(nowhere, crawl.clock)


@over(lease_margin=6.0)
async def test_a_margin_must_leave_something(crawl: Crawl) -> None:
    with pytest.raises(BadInput, match="lease_margin"):
        await ZooKeeper.open(crawl.settings, crawl.clock)


@over(session_timeout=1000.0)
async def test_the_granted_time_out_counts(crawl: Crawl) -> None:
    """The server's longest session is 10 s here, whatever is asked for."""
    worker = await crawl.worker("a")
    await take(worker, 3)
    assert session_of(worker).end <= crawl.clock.monotonic() + 10.0 - crawl.settings.lease_margin


@pytest.mark.parametrize(("answered", "counts"), [(4000, [4.0]), (0, [])])
def test_a_session_that_is_over_grants_no_time(
    answered: int, counts: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = SimpleNamespace(time_out=answered), None
    monkeypatch.setattr(ConnectionHandler, "_invoke", lambda *_: answer)
    granted: list[float] = []
    client = make_client(Servers(), {}, granted.append)
    assert client._connection._invoke(1.0, Connect(0, 0, 4000, 1, b"", False)) is answer
    assert granted == counts


def test_a_session_that_no_server_takes_is_given_up_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not at the first refusal: another server may be further, or this one soon."""
    now, answers = [0.0], iter([False, False, True, False, False, False])

    def invoke(*_: object) -> tuple[SimpleNamespace, None]:
        if next(answers):
            return SimpleNamespace(time_out=4000), None
        raise ConnectionDropped

    monkeypatch.setattr(ConnectionHandler, "_invoke", invoke)
    client = make_client(Servers(session_timeout=10.0), {}, lambda _: None, lambda: now[0])
    client.last_zxid = 700

    def ask(at: float) -> None:
        now[0] = at
        client._connection._invoke(1.0, Connect(0, 0, 4000, 1, b"", False))

    for at in (0.0, 9.9):
        with pytest.raises(ConnectionDropped):
            ask(at)
    ask(10.5)  # taken: what was refused before counts no more
    for at in (11.0, 20.9):
        with pytest.raises(ConnectionDropped):
            ask(at)
    assert client.last_zxid == 700
    with pytest.raises(SessionExpiredError):
        ask(21.0)
    assert client.last_zxid == 0


def test_a_session_by_the_clock() -> None:
    clock = ManualClock()
    session = Session(1, 8.0)
    lease = ClusterLease(3, 7, taken_at=0.0, version=1, session=session, clock=clock)
    assert not lease.holds()
    session.answered(clock.monotonic())
    clock.pass_(7.9)
    assert lease.holds()
    session.answered(clock.monotonic() - 5.0)
    session.answered(clock.monotonic() - 6.0)  # answers may come in any order
    clock.pass_(2.9)
    assert lease.holds()
    clock.pass_(0.2)
    assert not lease.holds()
    session.answered(clock.monotonic())
    assert lease.holds()
    session.lose()
    session.answered(clock.monotonic())
    assert not lease.holds()


@over()
async def test_a_silent_server_is_left_within_the_session(crawl: Crawl) -> None:
    """One of two ways to the server falls silent, its connection open: the worker takes the other, and keeps all."""
    host, _, port = crawl.service.addresses[0].rpartition(":")
    silent = asyncio.Event()

    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if silent.is_set():
            await reader.read()  # it is accepted, and nothing comes
            writer.close()
            return
        there, back = await asyncio.open_connection(host, int(port))
        pumps = [asyncio.create_task(pump(reader, back)), asyncio.create_task(pump(there, writer))]
        await silent.wait()
        for task in pumps:
            task.cancel()
        await asyncio.wait(pumps)
        back.close()
        await reader.read()
        writer.close()

    proxy = await asyncio.start_server(forward, "127.0.0.1", 0)
    address = f"127.0.0.1:{proxy.sockets[0].getsockname()[1]}"
    worker = await crawl.worker("a", zookeeper=(address,))
    lease, session = await take(worker, 3), session_of(worker)
    kazoo_of(worker).set_hosts(f"{address},{crawl.service.address}")
    silent.set()
    begin = crawl.clock.monotonic()
    await patiently(lambda: worker.change_orders(lambda _: ordered(Order("pause"))))
    assert crawl.clock.monotonic() < begin + crawl.settings.session_timeout
    assert session_of(worker) is session
    assert lease.holds()
    proxy.close()


@over()
async def test_one_holds_whoever_takes_lets_go_or_is_cancelled(crawl: Crawl) -> None:
    workers, chance = [await crawl.worker(name) for name in "abc"], random.Random(1)
    held: dict[int, ClusterLease] = {}
    epochs = dict.fromkeys(ALL, 0)

    async def contend(worker: ClusterCoordinator) -> None:
        mine: dict[int, ClusterLease] = {}
        for _ in range(150):
            partition = chance.randrange(2)
            if partition in mine:
                await worker.release(mine.pop(partition))
                continue
            taking = asyncio.create_task(worker.acquire(partition, 0))
            if chance.random() < 0.5:
                await asyncio.wait([taking], timeout=chance.random() * 0.004)
                taking.cancel()
            await asyncio.wait([taking])
            if not taking.cancelled() and (lease := taking.result()) is not None:
                assert partition not in held or not held[partition].holds()
                assert lease.epoch > epochs[partition]
                mine[partition] = held[partition] = lease
                epochs[partition] = lease.epoch
        for lease in mine.values():
            await worker.release(lease)

    await asyncio.gather(*map(contend, workers))
    assert max(epochs.values()) > 20
    for worker in workers:  # nothing is left behind
        for partition in range(2):
            await worker.release(await take(worker, partition))
