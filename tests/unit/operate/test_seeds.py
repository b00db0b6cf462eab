"""Publishing seeds: any number of them in little memory, those that are known left out when asked."""

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any, cast

import pytest

from gregor.schemas.messages import Ticket
from gregor.worker.operate.seeds import BATCH, Seed, publish
from gregor.worker.web.urls import Urls

MANY = 3 * BATCH + 1


class Taken:
    """Seeds that are made as they are asked for, and a log and a store that look how far that went."""

    def __init__(self, known: int) -> None:
        self.made = self.told = 0
        self.keys: list[str] = []
        self._known = known

    def __iter__(self) -> Iterator[Seed]:
        urls = Urls()
        for number in range(MANY):
            url = urls.parse(f"http://a.test/{number}")
            assert url is not None
            self.made += 1
            yield Seed(url)

    async def rows(self, keys: Sequence[str]) -> list[object | None]:
        return [object() if int(key.rpartition("/")[2]) < self._known else None for key in keys]

    async def add_seed_hosts(self, hosts: Sequence[str]) -> None:
        assert list(hosts) == ["a.test"]
        self.told += 1

    async def publish(self, tickets: Sequence[Ticket]) -> None:
        assert 0 < len(tickets) <= BATCH
        self.keys += [ticket.key for ticket in tickets]
        assert self.made <= self._known + len(self.keys) + BATCH, "no more were read than are published"


@pytest.mark.parametrize("known", [0, 5, BATCH, 2 * BATCH + 1, MANY])
@pytest.mark.parametrize("unless_known", [False, True])
def test_seeds_are_read_as_they_are_published(known: int, unless_known: bool) -> None:
    taken = Taken(known if unless_known else 0)
    double = cast(Any, taken)
    count = asyncio.run(publish(double, double, taken, unless_known))
    assert taken.keys == [f"http://a.test/{number}" for number in range(known if unless_known else 0, MANY)]
    assert count == len(taken.keys)
    assert taken.told == (count + BATCH - 1) // BATCH or unless_known
