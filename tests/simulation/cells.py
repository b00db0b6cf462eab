"""Values and entries under write timestamps, as the store keeps them."""

from collections import defaultdict
from typing import Generic, TypeVar

from gregor.schemas.messages import Ticket

K = TypeVar("K")
V = TypeVar("V")


class Cells(Generic[K, V]):
    """Values under write timestamps: an older one loses, also to a delete."""

    def __init__(self) -> None:
        self.values: dict[K, V] = {}
        self.stamps: dict[K, int] = {}

    def put(self, key: K, value: V, stamp: int) -> bool:
        """Whether it won."""
        if stamp < self.stamps.get(key, 0):
            return False
        self.stamps[key] = stamp
        self.values[key] = value
        return True

    def drop(self, key: K, stamp: int) -> None:
        if stamp > self.stamps.get(key, 0):
            self.stamps[key] = stamp
            self.values.pop(key, None)


class Shelf(Generic[K]):
    """Tickets in buckets or chunks, each an entry of its own; a drop is a tombstone over what was written before."""

    def __init__(self) -> None:
        self.entries: dict[K, dict[int, tuple[int, Ticket]]] = defaultdict(dict)
        self._tombstones: dict[K, int] = {}

    def put(self, key: K, ticket: Ticket, stamp: int) -> None:
        if stamp <= self._tombstones.get(key, -1):
            return
        there = self.entries[key].get(ticket.id)
        if there is None or stamp >= there[0]:
            self.entries[key][ticket.id] = (stamp, ticket)

    def read(self, key: K) -> list[Ticket]:
        return [ticket for _, ticket in self.entries.get(key, {}).values()]

    def drop(self, key: K, stamp: int) -> None:
        self._tombstones[key] = max(stamp, self._tombstones.get(key, -1))
        left = {name: entry for name, entry in self.entries.get(key, {}).items() if entry[0] >= stamp}
        self.entries.pop(key, None)
        if left:
            self.entries[key] = left
