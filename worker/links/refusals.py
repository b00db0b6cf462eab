"""URLs that were refused, set aside so that they can come back when pages of their shape bring something new. Pure,
bounded in memory.

Eight come back as trials for a page with something new, and eight more for each trial that brought something new too;
each trial in vain makes the next come more seldom, one for 64 such pages at least. So what was refused wrongly comes
back whole, and a real trap costs little.
"""

from bisect import bisect_right
from collections import OrderedDict, deque
from collections.abc import Iterable
from itertools import accumulate
from typing import Any, Final

BACK_AT_ONCE: Final = 8
"""URLs that come back at once: one new page in eight keeps a shape from being spent, so it brings its URLs back too."""
MOST_NEEDED: Final = 64
"""Pages with something new for which one URL more comes back at least."""
OF_A_SHAPE: Final = 512
"""URLs of one shape that are set aside; those that were refused first, the deepest, give way."""
SHELVES: Final = 64
"""Shapes of a host of which URLs are set aside."""
KEPT: Final = 256
"""URLs of a host that are kept in its record at most, those of the shapes that were met last before the others."""
KEPT_OCTETS: Final = 16384
"""What they take at most, about."""
KEPT_EVERY: Final = 16
"""Refused URLs of a host after which its record is written, which the first few are at once."""
_MOST: Final = 32768
_BACK: Final = 1024


class _Shelf:
    """The refused URLs of one shape."""

    __slots__ = ("keys", "needed", "waited")

    def __init__(self) -> None:
        self.keys: deque[str] = deque(maxlen=OF_A_SHAPE)
        self.needed = 1
        self.waited = 0
        """Pages with something new since one came back."""

    def back_for(self, came_back: bool) -> int:
        """How many come back for a page with something new; ``came_back``: it was refused itself."""
        self.needed = 1 if came_back else self.needed
        self.waited += 1
        if self.waited < self.needed:
            return 0
        self.waited = 0
        return BACK_AT_ONCE if self.needed == 1 else 1


class _RefusedOfHost:
    """What is aside of one host, by shape, and what came back or may."""

    __slots__ = ("back", "returning", "shelves")

    def __init__(self) -> None:
        self.shelves: dict[str, _Shelf] = {}
        self.back: dict[str, None] = {}
        self.returning: dict[str, str] = {}
        """What comes back now, with the shape for which it was refused."""

    def __len__(self) -> int:
        return sum(len(shelf.keys) for shelf in self.shelves.values()) + len(self.back) + len(self.returning)


class RefusedUrls:
    """What is set aside of all hosts of a worker."""

    def __init__(self, most: int = _MOST) -> None:
        """``most``: URLs of all hosts; those of the host of which nothing was refused for longest are forgotten."""
        self._most = most
        self._hosts: OrderedDict[str, _RefusedOfHost] = OrderedDict()
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, host: str, shape: str, key: str) -> int:
        """A URL is refused for what pages of a shape brought. Gives how many of the host are aside now."""
        refused = self._hosts.setdefault(host, _RefusedOfHost())
        self._hosts.move_to_end(host)
        before = len(refused)
        keys = refused.shelves.setdefault(shape, _Shelf()).keys
        if key not in keys:
            keys.append(key)
        drop_first(refused.shelves, SHELVES)
        after = len(refused)
        self._count += after - before
        while self._count > self._most and len(self._hosts) > 1:
            self._count -= len(self._hosts.popitem(last=False)[1])
        return after

    def brought(self, host: str, shapes: Iterable[str], key: str, fresh: bool) -> None:
        """A page of some shapes brought something new, or did not."""
        refused = self._hosts.get(host)
        if refused is None:
            return
        before = len(refused)
        came_back = key in refused.back
        refused.back.pop(key, None)
        for shape in shapes:
            if (shelf := refused.shelves.get(shape)) is None:
                continue
            if fresh:
                self._bring_back(refused, shape, shelf.back_for(came_back))
            elif came_back:
                shelf.needed = min(MOST_NEEDED, 2 * shelf.needed)
        self._count += len(refused) - before
        self._forget_empty(host)

    def returning(self, host: str) -> list[str]:
        """The keys of a host's URLs that come back now, until they `came_back`."""
        refused = self._hosts.get(host)
        return list(refused.returning) if refused is not None else []

    def came_back(self, host: str, keys: Iterable[str]) -> None:
        """They are asked for: nothing of them need be kept."""
        refused = self._hosts.get(host)
        if refused is None:
            return
        before = len(refused)
        for key in keys:
            refused.returning.pop(key, None)
        self._count += len(refused) - before
        self._forget_empty(host)

    def _forget_empty(self, host: str) -> None:
        """Of whom nothing is aside nothing is remembered."""
        if not len(self._hosts[host]):
            del self._hosts[host]

    def kept(self, host: str) -> tuple[tuple[str, str], ...]:
        """What of it the record of a host holds: shape and key, those of the shapes that were met last."""
        refused = self._hosts.get(host)
        shelves = refused.shelves.items() if refused is not None else ()
        entries = [(shape, key) for shape, shelf in shelves for key in shelf.keys]
        if refused is not None:  # not asked for yet: who owns the host next may have to
            entries += [(shape, key) for key, shape in refused.returning.items()]
        entries = entries[-KEPT:]
        sizes = list(accumulate(len(shape) + len(key) for shape, key in reversed(entries)))
        return tuple(entries[len(entries) - bisect_right(sizes, KEPT_OCTETS) :])

    def recall(self, host: str, entries: Iterable[tuple[str, str]]) -> None:
        """Go on from what the record of a host holds."""
        for shape, key in entries:
            self.add(host, shape, key)

    def _bring_back(self, refused: _RefusedOfHost, shape: str, count: int) -> None:
        """The last refused first: they were the least deep."""
        keys = refused.shelves[shape].keys
        for _ in range(min(count, len(keys))):
            key = keys.pop()
            refused.returning[key] = shape
            refused.back[key] = None
        drop_first(refused.back, _BACK)


def drop_first(kept: dict[str, Any], most: int) -> None:
    """Those that came first give way."""
    while len(kept) > most:
        del kept[next(iter(kept))]
