"""A partition as its owner holds it in memory: watermarks, live tickets, hosts, calendar. It dies with its lease.

It decides and remembers; what must survive is written by crawl.py and intake.py before it is told here.
"""

import math
from collections import Counter, deque
from collections.abc import Callable, Iterable

from gregor.schemas import messages
from gregor.schemas.messages import PRIORITIES, Ticket
from gregor.worker.borders.coordinator import Lease
from gregor.worker.extract.drift import FieldShares
from gregor.worker.frontier.back_queue import Judge, open_to_all
from gregor.worker.frontier.calendar import Calendar
from gregor.worker.frontier.host import Host
from gregor.worker.frontier.queue_item import FromBucket, FromChunk, FromLog, QueueItem, TicketSource
from gregor.worker.frontier.revisit_share import WaitingPages, asks_again
from gregor.worker.frontier.watermark import Watermark
from gregor.worker.links.ordering.standings import Standings

MOST_FOLLOWERS = 16
FEW_HOSTS = 256
KEPT_IDLE = 60.0
"""Seconds from a host's next turn until it may be forgotten: retries come by then, and find how it answered before."""


class Partition:
    """State of one owned partition. Not shared: everything runs on one event loop."""

    def __init__(self, lease: Lease, committed: dict[int, int], ends: dict[int, int], calendar: Calendar) -> None:
        self.lease = lease
        self.judge: Judge = open_to_all  # how tickets stand in the back queues of hosts that are made from now on
        self.standings: Standings | None = None  # what its URLs are worth, where a policy scores; for such hosts too
        self.pages: WaitingPages | None = None  # where visits of known pages have a share of the requests
        self.id = lease.partition
        self.calendar = calendar
        self.hosts: dict[str, Host] = {}
        self.forgotten = -math.inf  # when a host that was forgotten was asked last, monotonic seconds
        self.closed = False  # it is given up: no host has a further turn
        self.live: dict[tuple[str, int, str], QueueItem] = {}
        self.marks: dict[int, Watermark[tuple[str, int, str]]] = {
            priority: Watermark(committed[priority]) for priority in PRIORITIES
        }
        self.committed = dict(committed)
        self.ends_at_takeover = ends
        self.load = dict.fromkeys(PRIORITIES, 0)  # tickets in memory by the topic they came from
        self.pulled = 0  # tickets in memory from calendar and backlogs
        self.revisits = 0  # visits of known pages in memory
        self.hungry: deque[Host] = deque()  # hosts whose back queue runs low and whose backlog holds more
        self.finished_chunks: list[FromChunk] = []
        self.counts: Counter[str] = Counter()  # what `counts.py` names, and is not kept with the record yet
        self.unkept = 0  # checkpoints since there is something to keep of them
        self.domain_pages: Counter[str] = Counter()  # of stored pages by domain that has a budget, not kept either
        self.refused: Callable[[], tuple[Ticket, ...]] = tuple  # links to endless names, as its record is to have them
        self.topic: Callable[[], bytes] = bytes  # what was learnt of links, as its record is to have it
        self.fields = FieldShares()  # how often the fields of rules have values on its pages
        self._counter = 0
        self._most_hosts = FEW_HOSTS

    def stamp(self) -> int:
        """The write timestamp of this owner's next effect."""
        self._counter += 1
        return messages.stamp(self.lease.epoch, self._counter)

    def host(self, name: str) -> Host:
        """A host in memory, made on first sight."""
        host = self.hosts.get(name)
        if host is None:
            host = self.hosts[name] = Host(name, self.id, self.judge, self.standings, self.pages)
            host.alive = not self.closed
            host.last_page = self.forgotten  # it may be that one: a longer delay may come into force only now
        return host

    def enter(self, ticket: Ticket, source: TicketSource) -> QueueItem:
        """A ticket becomes live, in the back queue of its host."""
        inherited = self.lease.epoch > 1
        if isinstance(source, FromLog):
            inherited = inherited and source.offset < self.ends_at_takeover[source.priority]
            self.load[source.priority] += 1
        else:
            self.pulled += 1
        item = QueueItem(ticket, source, inherited, again=asks_again(ticket))
        self.revisits += item.again
        self.live[ticket.identity] = item
        self.host(ticket.host).queue.put(item)
        return item

    def leave(self, item: QueueItem) -> None:
        """A ticket is no longer live; its sources are the caller's to finish."""
        self.live.pop(item.ticket.identity, None)
        self.revisits -= item.again
        if isinstance(item.source, FromLog):
            self.load[item.source.priority] -= 1
        else:
            self.pulled -= 1

    def finish(self, sources: Iterable[TicketSource]) -> None:
        """Records and entries are finished: what asked for the visit need not be read again."""
        for source in sources:
            match source:
                case FromLog(priority, offset):
                    self.marks[priority].finish(offset)
                case FromBucket(bucket):
                    self.calendar.finish(bucket)
                case FromChunk(name, chunk):
                    self._finish_chunk_entry(self.hosts[name], source, chunk)

    def _finish_chunk_entry(self, host: Host, source: FromChunk, chunk: int) -> None:
        assert host.backlog is not None  # a chunk is read only by way of its backlog, which stays until it is empty
        host.backlog.reading[chunk] -= 1
        if not host.backlog.reading[chunk]:
            del host.backlog.reading[chunk]
            host.backlog.finished.add(chunk)
            self.finished_chunks.append(source)

    def chunk_dropped(self, source: FromChunk) -> None:
        """A finished chunk was deleted. The wake-ups of a backlog finish after all of it: they are how it is found."""
        self.finished_chunks.remove(source)
        host = self.hosts[source.host]
        assert host.backlog is not None
        host.backlog.finished.discard(source.chunk)
        if host.backlog.empty:
            wakes, host.backlog = host.backlog.wakes, None
            self.finish(wakes)

    def close(self) -> None:
        """It is given up: no further turn of its hosts begins, nor of those that are found from now on."""
        self.closed = True
        if self.pages is not None:
            self.pages.close()

    def forget_idle(self, now: float) -> None:
        """Drop the hosts from memory of which nothing is left to do. All are looked at, so it is done when their number
        has doubled: what is remembered hangs on the hosts that have turns, not on all that ever had one."""
        if len(self.hosts) <= self._most_hosts:
            return
        for host in [other for other in self.hosts.values() if other.idle and other.next_turn + KEPT_IDLE <= now]:
            host.alive = False
            del self.hosts[host.name]
            self.forgotten = max(self.forgotten, host.last_start)
        self._most_hosts = 2 * len(self.hosts) + FEW_HOSTS

    @property
    def size(self) -> int:
        """Tickets in memory."""
        return len(self.live)

    def oldest(self, priority: int, now: float) -> float:
        """Seconds since the oldest unfinished record that was read of a topic was published; 0 when none is known."""
        found = (self.live.get(identity) for identity in self.marks[priority].oldest(16))
        return next((max(0.0, now - item.ticket.at) for item in found if item is not None and item.ticket.at), 0.0)

    @property
    def read_to_end(self) -> bool:
        """Whether nothing is unfinished as far as this owner knows."""
        at_rest = not self.live and self.calendar.empty and not self.finished_chunks
        return at_rest and not any(self.marks[p].span for p in PRIORITIES)

    def watermarks(self) -> dict[int, int]:
        """What may be committed now."""
        return {priority: mark.low for priority, mark in self.marks.items()}
