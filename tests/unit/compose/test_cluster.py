"""What is said, on servers, of clocks that are far apart: as a worker starts, and to whoever mends dates."""

import asyncio
from typing import Any, cast

import pytest

from gregor.worker.adapters.cluster import verifying
from gregor.worker.adapters.cluster.coordinator import ClusterCoordinator
from gregor.worker.base.errors import BadInput
from gregor.worker.compose import cluster
from gregor.worker.compose.cluster import OpenServers, of_servers_clock
from gregor.worker.config.settings import Config
from gregor.worker.config.sources import Settings

_DAY = 86400.0
NOW = 1_800_000_000.0


class _Clock:
    def wall(self) -> float:
        return NOW


class _Coordinator:
    def __init__(self, ahead: float) -> None:
        self.ahead = ahead
        self.closed = 0

    def now(self) -> float:
        return NOW + self.ahead

    async def close(self) -> None:
        self.closed += 1


class _Engine:
    """A crawl whose newest date is so many seconds ahead of ZooKeeper's time."""

    def __init__(self, ahead: float, newest: float) -> None:
        self.coordinator = _Coordinator(ahead)
        self._newest = NOW + ahead + newest
        self.log = self.seen = self.store = self
        self.addresses = None
        self.close = self.coordinator.close

    async def newest(self, width: float) -> float:
        return self._newest


@pytest.mark.parametrize(
    ("ahead", "part"),
    [
        (5 * 365 * _DAY, "1825.0 days ahead of this machine's"),
        (-2 * _DAY, "2.0 days behind this machine's"),
        (1800.0, ""),
        (-1800.0, ""),
    ],
)
def test_a_crawl_that_is_dated_by_a_wrong_clock_is_told_of(ahead: float, part: str) -> None:
    said = of_servers_clock(ahead)
    assert part in said and bool(said) == bool(part)


@pytest.mark.parametrize(
    ("ahead", "newest", "parts"),
    [
        (0.0, 1800.0, ()),
        (0.0, 3 * _DAY, ("dates of this crawl are 3.0 days ahead",)),
        (2 * _DAY, 0.0, ("2.0 days ahead of this machine's",)),
        (-2 * _DAY, 5 * _DAY, ("2.0 days behind this machine's", "dates of this crawl are 5.0 days ahead")),
    ],
)
def test_a_worker_that_starts_says_whose_clock_or_dates_are_wrong(
    ahead: float, newest: float, parts: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "SystemClock", _Clock)
    said: list[str] = []
    opened = OpenServers(Config(), cast(Any, _Engine(ahead, newest)))
    assert asyncio.run(opened.go_on(cast(Settings, None), said.append)) == 0
    assert len(said) == len(parts)
    assert all(part in text for part, text in zip(parts, said, strict=True))


@pytest.mark.parametrize(("ahead", "words"), [(2 * _DAY, "2.0 days ahead of"), (-2 * _DAY, "2.0 days behind")])
def test_dates_are_not_set_back_by_a_clock_that_is_itself_wrong(
    ahead: float, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    coordinator = _Coordinator(ahead)

    async def opened(*_: object, **__: object) -> _Coordinator:
        return coordinator

    monkeypatch.setattr(ClusterCoordinator, "open", opened)
    with pytest.raises(BadInput, match=f"{words} this machine's: set it right"):
        asyncio.run(verifying._set_back(Config(), cast(Any, None), {}, cast(Any, _Clock()), lambda *_: None))
    assert coordinator.closed == 1
