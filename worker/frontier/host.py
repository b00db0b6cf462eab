"""What a partition's owner keeps in memory of a host: its back queue, its next turn, its backlog, its failures."""

import math
from collections import deque
from collections.abc import Callable
from typing import Literal, TypeAlias

from gregor.schemas.messages import HostRecord
from gregor.schemas.parts import RequestStart
from gregor.worker.frontier.back_queue import BackQueue, Judge, open_to_all
from gregor.worker.frontier.queue_item import OPEN_SLOT, FromBucket
from gregor.worker.frontier.revisit_share import VisitsAgain, WaitingPages
from gregor.worker.links.ordering.standings import Standings

UNTOLD = 32
"""Requests of a host that wait for a row to be told in; most are told by the visit that made them."""

Trouble: TypeAlias = Literal["none", "unreachable", "robots"]
"""What failed last of a host as a whole: nothing, an origin of it, or the robots.txt of one."""


class Stream:
    """Chunks of a backlog in order: sealed ones are read, the open one is appended to."""

    def __init__(self, chunks: list[int], new: Callable[[], int]) -> None:
        self._new = new
        self.sealed = deque(chunks)
        self.open = new()
        self.open_count = 0

    @property
    def to_read(self) -> bool:
        """Whether a chunk waits to be read."""
        return bool(self.sealed or self.open_count)

    def next_chunk(self) -> int:
        """The chunk to read now; the open one is sealed for it if need be."""
        if not self.sealed:
            self._seal()
        return self.sealed.popleft()

    def appended(self, count: int, size: int) -> None:
        """Tickets went to the open chunk."""
        self.open_count += count
        if self.open_count >= size:
            self._seal()

    def _seal(self) -> None:
        """Append to a new chunk from now on."""
        self.sealed.append(self.open)
        self.open = self._new()
        self.open_count = 0


class Backlog:
    """The chunks of a host's overflow, finished ones deleted.

    Each slot of the back queue has chunks of its own: a flood of one kind is never in the way of the rest. Nobody else
    knows which chunk is which: an heir takes all of them for open.
    """

    def __init__(self, chunks: list[int], new: Callable[[], int]) -> None:
        self._new = new  # numbers for new chunks: always greater, so that a dropped chunk is never written again
        self._streams = {OPEN_SLOT: Stream(chunks, new)}
        self.reading: dict[int, int] = {}  # unfinished tickets of each chunk that was read
        self.finished: set[int] = set()  # chunks whose tickets have all finished, not deleted yet
        self.wakes: list[FromBucket] = []  # the calendar entries that name this backlog

    @property
    def to_read(self) -> bool:
        """Whether a chunk waits to be read."""
        return any(stream.to_read for stream in self._streams.values())

    @property
    def empty(self) -> bool:
        """Whether nothing is left of it."""
        return not (self.to_read or self.reading or self.finished)

    def stream(self, slot: int) -> Stream:
        """The chunks of a slot."""
        if slot not in self._streams:
            self._streams[slot] = Stream([], self._new)
        return self._streams[slot]

    def wanted(self, queue: BackQueue, low: int) -> Stream | None:
        """The chunks to read from, of the first slot that has fewer than `low` items to visit; None while all have."""
        for slot, waiting in queue.next_slots(self._streams):
            if waiting < low and (stream := self._streams[slot]).to_read:
                return stream
        return None


class RobotsWalk:
    """A robots.txt being fetched over several turns: where its redirects led, until when another host is asked."""

    def __init__(self, href: str) -> None:
        self.href = href
        self.hops = 0
        self.asked_until = 0.0  # monotonic; 0 while no other host is asked
        self.asked_at = 0.0  # unix seconds, when it began to be asked
        self.asks = 0


class Host:
    """A host in memory. `next_turn` is monotonic seconds; the record is what a new owner would read."""

    __slots__ = (
        "alive",
        "asked",
        "backlog",
        "busy",
        "cause",
        "crawl_delays",
        "last_page",
        "last_start",
        "latency",
        "looks",
        "name",
        "next_turn",
        "partition",
        "pulling",
        "pushbacks",
        "queue",
        "record",
        "record_read",
        "ticketed",
        "trouble",
        "walks",
    )

    def __init__(
        self,
        name: str,
        partition: int,
        judge: Judge = open_to_all,
        standings: Standings | None = None,
        pages: WaitingPages | None = None,
    ) -> None:
        self.name = name
        self.partition = partition
        self.queue = BackQueue(judge, standings, VisitsAgain(pages) if pages is not None else None)
        self.record = HostRecord(host=name)
        self.record_read = False  # whether its record was read
        self.next_turn = 0.0
        self.looks = False  # the next turn is to look for another host's answer: it may be asked at any time before
        self.last_start = -math.inf
        self.last_page = -math.inf  # the last request that was not for a robots.txt
        self.latency = 0.0
        self.asked: tuple[RequestStart, ...] = ()  # requests that no row tells of yet
        self.crawl_delays: dict[str, float | None] = {}  # what the robots.txt of each origin asks for
        self.busy = False
        self.alive = True
        self.ticketed = 0
        self.backlog: Backlog | None = None
        self.pulling = False
        self.pushbacks = 0  # 429 and 503 answers in a row
        self.walks: dict[str, RobotsWalk] = {}
        self.trouble: Trouble = "none"
        self.cause = ""  # the trouble in words, for people

    def record_request(self, asked: RequestStart) -> None:
        """Remember a request until a row tells of it."""
        self.asked = (*self.asked[-UNTOLD:], asked)

    @property
    def answered(self) -> bool:
        """Whether its owner heard any answer of it."""
        return self.latency > 0.0

    def take_requests(self) -> tuple[RequestStart, ...]:
        """The requests that no row tells of yet, for the row of a visit."""
        asked, self.asked = self.asked, ()
        return asked

    @property
    def idle(self) -> bool:
        """Whether nothing is left to do of it, and nothing to tell.

        A robots.txt that was asked for, maybe for another host, and that no URL of this one follows, is nothing: else a
        host that never gets a row would never be forgotten.
        """
        has_work = self.queue or self.busy or self.ticketed or self.backlog is not None
        return not has_work and all(asked.robots for asked in self.asked)

    def failed(self, cause: str, *, robots: bool) -> None:
        """An origin failed as a whole, or its robots.txt did."""
        self.trouble, self.cause = "robots" if robots else "unreachable", cause

    def mended(self) -> None:
        """What failed answers again."""
        self.trouble, self.cause = "none", ""

    @property
    def waits_for_robots(self) -> bool:
        """Whether it waits for a robots.txt: it cannot be read, or another host was asked for it."""
        return self.trouble == "robots" or any(walk.asked_until for walk in self.walks.values())

    @property
    def crawl_delay(self) -> float:
        """The longest crawl-delay that one of the host's origins asks for; 0 when none does."""
        return max((delay or 0.0 for delay in self.crawl_delays.values()), default=0.0)
