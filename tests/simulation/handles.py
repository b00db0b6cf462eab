"""One simulated worker's clients of log, seen set and store: the border protocols over wires."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from contextvars import copy_context
from functools import partial
from typing import Any, BinaryIO

import msgspec

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
from gregor.worker.borders.addresses import AddressGrant, AddressUse, HoldTerms
from gregor.worker.borders.log import FrontierRecord, Vanished
from gregor.worker.borders.settlement import Settlement
from gregor.worker.borders.store import Entry
from tests.simulation.engine import Effect, Machine, Wire, World


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

    async def forget(self, fingerprints: Sequence[int]) -> None:
        await self._wire.call("forget", self._server.forget_urls, tuple(fingerprints))

    async def disown(self, fingerprint: bytes, key: str) -> None:
        await self._wire.call("disown", self._server.disown, fingerprint, key)

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

    async def versions(self, key: str) -> list[int]:
        return await self._wire.call("versions", self._server.versions, key)

    async def drop(self, key: str, stamp: int) -> None:
        await self._wire.call("drop", self._server.drop, key, stamp)

    async def put_page(self, page: Page, body: BinaryIO | None, wire: BinaryIO | None, stamp: int) -> None:
        await self._wire.call("put_page", self._server.put_page, *_page_call(page, (body, wire)), stamp)

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


class SimulatedAddresses:
    """`AddressTurns`."""

    def __init__(self, world: World, machine: Machine) -> None:
        self._wire = Wire(world, machine, "addresses")
        self._server = world.addresses

    async def take(self, worker: str, uses: Sequence[AddressUse], terms: HoldTerms) -> AddressGrant:
        return await self._wire.call("take", self._server.take, worker, tuple(uses), terms)

    async def release(self, worker: str, uses: Sequence[AddressUse], terms: HoldTerms) -> None:
        if uses:
            await self._wire.call("release", self._server.release, worker, tuple(uses), terms)


class SimulatedSettler:
    """`Settler`: all that a settle does happens at the servers at one moment."""

    def __init__(self, world: World, machine: Machine) -> None:
        self._wire = Wire(world, machine, "store")
        self._world = world
        self._machine = machine

    async def settle(self, settlement: Settlement) -> None:
        bodies: tuple[BinaryIO | None, ...] = ()
        with ExitStack() as opened:
            if (answer := settlement.answer) is not None:
                spooled = answer.body, answer.wire_body
                bodies = tuple(None if one is None else opened.enter_context(one.open()) for one in spooled)
            page = None if settlement.page is None else _page_call(settlement.page, bodies)
        owner = await self._wire.call("settle", partial(self._take_effect, settlement, page))
        if owner is not None:
            settlement.relabel(owner)

    def _take_effect(self, settlement: Settlement, call: tuple[Any, ...] | None) -> str | None:
        """As its server does it; gives the other page that owns the content, if one does."""
        world, stamp = self._world, settlement.stamp
        do = partial(_journaled, world, self._machine.name)
        page, row, owner = settlement.page, settlement.to_keep(), None
        if page is not None and call is not None and not settlement.opted_out():
            if settlement.claims:
                owner = do("seen", "claim", world.seen.claim, page.fingerprint, page.key)
            if owner in (None, page.key):
                owner = None
            else:
                page = msgspec.structs.replace(page, state="duplicate", duplicate_of=owner)
                call = encode(page), *call[1:]
                row = msgspec.structs.replace(row, state="duplicate")
            if settlement.answer is not None or owner is not None:
                do("store", "put_page", world.store.put_page, *call, stamp())
        if not settlement.opted_out():
            do("log", "publish", world.log.publish, tuple(settlement.tickets))
        if settlement.entry is not None:
            do("store", "put_entries", world.store.put_entries, settlement.partition, (settlement.entry,), stamp())
        if settlement.letter is not None and not settlement.opted_out():
            do("store", "put_dead_letter", world.store.put_dead_letter, settlement.letter)
        do("store", "put_rows", world.store.put_rows, (row,), stamp())
        do("seen", "mark", world.seen.mark, (settlement.mark,))
        return owner


def _page_call(page: Page, bodies: Sequence[BinaryIO | None]) -> tuple[Any, ...]:
    """What a store's server gets of a page but the stamp."""
    return encode(page), (page.key, page.visit), tuple(None if one is None else one.read() for one in bodies)


def _journaled(world: World, client: str, service: str, op: str, effect: Callable[..., Any], *args: Any) -> Any:
    """Have a part of a call take effect, and write it into the journal as its own call would be."""
    now, result = asyncio.get_running_loop().time(), effect(*args)
    world.note(Effect(now, client, service, op, args, result, now))
    return result
