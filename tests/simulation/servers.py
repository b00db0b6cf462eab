"""The state of the log, the seen set and the store, as their servers hold it. No time passes here."""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

import msgspec

from gregor.partitioner.hashing import partition_of
from gregor.schemas.messages import (
    PRIORITIES,
    DeadLetter,
    HostRecord,
    Page,
    PartitionRecord,
    RobotsRecord,
    Row,
    Ticket,
    decode_ticket,
    encode,
)
from gregor.worker.borders.log import FrontierRecord, Unreadable
from gregor.worker.borders.store import Entry
from gregor.worker.read.sketches import share
from tests.simulation.cells import Cells, Shelf


@dataclass
class Topic:
    """The records of one priority of one partition. All are kept for the checker; below ``start`` none is readable."""

    records: list[bytes] = field(default_factory=list)
    start: int = 0
    committed: int = 0
    highest_committed: int = 0


class LogServer:
    """Topics and commits. As in Kafka, a late commit may set a watermark back, and records go when it suits."""

    def __init__(self, partitions: int, chance: Random) -> None:
        self.topics = {(p, priority): Topic() for p in range(partitions) for priority in PRIORITIES}
        self.listeners: list[Callable[[int], None]] = []
        self._partitions = partitions
        self._chance = chance

    def publish(self, tickets: Sequence[Ticket]) -> None:
        news = set()
        for ticket in tickets:
            partition = partition_of(ticket.host, self._partitions)
            self.topics[partition, ticket.priority].records.append(encode(ticket))
            news.add(partition)
        for partition in sorted(news):
            for listener in self.listeners:
                listener(partition)

    def put_garbage(self, partition: int, priority: int, data: bytes) -> None:
        """Append what is no ticket."""
        self.topics[partition, priority].records.append(data)

    def read(self, partition: int, priority: int, offset: int, limit: int) -> list[FrontierRecord]:
        topic = self.topics[partition, priority]
        first = max(offset, topic.start)
        found = []
        for at, data in enumerate(topic.records[first : first + limit], first):
            try:
                found.append(FrontierRecord(at, decode_ticket(data)))
            except msgspec.MsgspecError as error:
                found.append(FrontierRecord(at, Unreadable(data, str(error))))
        return found

    def starts(self, partition: int) -> dict[int, int]:
        return {priority: self.topics[partition, priority].start for priority in PRIORITIES}

    def ends(self, partition: int) -> dict[int, int]:
        return {priority: len(self.topics[partition, priority].records) for priority in PRIORITIES}

    def committed(self, partition: int) -> dict[int, int]:
        return {priority: self.topics[partition, priority].committed for priority in PRIORITIES}

    def commit(self, partition: int, watermarks: Mapping[int, int], epoch: int) -> None:
        for priority, watermark in watermarks.items():
            topic = self.topics[partition, priority]
            topic.committed = watermark
            topic.highest_committed = max(topic.highest_committed, watermark)
            if self._chance.random() < 0.5:
                topic.start = max(topic.start, watermark)


class SeenServer:
    """Fingerprints of URLs and contents, and when each came, so that a fail-over can forget the last ones."""

    def __init__(self, now: Callable[[], float]) -> None:
        self.urls: dict[int, float] = {}
        self.contents: dict[bytes, tuple[str, float]] = {}
        self._now = now

    def seen(self, fingerprints: Sequence[int]) -> list[bool]:
        return [fingerprint in self.urls for fingerprint in fingerprints]

    def mark(self, fingerprints: Sequence[int]) -> None:
        for fingerprint in fingerprints:
            self.urls.setdefault(fingerprint, self._now())

    def content(self, fingerprint: bytes) -> str | None:
        return self.contents[fingerprint][0] if fingerprint in self.contents else None

    def claim(self, fingerprint: bytes, key: str) -> str:
        return self.contents.setdefault(fingerprint, (key, self._now()))[0]

    def forget_urls(self, fingerprints: Sequence[int]) -> None:
        for fingerprint in fingerprints:
            self.urls.pop(fingerprint, None)

    def disown(self, fingerprint: bytes, key: str) -> None:
        if self.content(fingerprint) == key:
            del self.contents[fingerprint]

    def forget(self, seconds: float) -> None:
        """A fail-over to a replica that lags by so much."""
        since = self._now() - seconds
        self.urls = {url: at for url, at in self.urls.items() if at < since}
        self.contents = {content: owner for content, owner in self.contents.items() if owner[1] < since}


