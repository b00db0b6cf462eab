"""Rates and concurrencies that hosts share: those of a domain, and the rate of the whole crawl. Pure.

One host is spaced by its delay. What hosts share is given out here: the rate of a domain in slots, each for one host,
so that many that wait for a slow rate cost nothing. Times are monotonic seconds. ``share`` is the part of the crawl
that a worker owns: rates and concurrencies are those of all workers together.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

from gregor.worker.frontier.host import Host
from gregor.worker.orders.in_force import places_of
from gregor.worker.orders.model import CRAWL

Shared = Sequence[tuple[str, float]]
"""Targets, and what is ordered of each."""
_FEW: Final = 1000
_LATE: Final = 1.0  # a slot that was not used for so long is given up, so that late ones do not come all at once


class Throttle:
    """One worker's."""

    def __init__(self) -> None:
        self._next: dict[str, float] = {}
        self._slots: dict[Host, float] = {}
        self._tidy = _FEW
        self._running: Counter[str] = Counter()
        self._places: dict[Host, Shared] = {}
        self._waiting: dict[str, dict[Host, None]] = {}

    def due(self, now: float) -> float:
        """When the rate of the crawl allows the next turn of a host."""
        return self._next.get(CRAWL, now)

    def spend(self, rate: float | None, share: float, now: float) -> None:
        """A turn of a host begins, at a rate of the crawl."""
        if rate is not None and share:
            self._next[CRAWL] = max(self._next.get(CRAWL, now), now - _LATE) + 1.0 / (rate * share)

    def slot(self, host: Host, rates: Shared, share: float, now: float) -> float:
        """When the rates of its domains allow the host's turn: ``now`` or earlier, or a later slot that is its own."""
        slot = self._slots.pop(host, None)
        if not rates:
            return now
        if slot is None or slot < now - _LATE:
            slot = max(now, *(self._next.get(target, now) for target, _ in rates))
            self._next.update({target: slot + 1.0 / (rate * share) for target, rate in rates})
        if slot > now:
            self._keep(host, slot)
        return slot

    def _keep(self, host: Host, slot: float) -> None:
        self._slots[host] = slot
        if len(self._slots) > self._tidy:  # hosts that were given up meanwhile never come for theirs
            self._slots = {one: at for one, at in self._slots.items() if one.alive}
            self._tidy = 2 * len(self._slots) + _FEW

    def full(self, host: Host, most: Shared, share: float) -> bool:
        """Whether as many hosts of its domains are asked as may be; if so, a `leave` will name it."""
        for target, places in most:
            if self._running[target] >= places_of(places, share):
                self._waiting.setdefault(target, {})[host] = None
                return True
        return False

    def enter(self, host: Host, most: Shared) -> None:
        """The host is being asked."""
        self._places[host] = most
        for target, _ in most:
            self._running[target] += 1
            self._waiting.get(target, {}).pop(host, None)

    def leave(self, host: Host) -> list[Host]:
        """The host is asked no more: those that may be asked instead, if nothing else keeps them."""
        freed = []
        for target, _ in self._places.pop(host, ()):
            self._running[target] -= 1
            waiting = self._waiting.get(target, {})
            while waiting:
                other = next(iter(waiting))
                del waiting[other]
                if other.alive:
                    freed.append(other)
                    break
        return freed

    def forget(self, most: Callable[[Host], Shared]) -> list[Host]:
        """Other orders hold: slots are void, hosts that are asked have places by ``most``. Who was held back."""
        self._places = {host: most(host) for host in self._places}
        self._running = Counter(target for shared in self._places.values() for target, _ in shared)
        held = [
            *sorted(self._slots, key=self._slots.__getitem__),
            *(host for w in self._waiting.values() for host in w),
        ]
        self._next.clear()
        self._slots.clear()
        self._waiting.clear()
        return held
