"""The gate of addresses: never more at once than may be, never sooner than the delay, by all workers together."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random
from typing import TypeVar

import pytest

from gregor.worker.base.tasks import until
from gregor.worker.borders.addresses import AddressGrant, AddressTurns, AddressUse, HoldTerms
from gregor.worker.borders.errors import Unavailable
from gregor.worker.config.settings import Config
from gregor.worker.fetch.address_gate import AddressGate
from gregor.worker.fetch.held import AddressBusy
from tests.contract.address_turns import CASES, Pause
from tests.contract.world import Permitted
from tests.simulation.addresses import AddressServer
from tests.simulation.clock import VirtualLoop

T = TypeVar("T")


def in_virtual_time(run: Callable[[], Awaitable[T]]) -> T:
    loop = VirtualLoop(most_time=10_000.0)  # type: ignore[abstract]
    result: T = loop.run_until_complete(run())
    assert not loop.errors
    return result


def now() -> float:
    return asyncio.get_running_loop().time()


class Turns:
    """`AddressTurns` over a wire that takes some time and may be away."""

    def __init__(self, server: AddressServer, chance: Random, away: tuple[float, float] = (0.0, 0.0)) -> None:
        self.server = server
        self.calls = 0
        self._chance = chance
        self._away = away

    async def take(self, worker: str, uses: Sequence[AddressUse], terms: HoldTerms) -> AddressGrant:
        await self._pass()
        grant = self.server.take(worker, uses, terms)
        await asyncio.sleep(0.02 * self._chance.random())
        return grant

    async def release(self, worker: str, uses: Sequence[AddressUse], terms: HoldTerms) -> None:
        await self._pass()
        self.server.release(worker, uses, terms)

    async def _pass(self) -> None:
        self.calls += 1
        await asyncio.sleep(0.02 * self._chance.random())
        if self._away[0] <= now() < self._away[1]:
            raise Unavailable("Redis", "no answer")


@dataclass
class Log:
    """What the servers saw: by address, when each request began and ended, of which host."""

    requests: dict[str, list[tuple[float, float, str]]] = field(default_factory=lambda: defaultdict(list))

    def check(self, delay: float, limit: int | None = None) -> None:
        for address, requests in self.requests.items():
            for before, after in pairwise(sorted(requests)):
                assert after[0] - before[0] >= delay - 1e-6, f"{after} is too near to {before} at {address}"
            for start, _, _ in requests:
                at_once = sum(other[0] <= start < other[1] for other in requests)
                assert limit is None or at_once <= limit, f"{at_once} at {address}"


async def called_or_late(busy: AddressBusy) -> None:
    called = asyncio.Event()
    waits = True

    def call() -> bool:
        called.set()
        return waits

    busy.call_when_over("", call)
    await until(called, busy.seconds)
    waits = False


async def keep_asking(
    gate: AddressGate, host: str, addresses: Sequence[str], delay: float, log: Log, chance: Random, latency: float = 0.1
) -> None:
    """What a worker does with a host that has many URLs."""
    while True:
        try:
            turn = await gate.enter(host, addresses, delay)
        except AddressBusy as busy:
            await called_or_late(busy)
            continue
        permit: Permitted = Permitted()
        if turn is not None:
            allowed = turn.permit(permit)
        await asyncio.sleep(0.02 * chance.random())  # it connects
        if turn is None or allowed.allows():
            began = now()
            if turn is not None:
                allowed.sent()
            await asyncio.sleep(latency * chance.random())
            for address in addresses:
                log.requests[address].append((began, now(), host))
        if turn is not None:
            turn.end()
        await asyncio.sleep(0.3)


def crawl(
    hosts: Mapping[str, Sequence[str]],
    *,
    delay: float,
    limit: int | None = None,
    workers: int = 3,
    seconds: float = 60.0,
    away: tuple[float, float] = (0.0, 0.0),
    latency: float = 0.1,
    forgets: float = 0.0,
) -> tuple[Log, list[Turns]]:
    """Hosts at addresses, dealt to workers."""
    log, wires = Log(), list[Turns]()

    async def run() -> None:
        server = AddressServer(now)
        config = Config(per_address=limit, per_address_delay=delay)
        wires.extend(Turns(server, Random(number), away) for number in range(workers))
        gates = [AddressGate(config, wire if workers > 1 else None, now) for wire in wires]
        tasks = [
            asyncio.create_task(
                keep_asking(gates[number % workers], host, places, delay, log, Random(host), latency=latency)
            )
            for number, (host, places) in enumerate(hosts.items())
        ]
        if forgets:
            asyncio.get_running_loop().call_later(forgets, server.forget, 1e9)
        _, pending = await asyncio.wait(tasks, timeout=seconds)
        assert len(pending) == len(tasks)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)

    in_virtual_time(run)
    return log, wires


MANY: dict[str, Sequence[str]] = {f"h{number}": (f"10.0.0.{number % 3}",) for number in range(60)}


@pytest.mark.parametrize("workers", [1, 3])
def test_many_hosts_at_one_address_are_one_server_and_what_its_delay_allows_is_used(workers: int) -> None:
    log, _ = crawl(MANY, delay=0.5, workers=workers)
    log.check(0.5)
    for requests in log.requests.values():
        assert len(requests) >= 0.9 * 60.0 / 0.5
        assert len({host for _, _, host in requests}) == 20, "each comes to its turn"


@pytest.mark.parametrize("workers", [1, 3])
def test_no_more_at_once_than_may_be_by_all_workers_together(workers: int) -> None:
    log, _ = crawl(MANY, delay=0.0, limit=2, workers=workers, latency=1.0)
    log.check(0.0, limit=2)
    assert all(len({host for _, _, host in requests}) == 20 for requests in log.requests.values())


def test_hosts_that_have_several_addresses_wait_for_all_of_them_and_come_to_their_turn() -> None:
    mixed = MANY | {f"both{number}": ("10.0.0.0", "10.0.0.1") for number in range(4)}
    log, _ = crawl(mixed, delay=0.3)
    log.check(0.3)
    assert {f"both{number}" for number in range(4)} <= {host for _, _, host in log.requests["10.0.0.0"]}


def test_an_address_of_one_worker_costs_a_call_now_and_then() -> None:
    _, wires = crawl({"alone": ("10.0.0.1",), "other": ("10.0.0.2",)}, delay=0.1, workers=2, seconds=300.0)
    assert all(wire.calls <= 70 for wire in wires)  # of about 850 requests each


def test_while_turns_cannot_be_asked_for_nothing_is_sent_and_then_it_goes_on() -> None:
    log, _ = crawl(MANY, delay=0.5, away=(20.0, 40.0))
    log.check(0.5)
    for requests in log.requests.values():
        assert not [start for start, _, _ in requests if 34.0 < start < 40.0], "what was had before has ended"
        assert [start for start, _, _ in requests if start > 42.0]


def test_a_server_that_forgot_whose_turn_it_is_gives_none_before_those_of_before_have_ended() -> None:
    log, _ = crawl(MANY, delay=0.5, forgets=10.0, seconds=90.0)
    log.check(0.5)
    assert all([start for start, _, _ in requests if start > 60.0] for requests in log.requests.values())


def test_an_address_is_not_taken_from_another_server_at_once() -> None:
    async def run() -> None:
        server = AddressServer(now)
        first, second = (AddressGate(Config(), Turns(server, Random(number)), now) for number in (1, 2))
        assert await first.enter("h", ["a"], 0.5) is not None
        assert await second.enter("h2", ["b"], 0.5) is not None
        server.forget(1e9)
        with pytest.raises(AddressBusy):
            await second.enter("h3", ["a"], 0.5)

    in_virtual_time(run)


def test_a_request_that_took_too_long_to_connect_is_not_written() -> None:
    async def run() -> None:
        server = AddressServer(now)
        config = Config(per_address_delay=0.5)
        first, second = (AddressGate(config, Turns(server, Random(number)), now) for number in (1, 2))
        turn = await first.enter("h", ["a"], 0.5)
        assert turn is not None
        permit = turn.permit(Permitted())
        assert permit.allows()
        await asyncio.sleep(30.0)
        assert await second.enter("h", ["a"], 0.5) is not None, "it ended by itself"
        assert not permit.allows()
        assert turn.late

    in_virtual_time(run)


@pytest.mark.parametrize("delay", [0.0, 0.05])
def test_a_request_that_connects_in_time_is_written_whatever_ends_beside_it(delay: float) -> None:
    late = list[str]()

    async def ask(gate: AddressGate, host: str, chance: Random) -> None:
        while now() < 60.0:
            try:
                turn = await gate.enter(host, ["a"], delay)
            except AddressBusy as busy:
                await called_or_late(busy)
                continue
            assert turn is not None
            permit = turn.permit(Permitted())
            await asyncio.sleep(2.0 * chance.random())  # it connects
            if permit.allows():
                permit.sent()
                await asyncio.sleep(3.0 * chance.random())
            else:
                late.append(host)
            turn.end()

    async def run() -> None:
        server = AddressServer(now)
        config = Config(per_address=3, per_address_delay=delay)
        gates = [AddressGate(config, Turns(server, Random(number)), now) for number in range(2)]
        await asyncio.gather(*(ask(gates[number % 2], f"h{number}", Random(number)) for number in range(8)))

    in_virtual_time(run)
    assert not late, "it would count as a failure of its host"


def test_nothing_is_asked_where_nothing_holds() -> None:
    async def run() -> None:
        turns = Turns(AddressServer(now), Random(1))
        gate = AddressGate(Config(per_address_delay=0.0), turns, now)
        assert await gate.enter("h", ["a"], 0.0) is None
        assert await AddressGate(Config(), turns, now).enter("h", [], 1.0) is None
        assert not turns.calls

    in_virtual_time(run)


@pytest.mark.parametrize(
    ("setting", "host_delay", "delay"), [(None, 2.0, 0.05), (None, 0.2, 0.02), (None, 0.0, 0.0), (3.0, 0.0, 3.0)]
)
def test_the_delay_of_an_address_is_a_share_of_its_hosts_unless_it_is_set(
    setting: float | None, host_delay: float, delay: float
) -> None:
    assert AddressGate(Config(per_address_delay=setting), None, lambda: 0.0).delay_of(host_delay) == pytest.approx(
        delay
    )


def test_it_remembers_no_address_that_is_not_in_use() -> None:
    async def run() -> None:
        gate = AddressGate(Config(), Turns(AddressServer(now), Random(1)), now)
        for number in range(50):
            turn = await gate.enter("h", [f"10.0.0.{number}"], 0.1)
            assert turn is not None
            turn.permit(Permitted()).sent()
            turn.end()
        await asyncio.sleep(60.0)
        assert gate.size == 0

    in_virtual_time(run)


def test_who_leaves_lets_go_what_it_had() -> None:
    async def run() -> None:
        server = AddressServer(now)
        first, second = (AddressGate(Config(), Turns(server, Random(number)), now) for number in (1, 2))
        turn = await first.enter("h", ["a"], 0.1)
        assert turn is not None
        turn.permit(Permitted()).sent()
        turn.end()
        await first.leave()
        await asyncio.sleep(0.2)
        assert await second.enter("h", ["a"], 0.1) is not None

    in_virtual_time(run)


@pytest.mark.parametrize("case", CASES)
def test_the_turns_of_these_tests_keep_the_contract(case: Callable[[AddressTurns, Pause], Awaitable[None]]) -> None:
    class Direct(Turns):
        async def _pass(self) -> None:
            self.calls += 1

    in_virtual_time(lambda: case(Direct(AddressServer(now), Random(1)), asyncio.sleep))
