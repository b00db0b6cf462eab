"""The limit per address."""

from functools import partial

from hypothesis import given
from hypothesis import strategies as st

from gregor.worker.fetch.address_limit import AddressGate


def use(called: list[int], number: int) -> bool:
    called.append(number)
    return True


STEPS = st.lists(st.tuples(st.sampled_from(["enter", "leave"]), st.sampled_from(["10.0.0.1", "10.0.0.2"])))


@given(limit=st.integers(1, 4), steps=STEPS)
def test_never_more_than_the_limit_and_whoever_waits_is_called_once(limit: int, steps: list[tuple[str, str]]) -> None:
    gate = AddressGate(limit)
    running = {"10.0.0.1": 0, "10.0.0.2": 0}
    waiting: dict[str, list[int]] = {"10.0.0.1": [], "10.0.0.2": []}
    called: list[int] = []
    for number, (step, address) in enumerate(steps):
        if step == "enter":
            entered = gate.enter([address]) is None
            assert entered == (running[address] < limit)
            running[address] += entered
            if not entered:
                waiting[address].append(number)
                gate.wait(address, number, partial(use, called, number))
        elif running[address]:
            before = len(called)
            gate.leave([address])
            running[address] -= 1
            expected = waiting[address][:1]
            del waiting[address][:1]
            assert called[before:] == expected, "in their order, one for each that leaves"


def test_without_a_limit_or_an_address_nobody_waits() -> None:
    for gate, addresses in ((AddressGate(None), ["10.0.0.1"]), (AddressGate(1), [])):
        assert all(gate.enter(addresses) is None for _ in range(100))
        gate.leave(addresses)


def test_whoever_is_called_may_enter_at_once() -> None:
    gate = AddressGate(1)
    entered: list[bool] = []
    assert gate.enter(["a"]) is None

    def call() -> bool:
        entered.append(gate.enter(["a"]) is None)
        return True

    gate.wait("a", "w", call)
    gate.leave(["a"])
    assert entered == [True]
    assert gate.enter(["a"]) == "a"


def test_who_waits_again_is_called_once_and_who_waits_no_more_gives_the_room_to_the_next() -> None:
    gate, called = AddressGate(1), list[str]()

    def told(name: str, waits: bool) -> bool:
        called.append(name)
        return waits

    assert gate.enter(["a"]) is None
    for name in ("gone", "there", "gone", "there", "last"):
        gate.wait("a", name, partial(told, name, name != "gone"))
    gate.leave(["a"])
    assert called == ["gone", "there"]
    assert gate.enter(["a"]) is None
    gate.leave(["a"])
    assert called == ["gone", "there", "last"]


def test_a_host_may_be_asked_at_any_of_its_addresses_so_all_must_have_room() -> None:
    """Which of them answers is known only when a connection stands: of IPv6 and IPv4 it may be the second."""
    gate = AddressGate(1)
    assert gate.enter(["2001:db8::1", "192.0.2.1"]) is None
    assert gate.enter(["192.0.2.1"]) == "192.0.2.1"
    assert gate.enter(["192.0.2.2", "2001:db8::1"]) == "2001:db8::1"
    assert gate.enter(["192.0.2.2"]) is None, "nothing was begun where one had no room"
    gate.leave(["2001:db8::1", "192.0.2.1"])
    assert gate.enter(["192.0.2.1"]) is None
