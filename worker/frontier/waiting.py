"""What waits outside memory: appointments in the calendar, and what overflows in the backlogs of hosts."""

from collections.abc import Callable, Sequence
from functools import partial

from gregor.schemas.messages import Ticket, url_fingerprint
from gregor.worker.borders.effects import Effects
from gregor.worker.borders.seen import SeenSet
from gregor.worker.borders.store import Entry, PageStore
from gregor.worker.config.settings import Config
from gregor.worker.frontier.calendar import FAR_BUCKET, MOST_BUCKETS
from gregor.worker.frontier.host import Backlog, Host
from gregor.worker.frontier.partition import Partition
from gregor.worker.frontier.queue_item import FromLog
from gregor.worker.frontier.tickets import revisit_asked
from gregor.worker.links.tickets import waking


class WaitingTickets:
    """The waiting tickets of one partition."""

    def __init__(
        self,
        partition: Partition,
        *,
        config: Config,
        seen: SeenSet,
        store: PageStore,
        effects: Effects,
        now: Callable[[], float],
        monotonic: Callable[[], float],
        wake: Callable[[], None],
    ) -> None:
        """``now`` gives the coordinator's time in unix seconds; ``wake`` is told that there is something to read."""
        self._partition = partition
        self._config = config
        self._seen = seen
        self._store = store
        self._effect = effects.run
        self._now = now
        self._monotonic = monotonic
        self._wake = wake

    async def put(self, tickets: Sequence[Ticket]) -> None:
        """Tickets wait: entries written, then seen bits; after that the caller finishes the records."""
        by_host: dict[str, list[Ticket]] = {}
        for ticket in tickets:
            by_host.setdefault(ticket.host, []).append(ticket)
        for name, waiting in by_host.items():
            await self._append(name, waiting)
        prints = [url_fingerprint(ticket.key) for ticket in tickets if ticket.kind == "new"]
        await self._effect(lambda: self._seen.mark(prints))
        if (standings := self._partition.standings) is not None:
            for ticket in tickets:
                standings.waits(url_fingerprint(ticket.key), ticket.worth)

    async def _append(self, name: str, tickets: list[Ticket]) -> None:
        """Append to a host's backlog; the calendar names the host before its backlog holds anything."""
        partition, store = self._partition, self._store
        alone = partition.host(name).backlog is None
        inherited = await self.chunks(name) if alone and partition.lease.epoch > 1 else []
        host = partition.host(name)  # only now: an idle host without a backlog may have been forgotten meanwhile
        if host.backlog is None:
            host.backlog = Backlog(inherited, partition.stamp)
            await self.call_for(host)
        by_slot: dict[int, list[Ticket]] = {}
        for ticket in tickets:
            by_slot.setdefault(host.queue.slot_of(ticket), []).append(ticket)
        size = self._config.chunk_size
        for slot, unwritten in by_slot.items():
            stream = host.backlog.stream(slot)
            while unwritten:
                room = size - stream.open_count
                part, unwritten = unwritten[:room], unwritten[room:]
                chunk = stream.open
                stream.appended(len(part), size)  # before the write: a chunk that is read meanwhile is sealed first
                await self._effect(partial(store.put_chunk, partition.id, host.name, chunk, part, partition.stamp()))
        self.look_after(host)

    async def call_for(self, host: Host) -> None:
        """Have the calendar name a host that has a backlog, or will have one: so a later owner finds it too."""
        until = host.next_turn - self._monotonic()
        await self.appoint(waking(host.name), self._now() + max(0.0, until))

    async def appoint(self, ticket: Ticket, due: float) -> None:
        """Write a ticket into the calendar."""
        partition, store = self._partition, self._store
        entry = self.place(ticket, due)
        await self._effect(lambda: store.put_entries(partition.id, [entry], partition.stamp()))
        self.placed(entry)

    def place(self, ticket: Ticket, due: float) -> Entry:
        """The entry of a ticket, which is to be written; its bucket is not read before it is `placed`."""
        return Entry(self._partition.calendar.place(due, self._now()), ticket)

    def placed(self, entry: Entry) -> None:
        """An entry is written: who sleeps until the next bucket may have to wake sooner."""
        calendar = self._partition.calendar
        calendar.placed(entry.bucket)
        if calendar.is_next(entry.bucket):
            self._wake()

    async def postpone(self, ticket: Ticket) -> None:
        """A ticket is followed no sooner than it says: it goes into the calendar, as a retry does, then it is seen."""
        await self.appoint(ticket, ticket.not_before)
        await self._effect(lambda: self._seen.mark([url_fingerprint(ticket.key)]))

    def look_after(self, host: Host) -> None:
        """Note a host whose back queue runs low while its backlog holds more."""
        backlog = host.backlog
        if backlog is not None and not host.pulling and backlog.wanted(host.queue, self._config.queue_low) is not None:
            host.pulling = True
            self._partition.hungry.append(host)
            self._wake()

    async def recall(self, tickets: list[tuple[Ticket, FromLog]]) -> list[tuple[Ticket, FromLog]]:
        """Who asks for another visit gets a calendar entry, then its record is finished; the others.

        The entry is for the visit that the asker saw to be next, so that a record which is read twice asks for one.
        """
        partition, store, now = self._partition, self._store, self._now()
        asking = [(ticket, source) for ticket, source in tickets if ticket.kind == "recrawl"]
        if not asking:
            return tickets
        entries = [
            Entry(partition.calendar.place(max(now, ticket.due), now), revisit_asked(ticket)) for ticket, _ in asking
        ]
        await self._effect(lambda: store.put_entries(partition.id, entries, partition.stamp()))
        for entry in entries:
            partition.calendar.placed(entry.bucket)
        partition.finish(source for _, source in asking)
        return [(ticket, source) for ticket, source in tickets if ticket.kind != "recrawl"]

    async def find(self) -> None:
        """Know all that waits. What an earlier owner wrote in vain, as it seemed, may be there after the takeover."""
        number, store = self._partition.id, self._store
        self._partition.calendar.learn(await self._effect(lambda: store.buckets(number, 0, FAR_BUCKET, MOST_BUCKETS)))
        for name in await self._effect(lambda: store.backlogs(number)):
            host = self._partition.host(name)
            if host.backlog is None:
                await self.call_for(host)

    async def chunks(self, name: str) -> list[int]:
        """The chunks of a host's backlog that an earlier owner left."""
        return await self._effect(lambda: self._store.chunks(self._partition.id, name))
