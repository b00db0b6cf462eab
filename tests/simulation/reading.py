"""`Reader` over a world: what the reading commands would see of a simulated crawl."""

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from hashlib import sha256
from typing import BinaryIO

import msgspec

from gregor.partitioner.hashing import partition_of
from gregor.schemas.messages import (
    TERMINAL,
    DeadLetter,
    HostRecord,
    Page,
    PartitionRecord,
    RobotsRecord,
    Row,
    Ticket,
    decode_ticket,
    url_fingerprint,
)
from gregor.worker.adapters.compression import intact
from gregor.worker.borders.errors import Damaged
from gregor.worker.borders.reader import WHOLE, Part, Similar, Waiting, refuse
from gregor.worker.read.sketches import alike
from tests.simulation.engine import World


class SimulatedReader:
    """Sees the servers as they are now."""

    def __init__(self, world: World, bucket_width: float = 1.0) -> None:
        self.on_damage: Callable[[Damaged], None] = refuse
        self._world = world
        self._store = world.store
        self._width = bucket_width

    async def rows(self, state: str | None, host: str | None, after: str = "") -> AsyncIterator[Row]:
        for row in sorted(self._store.rows_by_key.values.values(), key=lambda row: row.key):
            if row.key > after and state in (None, row.state) and host in (None, row.host):
                yield row

    async def partitions(self) -> AsyncIterator[PartitionRecord]:
        for record in list(self._store.partitions.values.values()):
            yield record

    async def pages(self, part: Part = WHOLE, *, versions: bool = False) -> AsyncIterator[Page]:
        for page in self._versions() if versions else self._newest():
            if url_fingerprint(page.key) % part.parts == part.number:
                yield page

    async def row(self, key: str) -> Row | None:
        return self._store.rows([key])[0]

    async def rows_of(self, keys: Sequence[str]) -> dict[str, Row]:
        return {row.key: row for row in self._store.rows(list(keys)) if row is not None}

    async def page(self, key: str, visit: int | None = None) -> Page | None:
        return self._store.newest_page(key) if visit is None else self._store.page(key, visit)

    async def body(self, sha256: str) -> BinaryIO | None:
        data = self._store.bodies.get(sha256)
        return None if data is None else intact(sha256, data)

    async def small_bodies(self, names: Sequence[str]) -> dict[str, bytes]:
        bodies = {name: self._store.bodies.get(name) for name in names}
        return {name: data for name, data in bodies.items() if data is not None and sha256(data).hexdigest() == name}

    async def similar(self, sketch: bytes, least: float, limit: int) -> list[Similar]:
        stored = ((one.key, one.sketch) for one in self._newest())
        return [Similar(key, much) for key, much in alike(sketch, stored, least)[:limit]]

    async def find(self, key: str, host: str) -> list[Waiting]:
        partition = partition_of(host, self._world.partitions)
        return [waiting for waiting in self._waiting(partition) if waiting.ticket.key == key]

    async def waiting(self) -> AsyncIterator[Waiting]:
        for waiting in list(self._waiting(None)):
            yield waiting

    async def dead_letters(self) -> AsyncIterator[DeadLetter]:
        for letter in list(self._store.dead_letters):
            yield letter

    async def robots(self, origin: str) -> RobotsRecord | None:
        return self._store.robots(origin)

    async def all_robots(self) -> AsyncIterator[RobotsRecord]:
        for record in list(self._store.robots_by_origin.values()):
            yield record

    async def host(self, host: str) -> HostRecord | None:
        return self._store.host(host)

    async def seed_hosts(self) -> list[str]:
        return self._store.seed_hosts()

    async def close(self) -> None: ...

    def _versions(self) -> Iterator[Page]:
        for key, visit in list(self._store.pages.values):
            page = self._store.page(key, visit)
            assert page is not None
            yield page

    def _newest(self) -> Iterator[Page]:
        newest: dict[str, int] = {}
        for key, visit in self._store.pages.values:
            newest[key] = max(visit, newest.get(key, 0))
        for key, visit in newest.items():
            page = self._store.page(key, visit)
            assert page is not None
            yield page

    def _settled(self, key: str) -> bool:
        row = self._store.rows_by_key.values.get(key)
        return row is not None and row.state in TERMINAL

    def _waiting(self, partition: int | None) -> Iterator[Waiting]:
        """Unfinished tickets of URLs, of one partition or of all."""
        for waiting, place in self._tickets():
            ticket = waiting.ticket
            if partition in (None, place) and ticket.kind not in ("wake", "robots") and not self._finished(ticket):
                yield waiting

    def _finished(self, ticket: Ticket) -> bool:
        row = self._store.rows_by_key.values.get(ticket.key)
        if row is None:
            return False
        last = row.state in TERMINAL and ticket.kind not in ("revisit", "recrawl")
        return ticket.visit < row.visits or (ticket.visit == row.visits and last)

    def _tickets(self) -> Iterator[tuple[Waiting, int]]:
        for (partition, _), topic in self._world.log.topics.items():
            for data in topic.records[topic.committed :]:
                try:
                    yield Waiting(decode_ticket(data), "log"), partition
                except msgspec.MsgspecError:
                    continue
        for (partition, bucket), entries in self._store.calendar.entries.items():
            for _, ticket in entries.values():
                yield Waiting(ticket, "calendar", bucket * self._width), partition
        for (partition, _, _), entries in self._store.backlog.entries.items():
            for _, ticket in entries.values():
                yield Waiting(ticket, "backlog"), partition
