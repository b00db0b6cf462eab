"""The contract of `AddressTurns`: one worker at a time has an address, for a while, and those who wait come in order.

Each case gets turns that nobody has taken, and waits by `pause`, which passes time where those turns are kept.
"""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from gregor.worker.borders.addresses import AddressTurns, AddressUse, HoldTerms

Pause: TypeAlias = Callable[[float], Awaitable[None]]
TERMS = HoldTerms(shortest=0.4, longest=1.0, allowance=0.4, lasting=0.8)
A, B = AddressUse("192.0.2.1"), AddressUse("2001:db8::1")


async def one_has_it_and_the_other_hears_when_to_ask_again(turns: AddressTurns, pause: Pause) -> None:
    first = await turns.take("x", [A], TERMS)
    assert (first.granted, first.contended) == (True, False)
    assert 0.0 < first.seconds <= TERMS.shortest + 0.001
    assert first.others == (A,)
    second = await turns.take("y", [A], TERMS)
    assert not second.granted
    assert 0.0 < second.seconds <= TERMS.shortest
    assert second.server == first.server
    assert (await turns.take("y", [B], TERMS)).granted, "another address is another matter"


async def several_are_taken_whole_or_not_at_all(turns: AddressTurns, pause: Pause) -> None:
    assert (await turns.take("x", [A], TERMS)).granted
    assert not (await turns.take("y", [A, B], TERMS)).granted
    await pause(TERMS.shortest + 1.2)  # whoever waited for both has given up
    assert (await turns.take("x", [B], TERMS)).granted


async def what_is_let_go_is_had_at_once_and_its_last_request_is_told(turns: AddressTurns, pause: Pause) -> None:
    assert (await turns.take("x", [A], TERMS)).granted
    await turns.release("x", [AddressUse(A.address, running=2, since=0.1)], TERMS)
    grant = await turns.take("y", [A], TERMS)
    assert grant.granted
    (others,) = grant.others
    assert others.running == 2
    assert 0.1 <= others.since <= 0.3
    await pause(TERMS.lasting + 0.1)
    (later,) = (await turns.take("z", [A], TERMS)).others
    assert later.running == 0, "nobody spoke of them again"


async def it_is_let_go_by_its_holder_alone(turns: AddressTurns, pause: Pause) -> None:
    assert (await turns.take("x", [A], TERMS)).granted
    await turns.release("y", [AddressUse(A.address, since=0.0)], TERMS)
    assert not (await turns.take("y", [A], TERMS)).granted
    await turns.release("x", [], TERMS)
    assert not (await turns.take("y", [A], TERMS)).granted


async def a_holder_that_vanished_holds_nobody_up(turns: AddressTurns, pause: Pause) -> None:
    assert (await turns.take("x", [A], TERMS)).granted
    await pause(TERMS.shortest + TERMS.allowance + 0.1)
    grant = await turns.take("y", [A], TERMS)
    assert grant.granted
    assert 0.0 <= grant.others[0].since <= 0.3, "it may have sent until its end"


async def who_goes_on_has_it_longer_until_another_waits(turns: AddressTurns, pause: Pause) -> None:
    assert (await turns.take("x", [A], TERMS)).granted
    await pause(TERMS.shortest)
    longer = await turns.take("x", [A], TERMS)
    assert longer.granted
    assert TERMS.shortest < longer.seconds <= TERMS.longest
    refused = await turns.take("y", [A], TERMS)
    assert not refused.granted
    await pause(longer.seconds)
    assert not (await turns.take("x", [A], TERMS)).granted, "the other waits"
    grant = await turns.take("y", [A], TERMS)
    assert (grant.granted, grant.contended) == (True, True)
    assert grant.seconds <= TERMS.shortest + 0.001


async def those_who_wait_come_in_their_order_as_long_as_they_ask(turns: AddressTurns, pause: Pause) -> None:
    assert (await turns.take("x", [A], TERMS)).granted
    assert not (await turns.take("y", [A], TERMS)).granted
    await pause(0.05)
    assert not (await turns.take("z", [A], TERMS)).granted
    await turns.release("x", [A], TERMS)
    assert not (await turns.take("z", [A], TERMS)).granted, "another came first"
    assert (await turns.take("y", [A], TERMS)).granted
    await turns.release("y", [A], TERMS)
    assert (await turns.take("z", [A], TERMS)).granted
    assert not (await turns.take("y", [A], TERMS)).granted
    await pause(TERMS.shortest + TERMS.allowance + 1.2)
    assert (await turns.take("x", [A], TERMS)).granted, "who did not come again waits no more"


async def asking_again_changes_nothing(turns: AddressTurns, pause: Pause) -> None:
    for _ in range(3):
        grant = await turns.take("x", [AddressUse(A.address, running=1, since=0.0)], TERMS)
        assert grant.granted
        assert grant.others[0].running == 0, "its own are not those of others"
    for _ in range(3):
        await turns.release("x", [A], TERMS)
    assert (await turns.take("y", [A], TERMS)).granted


CASES = (
    one_has_it_and_the_other_hears_when_to_ask_again,
    several_are_taken_whole_or_not_at_all,
    what_is_let_go_is_had_at_once_and_its_last_request_is_told,
    it_is_let_go_by_its_holder_alone,
    a_holder_that_vanished_holds_nobody_up,
    who_goes_on_has_it_longer_until_another_waits,
    those_who_wait_come_in_their_order_as_long_as_they_ask,
    asking_again_changes_nothing,
)