class StoreServer:
    """Rows, pages and all the rest that an owner writes."""

    def __init__(self) -> None:
        self.rows_by_key: Cells[str, Row] = Cells()
        self.pages: Cells[tuple[str, int], bytes] = Cells()
        self.bodies: dict[str, bytes] = {}
        self.calendar: Shelf[tuple[int, int]] = Shelf()
        self.backlog: Shelf[tuple[int, str, int]] = Shelf()
        self.partitions: Cells[int, PartitionRecord] = Cells()
        self.hosts: Cells[str, HostRecord] = Cells()
        self.robots_by_origin: dict[str, RobotsRecord] = {}
        self.dead_letters: list[DeadLetter] = []
        self.hosts_of_seeds: set[str] = set()

    def rows(self, keys: Sequence[str]) -> list[Row | None]:
        return [self.rows_by_key.values.get(key) for key in keys]

    def put_rows(self, rows: Sequence[Row], stamp: int) -> list[bool]:
        return [self.rows_by_key.put(row.key, row, stamp) for row in rows]

    def page(self, key: str, visit: int) -> Page | None:
        data = self.pages.values.get((key, visit))
        return None if data is None else msgspec.msgpack.decode(data, type=Page)

    def versions(self, key: str) -> list[int]:
        return sorted(visit for there, visit in self.pages.values if there == key)

    def drop(self, key: str, stamp: int) -> None:
        for visit in self.versions(key):
            self.pages.drop((key, visit), stamp)
        self.rows_by_key.drop(key, stamp)

    def put_page(self, page: bytes, name: tuple[str, int], bodies: Iterable[bytes | None], stamp: int) -> bool:
        for body in bodies:
            if body is not None:
                self.bodies[hashlib.sha256(body).hexdigest()] = body
        return self.pages.put(name, page, stamp)

    def newest_page(self, key: str) -> Page | None:
        visits = [visit for there, visit in self.pages.values if there == key]
        return self.page(key, max(visits)) if visits else None

    def near(self, sketch: bytes, least: float) -> str | None:
        newest: dict[str, Page] = {}
        for data in self.pages.values.values():
            page = msgspec.msgpack.decode(data, type=Page)
            if page.visit >= newest.get(page.key, page).visit:
                newest[page.key] = page
        originals = (page for page in newest.values() if not page.duplicate_of)
        return next((page.key for page in originals if share(page.sketch, sketch) >= least), None)

    def buckets(self, partition: int, first: int, last: int, limit: int) -> list[int]:
        found = sorted(b for p, b in self.calendar.entries if p == partition and first <= b <= last)
        return found[:limit]

    def read_bucket(self, partition: int, bucket: int) -> list[Ticket]:
        return self.calendar.read((partition, bucket))

    def put_entries(self, partition: int, entries: Sequence[Entry], stamp: int) -> None:
        for entry in entries:
            self.calendar.put((partition, entry.bucket), entry.ticket, stamp)

    def drop_bucket(self, partition: int, bucket: int, stamp: int) -> None:
        self.calendar.drop((partition, bucket), stamp)

    def chunks(self, partition: int, host: str) -> list[int]:
        return sorted(number for p, name, number in self.backlog.entries if (p, name) == (partition, host))

    def backlogs(self, partition: int) -> list[str]:
        return sorted({name for p, name, _ in self.backlog.entries if p == partition})

    def read_chunk(self, partition: int, host: str, chunk: int) -> list[Ticket]:
        return self.backlog.read((partition, host, chunk))

    def put_chunk(self, partition: int, host: str, chunk: int, tickets: Sequence[Ticket], stamp: int) -> None:
        for ticket in tickets:
            self.backlog.put((partition, host, chunk), ticket, stamp)

    def drop_chunk(self, partition: int, host: str, chunk: int, stamp: int) -> None:
        self.backlog.drop((partition, host, chunk), stamp)

    def waiting(self, partition: int) -> bool:
        shelves = (self.calendar.entries, self.backlog.entries)
        return any(key[0] == partition for shelf in shelves for key in shelf)

    def partition(self, partition: int) -> PartitionRecord:
        return self.partitions.values.get(partition, PartitionRecord(partition))

    def put_partition(self, record: PartitionRecord, stamp: int) -> bool:
        return self.partitions.put(record.partition, record, stamp)

    def host(self, host: str) -> HostRecord | None:
        return self.hosts.values.get(host)

    def put_host(self, record: HostRecord, stamp: int) -> bool:
        return self.hosts.put(record.host, record, stamp)

    def robots(self, origin: str) -> RobotsRecord | None:
        return self.robots_by_origin.get(origin)

    def put_robots(self, record: RobotsRecord, stamp: int) -> None:
        there = self.robots_by_origin.get(record.origin)
        if there is None or record.fetched_at >= there.fetched_at:
            self.robots_by_origin[record.origin] = record

    def put_dead_letter(self, letter: DeadLetter) -> None:
        if letter not in self.dead_letters:
            self.dead_letters.append(letter)

    def drop_dead_letter(self, letter: DeadLetter) -> None:
        if letter in self.dead_letters:
            self.dead_letters.remove(letter)

    def seed_hosts(self) -> list[str]:
        return sorted(self.hosts_of_seeds)

    def add_seed_hosts(self, hosts: Sequence[str]) -> None:
        self.hosts_of_seeds.update(hosts)
