"""One simulated worker's clients of log, seen set and store: the border protocols over wires."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextvars import copy_context
from typing import BinaryIO

from gregor.schemas.messages import (
    Changed,
    DeadLetter,
    HostRecord,
    Page,
    PartitionRecord,
    RobotsRecord,
    Row,
    Ticket,
    encode,
)
from gregor.worker.borders.log import FrontierRecord, Vanished
from gregor.worker.borders.store import Entry
from tests.simulation.engine import Machine, Wire, World


class SimulatedLog:
    """`FrontierLog`."""

    def __init__(self, world: World, machine: Machine) -> None:
        self._wire = Wire(world, machine, "log")
        self._server = world.log

    async def publish(self, tickets: Sequence[Ticket]) -> None:
        await self._wire.call("publish", self._server.publish, tuple(tickets))

    async def announce(self, news: Page | DeadLetter | Vanished | Changed) -> None:
        """Nobody listens."""

    async def read(self, partition: int, priority: int, offset: int, limit: int) -> list[FrontierRecord]:
        return await self._wire.call("read", self._server.read, partition, priority, offset, limit)

    async def starts(self, partition: int) -> dict[int, int]:
        return await self._wire.call("starts", self._server.starts, partition)

    async def ends(self, partition: int) -> dict[int, int]:
        return await self._wire.call("ends", self._server.ends, partition)

    async def committed(self, partition: int) -> dict[int, int]:
        return await self._wire.call("committed", self._server.committed, partition)

    async def commit(self, partition: int, watermarks: Mapping[int, int], epoch: int) -> None:
        await self._wire.call("commit", self._server.commit, partition, dict(watermarks), epoch)

    def on_news(self, call: Callable[[int], None]) -> None:
        context = copy_context()
        chance = self._wire.world.random

        def news(partition: int) -> None:
            loop = asyncio.get_running_loop()
            loop.call_later(chance.expovariate(10), call, partition, context=context)

        self._server.listeners.append(news)

    async def close(self) -> None: ...


class SimulatedSeen:
    """`SeenSet`."""

    def __init__(self, world: World, machine: Machine) -> None:
        self._wire = Wire(world, machine, "seen")
        self._server = world.seen

    async def seen(self, fingerprints: Sequence[int]) -> list[bool]:
        return await self._wire.call("seen", self._server.seen, tuple(fingerprints))

    async def mark(self, fingerprints: Sequence[int]) -> None:
        await self._wire.call("mark", self._server.mark, tuple(fingerprints))

    async def content(self, fingerprint: bytes) -> str | None:
        return await self._wire.call("content", self._server.content, fingerprint)

    async def claim(self, fingerprint: bytes, key: str) -> str:
        return await self._wire.call("claim", self._server.claim, fingerprint, key)

    async def close(self) -> None: ...


class SimulatedStore:
    """`PageStore`."""

    def __init__(self, world: World, machine: Machine) -> None:
        self._wire = Wire(world, machine, "store")
        self._server = world.store

    async def rows(self, keys: Sequence[str]) -> list[Row | None]:
        return await self._wire.call("rows", self._server.rows, tuple(keys))

    async def put_rows(self, rows: Sequence[Row], stamp: int) -> None:
        await self._wire.call("put_rows", self._server.put_rows, tuple(rows), stamp)

    async def page(self, key: str, visit: int) -> Page | None:
        return await self._wire.call("page", self._server.page, key, visit)

    async def put_page(self, page: Page, body: BinaryIO | None, wire: BinaryIO | None, stamp: int) -> None:
        bodies = tuple(None if one is None else one.read() for one in (body, wire))
        name = (page.key, page.visit)
        await self._wire.call("put_page", self._server.put_page, encode(page), name, bodies, stamp)

    async def near(self, sketch: bytes, least: float) -> str | None:
        return await self._wire.call("near", self._server.near, sketch, least)

    async def buckets(self, partition: int, first: int, last: int, limit: int) -> list[int]:
        return await self._wire.call("buckets", self._server.buckets, partition, first, last, limit)

    async def read_bucket(self, partition: int, bucket: int) -> list[Ticket]:
        return await self._wire.call("read_bucket", self._server.read_bucket, partition, bucket)

    async def put_entries(self, partition: int, entries: Sequence[Entry], stamp: int) -> None:
        await self._wire.call("put_entries", self._server.put_entries, partition, tuple(entries), stamp)

    async def drop_bucket(self, partition: int, bucket: int, stamp: int) -> None:
        await self._wire.call("drop_bucket", self._server.drop_bucket, partition, bucket, stamp)

    async def chunks(self, partition: int, host: str) -> list[int]:
        return await self._wire.call("chunks", self._server.chunks, partition, host)

    async def backlogs(self, partition: int) -> list[str]:
        return await self._wire.call("backlogs", self._server.backlogs, partition)

    async def read_chunk(self, partition: int, host: str, chunk: int) -> list[Ticket]:
        return await self._wire.call("read_chunk", self._server.read_chunk, partition, host, chunk)

    async def put_chunk(self, partition: int, host: str, chunk: int, tickets: Sequence[Ticket], stamp: int) -> None:
        await self._wire.call("put_chunk", self._server.put_chunk, partition, host, chunk, tuple(tickets), stamp)

    async def drop_chunk(self, partition: int, host: str, chunk: int, stamp: int) -> None:
        await self._wire.call("drop_chunk", self._server.drop_chunk, partition, host, chunk, stamp)

    async def waiting(self, partition: int) -> bool:
        return await self._wire.call("waiting", self._server.waiting, partition)

    async def partition(self, partition: int) -> PartitionRecord:
        return await self._wire.call("partition", self._server.partition, partition)

    async def put_partition(self, record: PartitionRecord, stamp: int) -> None:
        await self._wire.call("put_partition", self._server.put_partition, record, stamp)

    async def host(self, host: str) -> HostRecord | None:
        return await self._wire.call("host", self._server.host, host)

    async def put_host(self, record: HostRecord, stamp: int) -> None:
        await self._wire.call("put_host", self._server.put_host, record, stamp)

    async def robots(self, origin: str) -> RobotsRecord | None:
        return await self._wire.call("robots", self._server.robots, origin)

    async def put_robots(self, record: RobotsRecord, stamp: int) -> None:
        await self._wire.call("put_robots", self._server.put_robots, record, stamp)

    async def put_dead_letter(self, letter: DeadLetter) -> None:
        await self._wire.call("put_dead_letter", self._server.put_dead_letter, letter)

    async def drop_dead_letter(self, letter: DeadLetter) -> None:
        await self._wire.call("drop_dead_letter", self._server.drop_dead_letter, letter)

    async def seed_hosts(self) -> list[str]:
        return await self._wire.call("seed_hosts", self._server.seed_hosts)

    async def add_seed_hosts(self, hosts: Sequence[str]) -> None:
        await self._wire.call("add_seed_hosts", self._server.add_seed_hosts, tuple(hosts))

    async def close(self) -> None: ...
