"""Admission: how records and entries become live tickets, or waiting ones.

The order of the steps decides whether a URL can be lost: what waits is written first, then its seen bit, then its
record is finished.
"""

import random
from collections.abc import Callable, Sequence
from functools import partial

from gregor.schemas.messages import PRIORITIES, DeadLetter, Ticket, url_fingerprint
from gregor.worker.base.tasks import Stirred
from gregor.worker.borders.effects import Effects
from gregor.worker.borders.log import FrontierRecord, Unreadable
from gregor.worker.borders.services import Services
from gregor.worker.config.credentials import keeps_cookies
from gregor.worker.config.settings import Config
from gregor.worker.frontier.ahead import in_time
from gregor.worker.frontier.host import Backlog, Host
from gregor.worker.frontier.partition import MOST_FOLLOWERS, Partition
from gregor.worker.frontier.queue_item import FromBucket, FromChunk, FromLog, QueueItem, TicketSource
from gregor.worker.frontier.schedule import HostSchedule
from gregor.worker.frontier.tickets import joined, may_return, may_shorten, ordered_by
from gregor.worker.frontier.waiting import WaitingTickets
from gregor.worker.links.rank import Rank
from gregor.worker.observe.stats import Stats

BATCH = 256
READ_WITHIN = 5.0  # seconds for which a turn waits for what was published
FAR = 60.0  # seconds: the tickets of a host whose next turn is further away wait outside memory


