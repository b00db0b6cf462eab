"""Looks at the servers right after each effect: what holds at every commit and every write (I6, I7, I9)."""

from dataclasses import dataclass, field

import msgspec

from gregor.schemas.messages import TERMINAL, Page, Row, Ticket, decode_ticket
from gregor.worker.config.settings import Config
from tests.simulation.engine import Effect, World

Finding = tuple[float, str]


@dataclass
class Watch:
    """Findings by invariant, made while the run goes on."""

    world: World
    config: Config
    found: dict[str, list[Finding]] = field(default_factory=lambda: {"I6": [], "I7": [], "I9": []})
    _checked: dict[tuple[int, int], int] = field(default_factory=dict)
    _pages: dict[tuple[str, int], Page] = field(default_factory=dict)
    _rows: dict[str, Row] = field(default_factory=dict)

    def look(self, effect: Effect) -> None:
        """An effect just happened."""
        match effect.op:
            case "commit":
                for priority, watermark in effect.args[1].items():
                    self._commit(effect, effect.args[0], priority, watermark)
            case "put_page" if effect.result:
                self._page(effect, msgspec.msgpack.decode(effect.args[0], type=Page))
            case "put_rows":
                for row, won in zip(effect.args[0], effect.result, strict=True):
                    if won:
                        self._row(effect, row)
            case "put_entries":
                self._buckets(effect)
            case "put_chunk":
                size = len(self.world.store.read_chunk(*effect.args[:3]))
                if size > self.config.chunk_size:
                    self._report("I9", effect, f"chunk {effect.args[2]} of {effect.args[1]} holds {size} tickets")
            case _:
                pass

    def _report(self, invariant: str, effect: Effect, about: str) -> None:
        self.found[invariant].append((effect.time, f"{about} ({effect.op} by {effect.client})"))

    def _commit(self, effect: Effect, partition: int, priority: int, watermark: int) -> None:
        topic = self.world.log.topics[partition, priority]
        for offset in range(self._checked.get((partition, priority), 0), watermark):
            if not self._finished(partition, topic.records[offset]):
                about = f"{watermark} of topic {priority} of partition {partition} passes record {offset}"
                self._report("I6", effect, f"{about}: {topic.records[offset]!r}")
        self._checked[partition, priority] = max(watermark, self._checked.get((partition, priority), 0))
        if watermark > len(topic.records):
            self._report("I6", effect, f"{watermark} is beyond the end of topic {priority} of partition {partition}")
        if topic.start > topic.highest_committed:
            self._report(
                "I6", effect, f"records up to {topic.start} were deleted, {topic.highest_committed} is committed"
            )

    def _finished(self, partition: int, data: bytes) -> bool:
        """Whether forgetting this record loses nothing: there is a row, an entry or a dead letter of it."""
        store = self.world.store
        try:
            ticket = decode_ticket(data)
        except msgspec.MsgspecError:
            return bool(store.dead_letters)
        if ticket.kind == "robots":
            return ticket.origin in store.robots_by_origin or self._waits(partition, ticket)
        return ticket.key in store.rows_by_key.values or self._waits(partition, ticket)

    def _waits(self, partition: int, ticket: Ticket) -> bool:
        store = self.world.store
        shelves = (store.calendar.entries.items(), store.backlog.entries.items())
        return any(
            key[0] == partition and one.identity[0] == ticket.identity[0]
            for shelf in shelves
            for key, entries in shelf
            for _, one in entries.values()
        )

    def _page(self, effect: Effect, page: Page) -> None:
        name = (page.key, page.visit)
        before = self._pages.get(name)
        if before is not None and page.fetched_at < before.fetched_at:
            self._report("I7", effect, f"an older fetch of {page.key} replaced a newer one")
        self._pages[name] = page

    def _row(self, effect: Effect, row: Row) -> None:
        before = self._rows.get(row.key)
        if before is not None and row.visits < before.visits:
            self._report("I7", effect, f"{row.key} went back from {before.visits} visits to {row.visits}")
        if before is not None and before.state in TERMINAL and row.state == "waiting":
            self._report("I7", effect, f"{row.key} was {before.state} and waits again")
        self._rows[row.key] = row

    def _buckets(self, effect: Effect) -> None:
        partition, entries = effect.args[0], effect.args[1]
        owners = sum(1 for change in self.world.zookeeper.history if change.gained and change.partition == partition)
        for bucket in {entry.bucket for entry in entries}:
            size = len(self.world.store.read_bucket(partition, bucket))
            if size > self.config.bucket_size * owners:
                self._report("I9", effect, f"bucket {bucket} of partition {partition} holds {size} tickets")
