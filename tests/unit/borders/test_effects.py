"""What an owner asks of the borders: only while its lease holds, and again while a service is away."""

import asyncio
import random
from typing import Any

import pytest

from gregor.worker.borders import effects
from gregor.worker.borders.effects import Effects, LeaseLost
from gregor.worker.borders.errors import Unavailable


class Lease:
    """Holds so many times."""

    def __init__(self, times: int) -> None:
        self.left = times

    def holds(self) -> bool:
        self.left -= 1
        return self.left >= 0


class Border:
    """Is away at first."""

    def __init__(self, away: int) -> None:
        self.away, self.calls, self.retried = away, 0, 0

    async def call(self) -> str:
        self.calls += 1
        if self.calls <= self.away:
            raise Unavailable("Redis", "no answer")
        return "done"

    def retrying(self, error: Unavailable) -> None:
        self.retried += 1


def ran(border: Border, lease: Lease) -> Any:
    return asyncio.run(Effects(lease, border, random.Random(1)).run(border.call))


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effects, "FIRST_PAUSE", 0.0)


def test_a_call_is_made_again_while_its_service_is_away() -> None:
    border = Border(away=2)
    assert ran(border, Lease(3)) == "done"
    assert (border.calls, border.retried) == (3, 2)


@pytest.mark.parametrize("times", [0, 1, 2])
def test_nothing_is_asked_once_the_lease_may_be_over(times: int) -> None:
    border = Border(away=9)
    with pytest.raises(LeaseLost):
        ran(border, Lease(times))
    assert border.calls == times
