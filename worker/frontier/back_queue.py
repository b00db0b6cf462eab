"""The URLs of one host in its owner's memory, in order, and where each ticket came from. Pure."""

import heapq
from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

from gregor.schemas.messages import Ticket


class FromLog(NamedTuple):
    """A frontier record."""

    priority: int
    offset: int


class FromBucket(NamedTuple):
    """A calendar entry."""

    bucket: int


class FromChunk(NamedTuple):
    """An entry of a host's backlog."""

    host: str
    chunk: int


Source: TypeAlias = FromLog | FromBucket | FromChunk


class Item:
    """A live ticket: one identity, one item. Followers are further sources of the same ticket; they finish with it.

    ``inherited``: the ticket was there at the takeover, so an earlier owner may have begun its visit. ``lenient``: its
    answer was malformed, and it is asked for once more.
    """

    __slots__ = ("followers", "inherited", "lenient", "source", "state", "ticket")

    def __init__(self, ticket: Ticket, source: Source, inherited: bool) -> None:
        self.ticket = ticket
        self.source = source
        self.inherited = inherited
        self.lenient = False
        self.followers: list[Source] = []
        self.state = "queued"  # then "visited" while its visit runs, "left" when it is no longer in the queue

    def sources(self) -> Iterable[Source]:
        """Where it came from, the followers' sources after its own."""
        yield self.source
        yield from self.followers


class BackQueue:
    """Best priority first, then in order of arrival. An item that left is skipped."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, Item]] = []
        self._sequence = 0
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def put(self, item: Item) -> None:
        """Add at the end of its priority. Tickets that were waiting before go ahead of new ones."""
        self._sequence += 1
        rank = item.ticket.priority if item.ticket.kind == "new" else 0
        item.state = "queued"
        heapq.heappush(self._heap, (rank, self._sequence, item))
        self._size += 1

    def put_back(self, item: Item) -> None:
        """Return an item to the front."""
        self._sequence += 1
        item.state = "queued"
        heapq.heappush(self._heap, (-1, -self._sequence, item))
        self._size += 1

    def take(self) -> Item | None:
        """The first item, now being visited."""
        while self._heap:
            item = heapq.heappop(self._heap)[2]
            if item.state == "queued":
                item.state = "visited"
                self._size -= 1
                return item
        return None

    def first(self) -> Item | None:
        """The item that `take` would give."""
        while self._heap and self._heap[0][2].state != "queued":
            heapq.heappop(self._heap)
        return self._heap[0][2] if self._heap else None

    def remove(self, item: Item) -> None:
        """Take an item out of the middle."""
        if item.state == "queued":
            item.state = "left"
            self._size -= 1
