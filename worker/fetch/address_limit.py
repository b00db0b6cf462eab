"""How many requests run to each IP address, and who waits for one to end. Pure."""

from collections import Counter
from collections.abc import Callable, Collection, Hashable


class AddressGate:
    """`limit` requests at once to one address; None: no limit. Memory holds addresses in use, and each waiter once."""

    def __init__(self, limit: int | None) -> None:
        self._limit = limit
        self._running: Counter[str] = Counter()
        self._waiting: dict[str, dict[Hashable, Callable[[], bool]]] = {}

    def enter(self, addresses: Collection[str]) -> str | None:
        """Begin a request that may go to any of a host's addresses; else the one of them that has no room."""
        if self._limit is None:
            return None
        for address in addresses:
            if self._running[address] >= self._limit:
                return address
        self._running.update(addresses)
        return None

    def wait(self, address: str, who: Hashable, call: Callable[[], bool]) -> None:
        """Call when the address has room again; once, however often ``who`` waits. False: the room is another's."""
        self._waiting.setdefault(address, {})[who] = call

    def leave(self, addresses: Collection[str]) -> None:
        """A request ended."""
        for address in addresses if self._limit is not None else ():
            self._running[address] -= 1
            if not self._running[address]:
                del self._running[address]
            waiting = self._waiting.get(address, {})
            while waiting:
                if waiting.pop(next(iter(waiting)))():
                    break
            if not waiting:
                self._waiting.pop(address, None)
