"""What several processes on one folder have in common: the board of their counts, and the turns of addresses."""

import asyncio
from collections.abc import Sequence
from contextlib import closing
from typing import Any

import pytest

from gregor.worker.adapters.embedded.address_book import AddressBook
from gregor.worker.adapters.embedded.crew import Board, ProcessPlace
from gregor.worker.borders.addresses import AddressGrant, AddressUse, HoldTerms
from gregor.worker.borders.counted_together import Beside
from tests.contract.address_turns import CASES, TERMS, A, B


class Turns:
    """`AddressTurns` of a book."""

    def __init__(self) -> None:
        self.now = 0.0
        self.book = AddressBook(lambda: self.now)

    async def take(self, worker: str, uses: Sequence[AddressUse], terms: HoldTerms) -> AddressGrant:
        return self.book.take(worker, uses, terms)

    async def release(self, worker: str, uses: Sequence[AddressUse], terms: HoldTerms) -> None:
        self.book.release(worker, uses, terms)

    async def pause(self, seconds: float) -> None:
        self.now += seconds


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_a_book_keeps_turns(case: Any) -> None:
    turns = Turns()
    asyncio.run(case(turns, turns.pause))


def test_who_ended_holds_nothing_up_and_has_asked_now_at_the_latest() -> None:
    turns = Turns()
    assert turns.book.take("x", [AddressUse(A.address, running=3)], TERMS).granted
    assert not turns.book.take("y", [A], TERMS).granted
    turns.book.end("x")
    grant = turns.book.take("y", [A], TERMS)
    assert grant.granted
    assert grant.others == (AddressUse(A.address, 0, 0.0),)


def test_addresses_that_nobody_asks_are_forgotten() -> None:
    turns = Turns()
    for number in range(3000):
        turns.book.take("x", [AddressUse(f"192.0.2.{number}")], TERMS)
        turns.now += 1.0
    assert len(turns.book) < 2000
    turns.book.take("x", [B], TERMS)


def test_each_place_sees_what_all_others_have() -> None:
    with closing(Board.make(3)) as board:
        assert board.put(0, 4, 10) == Beside(0, 0)
        assert board.put(1, 2, 5) == Beside(4, 10)
        board.beat(1, 7.5)
        assert board.put(2, 0, 0) == Beside(6, 15)
        board.free(0)
        assert (board.put(2, 1, 1), board.visited(0), board.last_beat(1)) == (Beside(2, 15), 10, 7.5)


def test_places_share_all_partitions() -> None:
    places = [ProcessPlace(number, 3, 0.0, 0, 0) for number in range(3)]
    assert all(sum(place.has(partition) for place in places) == 1 for partition in range(64))
