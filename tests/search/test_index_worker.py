"""Workers of an index on servers share partitions: two never feed one, and nothing is written when a lease is over."""

import asyncio
from collections.abc import Sequence
from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest

from gregor.search.adapters import opensearch_schema as schema
from gregor.search.documents import IndexedDocument
from gregor.worker.adapters.cluster.index_log import LogOffsets
from gregor.worker.borders.errors import Unavailable
from gregor.worker.borders.shelf import Post, UrlToIndex
from gregor.worker.compose.index_generations import Generations
from gregor.worker.compose.index_worker import IndexWorker
from gregor.worker.observe.indexing import IndexStats

PARTITIONS = 4


class Lease:
    """One that ends when somebody says so."""

    def __init__(self, partition: int, epoch: int) -> None:
        self.partition, self.epoch, self.taken_at, self.over = partition, epoch, 0.0, False

    def holds(self) -> bool:
        return not self.over


class Refusal(Exception):
    """What nobody expects of an index."""


class Servers:
    """A coordinator, topics and an index for workers of one event loop."""

    def __init__(self) -> None:
        self.leases: dict[int, Lease] = {}
        self.wanted: dict[str, set[int]] = {}
        self.told: dict[int, int] = dict.fromkeys(range(PARTITIONS), 0)
        self.places: dict[int, LogOffsets] = dict.fromkeys(range(PARTITIONS), LogOffsets(0, 0))
        self.written: list[tuple[str, int]] = []
        self.wrong: list[str] = []
        self.refuses = False
        self._epochs = count(1)

    def worker(self, name: str) -> IndexWorker:
        """One, not begun."""
        servers, changed = self, asyncio.Event()

        class Coordinator:
            async def join(self) -> None:
                servers.wanted.setdefault(name, set())

            async def leave(self) -> None:
                servers.wanted.pop(name, None)

            async def changed(self) -> None:
                await changed.wait()

            def wanted(self) -> set[int]:
                return servers.wanted[name]

            async def acquire(self, number: int, at_least: int) -> Lease | None:
                held = servers.leases.get(number)
                if held is not None and held.holds():
                    return None
                servers.leases[number] = Lease(number, next(servers._epochs))
                return servers.leases[number]

            async def release(self, lease: Lease) -> None:
                lease.over = True

        def write(documents: dict[str, IndexedDocument | None], version: int) -> None:
            if servers.refuses:
                raise Refusal
            held = {lease.epoch: lease for lease in servers.leases.values() if lease.holds()}
            for content in documents:
                servers.written.append((name, int(content)))
                if version >> 40 not in held or held[version >> 40].partition != int(content):
                    servers.wrong.append(f"{name} wrote {content}")

        parts: Any = (Coordinator(), _Log(self), _Shelf(), _Relay, write, IndexStats())
        return IndexWorker(*parts)


class _Log:
    """Tells each partition of its own number; what is told is posted to itself."""

    has_lost = False

    def __init__(self, servers: Servers) -> None:
        self._servers = servers

    async def start(self, number: int) -> LogOffsets:
        return self._servers.places[number]

    async def events(self, number: int, offset: int, limit: int) -> tuple[list[UrlToIndex], int, str]:
        return [], offset, ""

    async def posts(self, number: int, offset: int, limit: int) -> tuple[list[tuple[int, Post]], int]:
        last = self._servers.told[number]
        return [(at, Post(write=str(number))) for at in range(offset, last)], last

    async def post(self, posts: Sequence[Post]) -> None:
        """Nothing is noted here."""

    async def commit(self, number: int, places: LogOffsets, epoch: int) -> None:
        self._servers.places[number] = places


class _Shelf:
    async def epoch(self, partition: int) -> int:
        return 0

    async def own(self, partition: int, epoch: int) -> None:
        """Nobody asks."""


class _Relay:
    async def write(self, contents: list[str], put: Any) -> None:
        for content in contents:
            put(content, SimpleNamespace())


def test_a_partition_is_fed_by_its_owner_alone_however_many_there_are() -> None:
    async def run() -> Servers:
        servers, stop = Servers(), asyncio.Event()
        first, second = servers.worker("first"), servers.worker("second")
        servers.wanted["first"] = set(range(PARTITIONS))
        tasks = [asyncio.create_task(first.run(stop))]
        await _written(servers, "first", range(PARTITIONS))
        tasks.append(asyncio.create_task(second.run(stop)))
        servers.wanted.update(first={0, 1}, second={2, 3, 1})  # they are not of one mind about 1 yet
        await _written(servers, "second", (2, 3))
        servers.leases[0].over = True  # its session ended, and nobody told it
        servers.wanted.update(first={1}, second={0, 2, 3})
        await _written(servers, "second", (0, 2, 3))
        await _written(servers, "first", (1,))
        stop.set()
        await asyncio.gather(*tasks)
        return servers

    servers = asyncio.run(run())
    assert servers.wrong == [] and all(lease.over for lease in servers.leases.values())


def test_a_partition_whose_work_ended_badly_is_free_for_another_at_once() -> None:
    async def run() -> Servers:
        servers = Servers()
        servers.wanted["first"] = {0}
        worker = servers.worker("first")
        servers.refuses = True
        with pytest.raises(Refusal):
            async with asyncio.timeout(30):
                task = asyncio.create_task(worker.run(asyncio.Event()))
                while not task.done():
                    servers.told[0] += 1
                    await asyncio.sleep(0.02)
                await task
        return servers

    assert [lease.over for lease in asyncio.run(run()).leases.values()] == [True]


def test_whatever_ends_the_work_of_one_partition_all_others_are_free_at_once() -> None:
    async def run() -> Servers:
        servers = Servers()
        servers.wanted["first"] = set(range(PARTITIONS))
        worker = servers.worker("first")
        asyncio.get_running_loop().set_exception_handler(lambda *_: None)  # of tasks that nobody waited for
        with pytest.raises(Refusal):
            async with asyncio.timeout(30):
                task = asyncio.create_task(worker.run(asyncio.Event()))
                await _written(servers, "first", range(PARTITIONS))
                servers.refuses = True
                while not task.done():
                    for number in range(PARTITIONS):  # several of them end so
                        servers.told[number] += 1
                    await asyncio.sleep(0.02)
                await task
        return servers

    servers = asyncio.run(run())
    assert [number for number, lease in servers.leases.items() if not lease.over] == []
    assert servers.wanted == {}  # it left


async def _written(servers: Servers, name: str, numbers: Sequence[int]) -> None:
    """Tell more until a worker wrote each of these."""
    servers.written.clear()
    async with asyncio.timeout(30):
        while not {(name, number) for number in numbers} <= set(servers.written):
            for number in range(PARTITIONS):
                servers.told[number] += 1
            await asyncio.sleep(0.02)


def test_where_no_index_is_nothing_is_taken_for_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may have been deleted: what is written is told again once it is made anew."""
    generations: Any = Generations.__new__(Generations)
    generations.client, generations.shape = None, SimpleNamespace(alias="pages")
    generations._targets, generations._looked = [], float("-inf")
    monkeypatch.setattr(schema, "targets", lambda client, shape: [])
    with pytest.raises(Unavailable):
        generations.write({}, 1)