class Intake:
    """Reads the topics, the calendar and the backlogs of one partition."""

    def __init__(
        self,
        partition: Partition,
        *,
        config: Config,
        services: Services,
        effects: Effects,
        schedule: HostSchedule,
        monotonic: Callable[[], float],
        chance: random.Random,
        stats: Stats,
        capacity: int,
    ) -> None:
        """``capacity``: so many tickets of the partition are in memory at most."""
        self._partition = partition
        self._config = config
        self._log, self._seen, self._store = services.log, services.seen, services.store
        self._now, self._effect = services.coordinator.now, effects.run
        self._schedule = schedule
        self._monotonic = monotonic
        self._chance = chance
        self._stats = stats
        self.capacity = capacity
        self._stirred = Stirred()
        self.wake = self._stirred.woken
        self._maybe_more = dict.fromkeys(PRIORITIES, True)
        self._search = False
        self.waiting = WaitingTickets(
            partition,
            config=config,
            seen=services.seen,
            store=services.store,
            effects=effects,
            now=self._now,
            monotonic=monotonic,
            wake=self._stirred.stir,
        )

    def news(self) -> None:
        """Records may have arrived."""
        self._maybe_more = dict.fromkeys(PRIORITIES, True)
        self._stirred.stir()

    def room(self) -> None:
        """Tickets left memory: what could not be read for want of room is read now."""
        if self._partition.hungry or True in self._maybe_more.values():
            self._stirred.stir()

    def search(self) -> None:
        """Something waits in the store that nobody knows of: look for it."""
        self._search = True
        self._stirred.stir()

    async def step(self) -> bool:
        """Read one batch of something. False when there is nothing to read, or no room for it."""
        if self._search:
            self._search = False
            await self.waiting.find()
        if await self._read_bucket() or await self._pull_backlog() or await self._read_topic():
            return True
        self._stirred.rest()
        return False

    async def next_of(self, host: Host) -> QueueItem | None:
        """What a host's turn takes. What sank is not taken before all is read that was published, for which there is
        room: better may be among it, and how fast it is read must not decide."""
        best = host.queue.first()
        if best is not None and best.lane >= Rank.SUNK:
            await self._stirred.rested(READ_WITHIN)
        return host.queue.take()

    # Topics

    async def _read_topic(self) -> bool:
        """Read from the front queues: a biased pick, and the others when that one has nothing."""
        for priority in self._pick():
            limit = self._room(priority)
            if limit <= 0 and (not await self._relieve(priority) or (limit := self._room(priority)) <= 0):
                continue
            self._maybe_more[priority] = False
            position = self._partition.marks[priority].position
            read = partial(self._log.read, self._partition.id, priority, position, limit)
            records = await self._effect(read)
            if records:
                self._maybe_more[priority] = True
                await self.admit(priority, records)
                return True
        return False

    def _pick(self) -> list[int]:
        """The topics that may have records, the first one picked at random by weight."""
        topics = [priority for priority in PRIORITIES if self._maybe_more[priority]]
        if len(topics) > 1:
            weights = [self._config.weights[priority - 1] for priority in topics]
            first = self._chance.choices(topics, weights)[0]
            topics.remove(first)
            topics.insert(0, first)
        return topics

    def _room(self, priority: int) -> int:
        """How many records of a topic may be read now: its share of memory and the window bound it."""
        share = max(16, self.capacity // len(PRIORITIES)) - self._partition.load[priority]
        window = self._config.window - self._partition.marks[priority].span
        return min(BATCH, share, window)

    async def _relieve(self, priority: int) -> bool:
        """Move the oldest unfinished records to waiting, so that one slow host never holds up a partition.

        It is done at the end of the window, and when memory is full of hosts that wait while the worker idles.
        """
        mark = self._partition.marks[priority]
        if self._config.window > mark.span and not self._schedule.idle:
            return False
        oldest = dict.fromkeys(self._partition.live.get(identity) for identity in mark.oldest(64))  # twins once
        queued = [item for item in oldest if item is not None and item.state == "queued"]
        for item in queued:
            self._partition.hosts[item.ticket.host].queue.remove(item)
        await self.waiting.put([item.ticket for item in queued])
        for item in queued:
            self._partition.leave(item)
            self._partition.finish(item.sources())  # those of followers that came meanwhile too
        return bool(queued)

    async def admit(self, priority: int, records: Sequence[FrontierRecord]) -> None:
        """Admit frontier records: live already, seen, into the back queue, or to waiting."""
        partition, mark, now = self._partition, self._partition.marks[priority], self._now()
        tickets: list[tuple[Ticket, FromLog]] = []
        for record in records:
            source = FromLog(priority, record.offset)
            if isinstance(record.ticket, Unreadable):
                mark.read(record.offset, ("", 0, ""))
                await self._bury(source, record.ticket)
            else:
                mark.read(record.offset, record.ticket.identity)
                tickets.append((in_time(record.ticket, now), source))
        tickets = await self.waiting.recall(tickets)
        prints = [url_fingerprint(ticket.key) for ticket, _ in tickets]
        seen = await self._effect(lambda: self._seen.seen(prints)) if prints else []
        self._stats.seen.update("seen" if is_seen else "new" for is_seen in seen)
        shown = self._config.requisites or self._stats.total_requisites > 0  # of a run in which they were asked for
        overflow: list[tuple[Ticket, FromLog]] = []
        standings = partition.standings
        for (ticket, source), is_seen, number in zip(tickets, seen, prints, strict=True):
            has_news = ticket.news != ticket.key or may_return(ticket, keeps_cookies(self._config))
            has_news = has_news or may_shorten(ticket, self._config.max_depth)
            has_news = has_news or (shown and not ticket.requisite)  # it may be known as a requisite only
            if is_seen and standings is not None and ticket.kind == "new":  # it may wait outside memory
                has_news = standings.lets_in(number, ticket.worth) or has_news
            if is_seen and ticket.kind == "new" and not has_news:  # what it tells is compared with the row at its turn
                partition.finish([source])
            elif not self._enter(ticket, source):
                overflow.append((ticket, source))
        if overflow:
            await self.waiting.put([ticket for ticket, _ in overflow])
            partition.finish(source for _, source in overflow)

    def _enter(self, ticket: Ticket, source: TicketSource) -> bool:
        """Make a ticket live or a follower of its live twin; False when there is no room for it."""
        partition = self._partition
        ticket = ordered_by(ticket, self._now()) if ticket.ordered else ticket
        twin = partition.live.get(ticket.identity)
        if twin is not None:
            if isinstance(source, FromLog) and len(twin.followers) >= MOST_FOLLOWERS:
                return False
            twin.followers.append(source)
            if partition.standings is not None and ticket.worth is not None and isinstance(source, FromLog):
                partition.standings.credit(url_fingerprint(ticket.key), ticket.worth)
            twin.ticket = joined(twin.ticket, ticket)
            return True
        host = partition.host(ticket.host)
        if isinstance(source, FromLog) and ticket.kind == "new":
            far = host.next_turn - self._monotonic() > FAR
            if far or not host.queue.takes(ticket, self._config.queue_size):
                return False
        best = host.queue.best
        partition.enter(ticket, source)
        if sooner := ticket.kind == "robots" and host.looks:  # it may itself be waiting for the answer to this
            host.next_turn = min(host.next_turn, self._monotonic())
        better = self._schedule.worth is not None and host.queue.best > best
        if sooner or better or not host.ticketed:
            self._schedule.see(partition, host)
        return True

    async def _bury(self, source: FromLog, unreadable: Unreadable) -> None:
        where = f"partition {self._partition.id}, priority {source.priority}, offset {source.offset}"
        letter = DeadLetter("", "", "", "unreadable", unreadable.error, self._now(), source=where)
        await self._effect(lambda: self._store.put_dead_letter(letter))
        await self._effect(lambda: self._log.announce(letter))
        self._partition.finish([source])

    # Backlogs and calendar

    def _full(self) -> bool:
        return self._partition.size >= self.capacity

    async def _pull_backlog(self) -> bool:
        if not self._partition.hungry or self._full():
            return False
        host = self._partition.hungry.popleft()
        host.pulling = False
        backlog = host.backlog
        stream = backlog.wanted(host.queue, self._config.queue_low) if backlog is not None else None
        if backlog is None or stream is None:
            return True
        chunk = stream.next_chunk()
        backlog.reading[chunk] = 1  # held open while it is read
        tickets = await self._effect(lambda: self._store.read_chunk(self._partition.id, host.name, chunk))
        backlog.reading[chunk] += len(tickets)
        source = FromChunk(host.name, chunk)
        for ticket in tickets:
            self._enter(ticket, source)
        self._partition.finish([source])
        self.waiting.look_after(host)
        self._schedule.see(self._partition, host)
        return True

    async def _read_bucket(self) -> bool:
        """Read a bucket of the calendar that is wholly past."""
        calendar = self._partition.calendar
        crowded = self._partition.pages is not None and 2 * self._partition.revisits > self.capacity  # they may be held
        if crowded or self._full() or (bucket := calendar.due(self._now())) is None:
            return False
        tickets = await self._effect(lambda: self._store.read_bucket(self._partition.id, bucket))
        calendar.opened(bucket, len(tickets))
        source = FromBucket(bucket)
        for ticket in tickets:
            if ticket.kind == "wake":
                await self._wake_host(ticket.host, source)
            else:
                self._enter(ticket, source)
        calendar.finish(bucket)
        return True

    async def _wake_host(self, name: str, source: FromBucket) -> None:
        alone = self._partition.host(name).backlog is None
        chunks = await self.waiting.chunks(name) if alone else []
        host = self._partition.host(name)  # only now, as above
        if host.backlog is None:
            if not chunks:
                self._partition.finish([source])
                self._schedule.see(self._partition, host)
                return
            host.backlog = Backlog(chunks, self._partition.stamp)
        host.backlog.wakes.append(source)
        self.waiting.look_after(host)

    def finish(self, item: QueueItem, *, moved: bool = False) -> None:
        """A live ticket is finished, its followers with it. Calendar entries that followed one which ``moved`` to the
        calendar itself go back to the queue."""
        finished: list[TicketSource] = [item.source]
        back: list[TicketSource] = []
        for source in item.followers:  # one by one: two entries of one bucket or chunk are equal
            (back if moved and not isinstance(source, FromLog) else finished).append(source)
        self._partition.leave(item)
        self._partition.finish(finished)
        for source in back:
            self._enter(item.ticket, source)
        self.room()
